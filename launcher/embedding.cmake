# The executable `pymemrun` with an interpreter in it.
add_executable(pymemrun application.cc python_runtime.cc)
target_link_libraries(pymemrun PRIVATE ${_plain} pymemrun_python_headers)
target_compile_definitions(pymemrun PRIVATE
  PYMEMRUN_PYTHON_EXECUTABLE="${Python3_EXECUTABLE}"
  PYMEMRUN_PYTHON_LINK="${PYMEMRUN_PYTHON_LINK}")
if(TARGET pymemrun_tracer AND NOT PYMEMRUN_LAUNCHER_STUB_TRACER)
  # Whole: its interposed functions are to be there even where nothing of ours
  # calls them.
  target_link_libraries(pymemrun PRIVATE
    "$<LINK_LIBRARY:WHOLE_ARCHIVE,pymemrun_tracer>")
else()
  target_sources(pymemrun PRIVATE session_stub.cc ../tracer/base/own_memory.cc ../tracer/ring/shared_region.cc)
endif()

# What can be seen from outside: the interpreter's own names where it is part of
# the executable, and the interposed ones.
set(_list "${CMAKE_CURRENT_BINARY_DIR}/pymemrun.dynamic-list")
set(_interposed "${CMAKE_CURRENT_SOURCE_DIR}/interposed_symbols.txt")
set(_interpreter "")
if(PYMEMRUN_PYTHON_LINK STREQUAL "static")
  set(_interpreter "${CMAKE_SYSROOT}${Python3_EXECUTABLE}")
endif()
add_custom_command(OUTPUT "${_list}"
  COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DINTERPRETER=${_interpreter}"
          "-DINTERPOSED=${_interposed}" "-DOUTPUT=${_list}"
          -P "${CMAKE_CURRENT_SOURCE_DIR}/dynamic_list.cmake"
  DEPENDS "${_interposed}" dynamic_list.cmake VERBATIM)
add_custom_target(pymemrun_dynamic_list DEPENDS "${_list}")
add_dependencies(pymemrun pymemrun_dynamic_list)
set_target_properties(pymemrun PROPERTIES LINK_DEPENDS "${_list}")
target_link_options(pymemrun PRIVATE
  "-Wl,--dynamic-list=${_list}" -Wl,-O1 -Wl,-Bsymbolic-functions -Wl,-z,relro
  -static-libstdc++ -static-libgcc -no-pie)
target_compile_options(pymemrun PRIVATE -fno-pie)

if(PYMEMRUN_PYTHON_LINK STREQUAL "static")
  # As Debian links python3.11 itself: not position independent, which is where
  # its speed against the shared library comes from.
  if(NOT DEFINED PYMEMRUN_PYTHON_ARCHIVE_LINKED)
    set(PYMEMRUN_PYTHON_ARCHIVE_LINKED "${PYMEMRUN_PYTHON_ARCHIVE}")
  endif()
  set_property(TARGET pymemrun APPEND PROPERTY
               LINK_DEPENDS "${PYMEMRUN_PYTHON_ARCHIVE_LINKED}")
  target_link_libraries(pymemrun PRIVATE
    -Wl,--whole-archive "${PYMEMRUN_PYTHON_ARCHIVE_LINKED}" -Wl,--no-whole-archive
    -Wl,--as-needed ${PYMEMRUN_PYTHON_LIBS})
else()
  get_filename_component(_libdir "${PYMEMRUN_PYTHON_LIBRARY}" DIRECTORY)
  target_link_libraries(pymemrun PRIVATE "${PYMEMRUN_PYTHON_LIBRARY}")
  set_target_properties(pymemrun PROPERTIES
    BUILD_RPATH "${_libdir}" INSTALL_RPATH "${_libdir}")
endif()
