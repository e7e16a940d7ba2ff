# Puts everything that a report page needs into one C++ source (src/report/page): as a module it offers
# sluice_report_page(TARGET); as a script (cmake -P) it writes OUTPUT from the files below SOURCE_DIR.

function(sluice_report_page target)
  set(output "${PROJECT_BINARY_DIR}/report_page_parts.cpp")
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/src/report/page/*.js" "${PROJECT_SOURCE_DIR}/src/report/page/*.css"
       "${PROJECT_SOURCE_DIR}/src/report/page/*.html" "${PROJECT_SOURCE_DIR}/third_party/*")
  set(script "${PROJECT_SOURCE_DIR}/cmake/SluiceReportPage.cmake")
  add_custom_command(OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${output}" -P "${script}"
    DEPENDS ${inputs} "${script}" COMMENT "Packing the report page")
  target_sources(${target} PRIVATE "${output}")
  set_source_files_properties("${output}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# A function's text of one or more files, one after the other.
function(sluice_read_files result)
  set(text "")
  foreach(file IN LISTS ARGN)
    file(READ "${file}" content)
    string(APPEND text "${content}\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(folder "${SOURCE_DIR}/src/report/page")
  set(third "${SOURCE_DIR}/third_party")
  file(GLOB scripts "${folder}/script/*.js")
  list(SORT scripts)
  sluice_read_files(page "${folder}/page.html")
  sluice_read_files(style "${third}/inter/inter.css" "${folder}/style.css")
  sluice_read_files(libraries "${third}/d3/d3.min.js" "${third}/plot/plot.umd.min.js")
  sluice_read_files(script ${scripts})
  set(licences "")
  foreach(name d3 plot inter)
    sluice_read_files(licence "${third}/${name}/LICENSE")
    string(REPLACE "--" "" licence "${licence}")  # it stands in a comment
    string(APPEND licences "${name}\n\n${licence}\n")
  endforeach()
  foreach(part licences style libraries script)
    string(TOUPPER "${part}" place)
    string(REPLACE "@${place}@" "${${part}}" page "${page}")
  endforeach()
  string(FIND "${page}" "@DATA@" middle)
  string(SUBSTRING "${page}" 0 ${middle} head)
  math(EXPR after "${middle} + 6")
  string(SUBSTRING "${page}" ${after} -1 tail)
  file(WRITE "${OUTPUT}" "#include \"report/page/page_parts.h\"\n\nnamespace sluice::cli {\n\n"
       "const std::string_view kPageHead = R\"sluice(${head})sluice\";\n\n"
       "const std::string_view kPageTail = R\"sluice(${tail})sluice\";\n\n}  // namespace sluice::cli\n")
endif()
