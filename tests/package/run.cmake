# cmake -DBUILD_DIR=... -DCXX_FLAGS=... -P run.cmake
# Installs the build into an empty prefix, moves that (nothing installed may know where it was put),
# then configures, builds and runs this folder's project against it, and the installed program.
set(scratch "${BUILD_DIR}/package_test")
file(REMOVE_RECURSE "${scratch}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGN}\n${output}")
  endif()
endfunction()

# expect(WANTED KEY...): what stands at these keys of the consumer's result document.
function(expect wanted)
  string(JSON found GET "${document}" ${ARGN})
  if(NOT found STREQUAL wanted)
    message(FATAL_ERROR "the result document has ${found} at ${ARGN}, not ${wanted}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install "${BUILD_DIR}" --prefix "${scratch}/staged")
file(RENAME "${scratch}/staged" "${scratch}/moved")
run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}" -B "${scratch}/build" -G Ninja
    "-DCMAKE_PREFIX_PATH=${scratch}/moved" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
run(${CMAKE_COMMAND} --build "${scratch}/build")
execute_process(COMMAND "${scratch}/build/consumer" "${CMAKE_CURRENT_LIST_DIR}"
                RESULT_VARIABLE status OUTPUT_VARIABLE document ERROR_VARIABLE complaints)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the consumer failed (${status}):\n${complaints}")
endif()
expect(sluice.result/1 schema)
expect(ok status)
expect(doubled latency_policy)
expect(RF sources 3 component)
run("${scratch}/moved/bin/sluice" --version)
