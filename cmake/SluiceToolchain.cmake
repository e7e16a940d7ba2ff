# Language level, warnings and flags shared by every target of this project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# A compiler cache where the machine has one; nothing needs it.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SLUICE_CCACHE ccache)
  if(SLUICE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${SLUICE_CCACHE}")
  endif()
endif()

function(sluice_compile_flags target)
  # No contraction to fused multiply-add: results are the same to the last bit on every machine.
  target_compile_options(${target} PRIVATE
    # Position-independent code inlines what nobody replaces.
    -ffp-contract=off -fno-semantic-interposition -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
    -Wnon-virtual-dtor -Woverloaded-virtual
    # GCC 12 sees overlaps in `"text" + string` that are not there (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # Several sources in one take each other's unnamed namespaces for somebody else's.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${SLUICE_UNITY}>>:-Wno-subobject-linkage -Wno-maybe-uninitialized>
    $<$<BOOL:${SLUICE_WERROR}>:-Werror>)
endfunction()

# For code that nobody waits for: `level`, -O1 or -O0, instead of -O3.
function(sluice_compile_quickly target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()
