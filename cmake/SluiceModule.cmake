# sluice_module(NAME [COLD] [DEPENDS module...] [PUBLIC lib...] [PRIVATE lib...])
#
# Makes the library `sluice_NAME` (alias sluice::NAME) from every .cpp below src/NAME.
# A module whose folder has no sources yet is an INTERFACE library, so that others can name it.
# `main.cpp` belongs to a program, never to a module.
# Where the preset asks for it (SLUICE_UNITY), a dozen sources are compiled at once. A COLD module does
# no work that anybody waits for; it is compiled with -O1. Both make builds much shorter.
# Global properties: SLUICE_MODULES, the names of all modules in the order of data flow, and
# SLUICE_ARROWS, a line `module: dependency...` for each.

function(sluice_module name)
  cmake_parse_arguments(ARG "COLD" "" "DEPENDS;PUBLIC;PRIVATE" ${ARGN})
  set(folder "${PROJECT_SOURCE_DIR}/src/${name}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(JOIN ARG_DEPENDS " " arrow)
  set_property(GLOBAL APPEND PROPERTY SLUICE_MODULES ${name})
  set_property(GLOBAL APPEND_STRING PROPERTY SLUICE_ARROWS "${name}: ${arrow}\n")
  list(TRANSFORM ARG_DEPENDS PREPEND "sluice_")

  set(target "sluice_${name}")
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    sluice_compile_flags(${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${SLUICE_UNITY} UNITY_BUILD_BATCH_SIZE 12)
    if(ARG_COLD)
      sluice_compile_quickly(${target} -O1)
    endif()
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
    target_link_libraries(${target} INTERFACE ${ARG_DEPENDS} ${ARG_PUBLIC})
  endif()
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(sluice::${name} ALIAS ${target})
endfunction()

# sluice_program(NAME MODULE module): the executable NAME from src/<module>/main.cpp.
function(sluice_program name)
  cmake_parse_arguments(ARG "" "MODULE" "" ${ARGN})
  add_executable(${name} "${PROJECT_SOURCE_DIR}/src/${ARG_MODULE}/main.cpp")
  sluice_compile_flags(${name})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE sluice_${ARG_MODULE})
  sluice_use_allocator(${name})
endfunction()

# Searches allocate much and on several threads; sanitizers bring an allocator of their own.
function(sluice_use_allocator name)
  if(SLUICE_ALLOCATOR AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_libraries(${name} PRIVATE -Wl,--no-as-needed ${SLUICE_ALLOCATOR} -Wl,--as-needed)
  endif()
endfunction()
