# Third-party packages. Keep in step with cmake/SluiceConfig.cmake.in and tools/apt-packages.txt.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(TBB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(SQLite3 REQUIRED)
find_path(SLUICE_XXHASH_DIR xxhash.h REQUIRED)  # a header alone
find_package(ZLIB REQUIRED)  # packs the documents of large reports
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED)
# libconfig++ has no CMake package: it is linked by name.
find_library(SLUICE_LIBCONFIG config++ REQUIRED)
find_path(SLUICE_LIBCONFIG_HEADERS libconfig.h++ REQUIRED)
mark_as_advanced(SLUICE_LIBCONFIG SLUICE_LIBCONFIG_HEADERS)
# Takes the place of malloc in programs (a fifth less time and memory than TBB's); without it, the
# system's does.
find_library(SLUICE_ALLOCATOR jemalloc)
mark_as_advanced(SLUICE_ALLOCATOR)
if(SLUICE_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
if(SLUICE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
