# Test programs. Every .cpp file put into a folder below is picked up without an edit here:
#   tests/unit/<module>/  → unit_<module>      one program a module
#   tests/property/, validation/, errors/, golden/ → one program a folder
#   tests/support/        → sluice_testing     helpers of the tests (folders, golden files, seeds)
#   tests/oracle/         → sluice_oracle      the brute-force referee
#   tests/triples/        → sluice_triples     random triples, the model against the executor
#   tests/fuzz/           → sluice_fuzz        the mapper against the referee, without end
#                         → sluice_fuzz_triples  the model against the executor, without end
#   tests/house/          → house              arrows of modules and rooms, sizes, machine paths
#   tests/reference/      → reference          the library's workloads against NumPy
#   tests/schema/         → schema             spec files and documents against `sluice schema`
#   tests/docs/           → tutorials          the commands of docs/tutorials
#   tests/browser/        → browser            pages of `sluice report` in headless Chromium
#   tests/python/         → python         the Python package: pytest
#   tests/onnx/           → onnx               ONNX graphs against ONNX's own evaluator
#   tests/package/        → package            an outside project that uses the installed package
#   bench/                → bench_<file>       one google-benchmark program a file
# Where the preset asks for it (SLUICE_UNITY), nine sources of a program are compiled at once, in a
# quarter of the time.
# A folder's main.cpp, where it has one, replaces gtest's own.

function(sluice_test_library name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp")
  if(sources)
    add_library(${name} STATIC ${sources})
    sluice_compile_flags(${name})
    target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${name} PUBLIC ${ARGN})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${name} INTERFACE ${ARGN})
  endif()
endfunction()

