# cmake --install and cpack: what goes where.
#   bin/                  the tools
#   lib/pymemrun/         what is preloaded into other interpreters
#   libexec/pymemrun/     the collector, which only pymemrun starts
#   lib/python3/dist-packages/pymemrun_reader/  the module that reads run files
#   share/pymemrun/       the run file's schema, examples that read one
#   share/doc/pymemrun/   README, CHANGELOG, LICENSE, docs
#   share/man/man1/       manual pages
#   share/bash-completion/completions/, share/zsh/vendor-completions/,
#   share/fish/vendor_completions.d/  completions, where Debian's shells look
# A wheel (pyproject.toml) has the same for a virtual environment: the Python
# packages in its site-packages, manual pages, but no documents.
set(_objects lib/pymemrun)
set(_modules lib/python3/dist-packages)
if(SKBUILD)
  set(CMAKE_INSTALL_BINDIR "${SKBUILD_SCRIPTS_DIR}")
  set(CMAKE_INSTALL_LIBEXECDIR "${SKBUILD_DATA_DIR}/libexec")
  set(CMAKE_INSTALL_DATADIR "${SKBUILD_DATA_DIR}/share")
  set(CMAKE_INSTALL_MANDIR "${SKBUILD_DATA_DIR}/share/man")
  set(_objects "${SKBUILD_DATA_DIR}/lib/pymemrun")
  set(_modules "${SKBUILD_PLATLIB_DIR}")
endif()
foreach(target pymemrun pymemcat pymemreport pymemobj)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()
if(TARGET pymemrun-collector)
  install(TARGETS pymemrun-collector
          RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/pymemrun")
endif()
if(TARGET pymemrun_preload)
  get_property(_tracers GLOBAL PROPERTY PYMEMRUN_TRACER_OBJECTS)
  install(TARGETS pymemrun_preload ${_tracers}
          LIBRARY DESTINATION "${_objects}")
endif()
if(TARGET pymemrun_reader)
  get_property(_readers GLOBAL PROPERTY PYMEMRUN_READER_MODULES)
  install(TARGETS ${_readers} LIBRARY DESTINATION "${_modules}/pymemrun_reader"
          PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/readers/python/pymemrun_reader"
          DESTINATION "${_modules}" FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi"
          PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/launcher/package/pymemrun"
        DESTINATION "${_modules}" FILES_MATCHING PATTERN "*.py"
        PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

# -- Manual pages and completions, from docs/cli.md
set(_manual "${PROJECT_BINARY_DIR}/manual")
set(_made "")
foreach(tool pymemrun pymemcat pymemreport pymemobj)
  list(APPEND _made "${_manual}/man/${tool}.1" "${_manual}/bash/${tool}"
       "${_manual}/zsh/_${tool}" "${_manual}/fish/${tool}.fish")
endforeach()
file(GLOB _makers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/manual/*.py")
find_program(PYMEMRUN_SCRIPT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(PYMEMRUN_SCRIPT_PYTHON python3 REQUIRED)
add_custom_command(
  OUTPUT ${_made}
  COMMAND "${PYMEMRUN_SCRIPT_PYTHON}" "${PROJECT_SOURCE_DIR}/docs/make_man"
          "${_manual}" "${PROJECT_VERSION}"
  DEPENDS "${PROJECT_SOURCE_DIR}/docs/cli.md" "${PROJECT_SOURCE_DIR}/docs/make_man" ${_makers}
  COMMENT "Making manual pages and completions"
  VERBATIM)
add_custom_target(manual ALL DEPENDS ${_made})
install(DIRECTORY "${_manual}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(DIRECTORY "${_manual}/bash/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(DIRECTORY "${_manual}/zsh/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
install(DIRECTORY "${_manual}/fish/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")

if(SKBUILD)
  return()
endif()

# -- Documents
file(GLOB _format "${PROJECT_SOURCE_DIR}/format/*.proto"
     "${PROJECT_SOURCE_DIR}/format/FORMAT.md" "${PROJECT_SOURCE_DIR}/format/example*.py")
install(FILES ${_format} DESTINATION "${CMAKE_INSTALL_DATADIR}/pymemrun")
install(FILES "${PROJECT_SOURCE_DIR}/examples/heap_history.py"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/pymemrun")
include(package_docs)
file(GLOB_RECURSE _pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/docs/*.md")
foreach(page IN LISTS _pages ITEMS README.md CHANGELOG.md)
  package_docs("${PROJECT_SOURCE_DIR}/${page}" "${PROJECT_BINARY_DIR}/package/${page}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               "${PROJECT_SOURCE_DIR}/${page}")
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/package/README.md"
              "${PROJECT_BINARY_DIR}/package/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        RENAME copyright)
foreach(page IN LISTS _pages)
  cmake_path(GET page PARENT_PATH _folder)
  install(FILES "${PROJECT_BINARY_DIR}/package/${page}"
          DESTINATION "${CMAKE_INSTALL_DOCDIR}/${_folder}")
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/pictures/"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs/pictures"
        FILES_MATCHING PATTERN "*.svg" PATTERN "__pycache__" EXCLUDE)

# -- The package
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
pymemreport read that file, pymemobj reads dumps of its objects.")
# Libraries are found by dpkg-shlibdeps. The interpreter is inside pymemrun; its
# standard library and the `python3.11` that sys.executable names are not.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(_python "${PYMEMRUN_PYTHON_VERSION}")
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "libpython${_python}-stdlib, python${_python}-minimal")
include(CPack)
