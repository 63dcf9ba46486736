# cmake --install and cpack: what goes where.
#   bin/                  the tools
#   libexec/pymemrun/     the collector, which only pymemrun starts
#   lib/python3/dist-packages/pymemrun_reader/  the module that reads run files
#   share/pymemrun/       the run file's schema, examples that read one
#   share/doc/pymemrun/   README, LICENSE, docs
foreach(target pymemrun pymemcat pymemreport)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()
if(TARGET pymemrun-collector)
  install(TARGETS pymemrun-collector
          RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/pymemrun")
endif()
if(TARGET pymemrun_reader)
  set(_modules lib/python3/dist-packages/pymemrun_reader)
  install(TARGETS pymemrun_reader LIBRARY DESTINATION "${_modules}"
          PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/readers/python/pymemrun_reader/"
          DESTINATION "${_modules}" FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi"
          PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/format/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/pymemrun"
        FILES_MATCHING PATTERN "*.proto" PATTERN "FORMAT.md" PATTERN "example*.py"
        PATTERN "__pycache__" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/examples/heap_history.py"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/pymemrun")
include(package_docs)
package_docs("${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_BINARY_DIR}/package/README.md")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${PROJECT_SOURCE_DIR}/README.md")
install(FILES "${PROJECT_BINARY_DIR}/package/README.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        RENAME copyright)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" FILES_MATCHING PATTERN "*.md")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pymemrun)
set(CPACK_PACKAGE_CONTACT "The pymemrun authors <pymemrun@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"pymemrun runs a Python program unchanged and writes one small file that says
how much memory it used, when, and on which line of which thread. pymemcat and
pymemreport read that file.")
# Libraries are found by dpkg-shlibdeps. The interpreter is inside pymemrun; its
# standard library and the `python3.11` that sys.executable names are not.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(_python "${PYMEMRUN_PYTHON_VERSION}")
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "libpython${_python}-stdlib, python${_python}-minimal")
include(CPack)