# Inline functions that a test's sources (-O0) and the libraries both have come from what the linker
# sees first. Here these are the libraries: a third less time for tests that search much.
function(sluice_link_libraries_first name)
  get_property(modules GLOBAL PROPERTY SLUICE_MODULES)
  set(files "")
  foreach(library IN ITEMS ${modules} oracle triples)
    get_target_property(type sluice_${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND files "$<TARGET_FILE:sluice_${library}>")
    endif()
  endforeach()
  list(JOIN files " " files)
  target_link_options(${name} PRIVATE "SHELL:-Wl,--whole-archive ${files} -Wl,--no-whole-archive")
endfunction()

# sluice_test_program(NAME FOLDER [PARTS n] lib...): a gtest program from tests/FOLDER/*.cpp, and its
# ctest entry, or n of them, each with its part of the tests.
function(sluice_test_program name folder)
  cmake_parse_arguments(PARSE_ARGV 2 test "" "PARTS" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp")
  if(NOT sources)
    return()
  endif()
  set(gtest_main GTest::gmock_main)
  if("${PROJECT_SOURCE_DIR}/tests/${folder}/main.cpp" IN_LIST sources)
    set(gtest_main GTest::gmock)
  endif()
  add_executable(${name} ${sources})
  sluice_compile_flags(${name})
  sluice_compile_quickly(${name} -O0)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE ${test_UNPARSED_ARGUMENTS} sluice_testing ${gtest_main} rapidcheck)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF
                                           UNITY_BUILD ${SLUICE_UNITY} UNITY_BUILD_BATCH_SIZE 9)
  target_precompile_headers(${name} REUSE_FROM sluice_testing)
  if(NOT test_PARTS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 2400)
    return()
  endif()
  foreach(part RANGE 1 ${test_PARTS})
    math(EXPR index "${part} - 1")
    add_test(NAME ${name}_${part} COMMAND ${name})
    set_tests_properties(${name}_${part} PROPERTIES TIMEOUT 2400
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${test_PARTS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

function(sluice_add_tests)
  sluice_test_library(sluice_testing support sluice_support GTest::gmock)
  # Every test program reads these once, not once a file; for that all are compiled with the same flags.
  sluice_compile_quickly(sluice_testing -O0)
  set_target_properties(sluice_testing PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(sluice_testing PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <algorithm> <map> <optional> <set> <string> <vector>)
  # Paths are compiled into one file only, so that equal sources give equal objects in every clone.
  set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/support/folders.cpp" PROPERTIES COMPILE_DEFINITIONS
    "SLUICE_REPO_DIR=\"${PROJECT_SOURCE_DIR}\";SLUICE_PROGRAM=\"$<TARGET_FILE:sluice>\"")
  sluice_test_library(sluice_oracle oracle sluice_frontend sluice_referee)
  sluice_test_library(sluice_triples triples sluice_cli)
  # Part of what the first ./dev fuzz waits for: several sources at once, where the preset asks for it.
  set_target_properties(sluice_oracle sluice_triples PROPERTIES UNITY_BUILD ${SLUICE_UNITY} UNITY_BUILD_BATCH_SIZE 9)
  target_include_directories(sluice_triples PRIVATE "${PROJECT_SOURCE_DIR}/src")
  get_property(modules GLOBAL PROPERTY SLUICE_MODULES)
  get_property(arrows GLOBAL PROPERTY SLUICE_ARROWS)
  foreach(module IN LISTS modules)
    sluice_test_program(unit_${module} unit/${module} sluice_${module})
  endforeach()
  # repro/silicon: what its program and the validation tests share
  add_library(sluice_silicon_points STATIC EXCLUDE_FROM_ALL repro/silicon/silicon.cpp
                                           repro/silicon/scatter_plot.cpp)
  sluice_compile_flags(sluice_silicon_points)
  target_include_directories(sluice_silicon_points PUBLIC repro/silicon)
  target_link_libraries(sluice_silicon_points PUBLIC sluice_frontend fmt::fmt)
  add_executable(sluice_silicon EXCLUDE_FROM_ALL repro/silicon/main.cpp)
  sluice_compile_flags(sluice_silicon)
  target_link_libraries(sluice_silicon PRIVATE sluice_silicon_points)
  target_compile_definitions(sluice_silicon PRIVATE SLUICE_REPO_DIR="${PROJECT_SOURCE_DIR}")
  set(parts_of_property PARTS 4)  # longer than all others together
  foreach(folder property validation errors golden)
    sluice_test_program(${folder} ${folder} ${parts_of_${folder}} sluice_cli sluice_oracle sluice_triples nlohmann_json::nlohmann_json)
    if(TARGET ${folder})
      sluice_link_libraries_first(${folder})
      sluice_use_allocator(${folder})
      add_dependencies(${folder} sluice)
    endif()
  endforeach()

  if(TARGET validation)
    target_link_libraries(validation PRIVATE sluice_silicon_points)
  endif()
  add_executable(sluice_fuzz EXCLUDE_FROM_ALL tests/fuzz/main.cpp)
  sluice_compile_flags(sluice_fuzz)
  target_include_directories(sluice_fuzz PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(sluice_fuzz PRIVATE sluice_oracle)
  sluice_use_allocator(sluice_fuzz)
  add_executable(sluice_fuzz_triples EXCLUDE_FROM_ALL tests/fuzz/triples_main.cpp)
  sluice_compile_flags(sluice_fuzz_triples)
  target_link_libraries(sluice_fuzz_triples PRIVATE sluice_triples)
  sluice_use_allocator(sluice_fuzz_triples)

  # What `./dev sanitize` runs.
  add_custom_target(sanitized DEPENDS sluice sluice_fuzz sluice_fuzz_triples)

  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/module_arrows.txt" CONTENT "${arrows}")
  add_test(NAME house COMMAND "${PROJECT_SOURCE_DIR}/tests/house/check.sh" "${PROJECT_SOURCE_DIR}"
                              "${PROJECT_BINARY_DIR}/module_arrows.txt")
  # One of the mutations that `./dev mutate` tries.
  add_test(NAME mutation COMMAND "${PROJECT_SOURCE_DIR}/tests/house/mutations.sh" "${PROJECT_SOURCE_DIR}"
                                 "${PROJECT_BINARY_DIR}" "merging reads are free")
  set_tests_properties(mutation PROPERTIES TIMEOUT 2400 SKIP_RETURN_CODE 77)
  # The library's cascades against NumPy; skipped where there is none.
  add_test(NAME reference COMMAND "${PROJECT_SOURCE_DIR}/tests/reference/run.sh" "$<TARGET_FILE:sluice>")
  set_tests_properties(reference PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  # Spec files and documents against their schemas; skipped where there is no python3-jsonschema.
  add_test(NAME schema COMMAND "${PROJECT_SOURCE_DIR}/tests/schema/run.sh" "$<TARGET_FILE:sluice>")
  set_tests_properties(schema PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
  # The commands of docs/tutorials print what the pages show.
  add_test(NAME tutorials COMMAND python3 "${PROJECT_SOURCE_DIR}/tests/docs/tutorials_test.py" "$<TARGET_FILE:sluice>")
  set_tests_properties(tutorials PROPERTIES TIMEOUT 300)
  # Pages in a browser; skipped where there is no Chromium.
  add_test(NAME browser COMMAND "${PROJECT_SOURCE_DIR}/tests/browser/run.sh" "$<TARGET_FILE:sluice>")
  set_tests_properties(browser PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
  # The Python package; skipped where it was not built.
  add_test(NAME python COMMAND "${PROJECT_SOURCE_DIR}/tests/python/run.sh" "${PROJECT_BINARY_DIR}")
  set_tests_properties(python PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  # ONNX graphs: small ones against ONNX's own evaluator, real ones (beside the clone) against a plain count.
  add_test(NAME onnx COMMAND "${PROJECT_SOURCE_DIR}/tests/onnx/run.sh" "$<TARGET_FILE:sluice>"
                             "${PROJECT_SOURCE_DIR}/../shared/onnx")
  set_tests_properties(onnx PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  # repro/ffm: does it run from one end to the other?
  add_test(NAME repro_ffm COMMAND "${PROJECT_SOURCE_DIR}/repro/ffm/run" --quick --sluice "$<TARGET_FILE:sluice>"
                                  --architecture edge_33tops --output "${PROJECT_BINARY_DIR}/repro_ffm")
  set_tests_properties(repro_ffm PROPERTIES TIMEOUT 600)
  add_test(NAME repro_comet COMMAND "${PROJECT_SOURCE_DIR}/repro/comet/run" --quick --sluice "$<TARGET_FILE:sluice>"
                                    --output "${PROJECT_BINARY_DIR}/repro_comet")
  set_tests_properties(repro_comet PROPERTIES TIMEOUT 600)
  # Every claim of repro/comet comes out as published in its results.
  add_test(NAME repro_comet_claims COMMAND "${PROJECT_SOURCE_DIR}/repro/comet/run" --check --sluice "$<TARGET_FILE:sluice>"
                                           --output "${PROJECT_BINARY_DIR}/repro_comet_claims")
  set_tests_properties(repro_comet_claims PROPERTIES TIMEOUT 2400)
  # The published schemes of the sample cost what was published.
  add_test(NAME repro_kapla COMMAND "${PROJECT_SOURCE_DIR}/repro/kapla/run" --quick --sluice "$<TARGET_FILE:sluice>"
                                    --output "${PROJECT_BINARY_DIR}/repro_kapla")
  set_tests_properties(repro_kapla PROPERTIES TIMEOUT 600)
  add_test(NAME package COMMAND ${CMAKE_COMMAND} "-DBUILD_DIR=${PROJECT_BINARY_DIR}"
                                "-DCXX_FLAGS=${CMAKE_CXX_FLAGS}"
                                -P "${PROJECT_SOURCE_DIR}/tests/package/run.cmake")
endfunction()

function(sluice_add_benchmarks)
  add_custom_target(benchmarks)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    set(name "bench_${stem}")
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    add_dependencies(benchmarks ${name})
    sluice_compile_flags(${name})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${name} PRIVATE sluice_cli benchmark::benchmark)
    target_compile_definitions(${name} PRIVATE SLUICE_REPO_DIR="${PROJECT_SOURCE_DIR}")
  endforeach()
endfunction()
