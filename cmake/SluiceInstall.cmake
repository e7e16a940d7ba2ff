# Installs the libraries, headers, program, data and the CMake package `sluice`:
#   find_package(sluice REQUIRED)
#   target_link_libraries(app PRIVATE sluice::sluice)     # all modules, or sluice::mapper and so on
include(CMakePackageConfigHelpers)

function(sluice_install)
  add_library(sluice_all INTERFACE)
  set_target_properties(sluice_all PROPERTIES EXPORT_NAME sluice)
  add_library(sluice::sluice ALIAS sluice_all)
  set(targets sluice_all)
  get_property(modules GLOBAL PROPERTY SLUICE_MODULES)
  foreach(module IN LISTS modules)
    target_link_libraries(sluice_all INTERFACE sluice_${module})
    list(APPEND targets sluice_${module})
  endforeach()

  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sluice")
  set(data_dir "${CMAKE_INSTALL_DATADIR}/sluice/library")
  install(TARGETS ${targets} EXPORT SluiceTargets)
  install(TARGETS sluice)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/sluice" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/library/" DESTINATION ${data_dir})
  # The manual page and what shells complete, as the installed program prints them.
  foreach(printed "man:share/man/man1/sluice.1" "completion bash:share/bash-completion/completions/sluice"
                  "completion zsh:share/zsh/site-functions/_sluice"
                  "completion fish:share/fish/vendor_completions.d/sluice.fish")
    string(REGEX MATCH "^([^:]*):(.*)/([^/]*)$" matched "${printed}")
    set(spaced "${CMAKE_MATCH_1}")
    install(CODE "
      set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_MATCH_2}\")
      file(MAKE_DIRECTORY \"\${folder}\")
      execute_process(COMMAND \"$<TARGET_FILE:sluice>\" ${spaced}
                      OUTPUT_FILE \"\${folder}/${CMAKE_MATCH_3}\" COMMAND_ERROR_IS_FATAL ANY)")
  endforeach()
  install(EXPORT SluiceTargets NAMESPACE sluice:: FILE SluiceTargets.cmake
          DESTINATION ${package_dir})

  set(SLUICE_DATA_DIR "${data_dir}")
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/SluiceConfig.cmake.in" "${PROJECT_BINARY_DIR}/sluice-config.cmake"
    INSTALL_DESTINATION ${package_dir} PATH_VARS SLUICE_DATA_DIR)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/sluice-config-version.cmake"
                                   COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/sluice-config.cmake"
                "${PROJECT_BINARY_DIR}/sluice-config-version.cmake" DESTINATION ${package_dir})
endfunction()
