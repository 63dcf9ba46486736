# Shared objects that are preloaded into an interpreter, beside the launcher:
# pymemrun-preload.so, which finds out which CPython it is in, and
# pymemrun-tracer-3.NN.so for each interpreter of PYMEMRUN_TRACED_PYTHONS.
set(PYMEMRUN_TRACED_PYTHONS "${Python3_EXECUTABLE}" CACHE STRING
    "Interpreters whose versions can be traced by preloading: paths of those that have their
headers, or folders of headers")

add_library(pymemrun_preload MODULE preload/shim_main.c)
target_link_libraries(pymemrun_preload PRIVATE pymemrun_compile)
set_target_properties(pymemrun_preload PROPERTIES PREFIX "" OUTPUT_NAME pymemrun-preload
  C_VISIBILITY_PRESET hidden)

# What can be seen of a tracer from outside: the interposed names.
set(_script "${CMAKE_CURRENT_BINARY_DIR}/preload/tracer.version")
file(STRINGS interposed_symbols.txt _names REGEX "^[a-z_]")
list(JOIN _names "; " _names)
file(WRITE "${_script}" "{ global: __libc_start_main; ${_names}; local: *; };\n")

# All sources of the tracer and of the launcher's part that starts it.
get_target_property(_tracer pymemrun_tracer SOURCES)
list(TRANSFORM _tracer PREPEND "${PROJECT_SOURCE_DIR}/tracer/")
pymemrun_sources(_launcher options session)
set(_plain_sources "${PROJECT_SOURCE_DIR}/format/batches/heap_size_table.cc"
  "${PROJECT_SOURCE_DIR}/text/nearest_name.cc" "${PROJECT_SOURCE_DIR}/text/size_text.cc")

# Names of CPython's are weak: whatever program inherits LD_PRELOAD must start.
# Only `objcopy` can make undefined names so, in one object made of all.
function(pymemrun_add_tracer_object version include)
  set(name "pymemrun_tracer_${version}")
  add_library(${name}_parts STATIC ${_tracer} ${_launcher} ${_plain_sources}
              preload/handover.cc preload/preload_list.cc python/python_files.cc
              preloaded/preloaded_run.cc preloaded/tracer_main.cc)
  target_link_libraries(${name}_parts PRIVATE pymemrun_compile)
  target_include_directories(${name}_parts SYSTEM PRIVATE "${include}")
  target_compile_definitions(${name}_parts PRIVATE ${_definitions}
                             PYMEMRUN_PRELOADED=1)
  target_compile_options(${name}_parts PRIVATE -fPIC -fvisibility=hidden
    -ftls-model=initial-exec)
  set(whole "${CMAKE_CURRENT_BINARY_DIR}/preload/${name}.o")
  add_custom_command(OUTPUT "${whole}"
    COMMAND "${CMAKE_LINKER}" -r -o "${whole}.strong" --whole-archive
            "$<TARGET_FILE:${name}_parts>"
    COMMAND "${CMAKE_OBJCOPY}" --wildcard "--weaken-symbol=Py*" "--weaken-symbol=_Py*"
            "${whole}.strong" "${whole}"
    COMMAND "${CMAKE_COMMAND}" -E rm "${whole}.strong"
    DEPENDS ${name}_parts VERBATIM)
  add_library(${name} MODULE "${whole}")
  set_target_properties(${name} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX
    OUTPUT_NAME "pymemrun-tracer-${version}" LINK_DEPENDS "${_script}")
  target_link_options(${name} PRIVATE "-Wl,--version-script=${_script}" -Wl,-z,lazy -Wl,-z,defs
    -Wl,-z,relro -static-libstdc++ -static-libgcc)
  add_dependencies(pymemrun ${name} pymemrun_preload)
  set_property(GLOBAL APPEND PROPERTY PYMEMRUN_TRACER_OBJECTS ${name})
endfunction()

foreach(python IN LISTS PYMEMRUN_TRACED_PYTHONS)
  if(IS_DIRECTORY "${python}")
    file(STRINGS "${python}/patchlevel.h" _numbers REGEX "define PY_(MAJOR|MINOR)_VERSION")
    list(TRANSFORM _numbers REPLACE "[^0-9]" "")
    list(JOIN _numbers "." _version)
    pymemrun_add_tracer_object(${_version} "${python}")
    continue()
  endif()
  execute_process(COMMAND "${python}" -IS -c
    "import sys, sysconfig; print('%d.%d;%s' % (*sys.version_info[:2], sysconfig.get_path('include')))"
    OUTPUT_VARIABLE _answer OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  list(GET _answer 0 _version)
  list(GET _answer 1 _include)
  pymemrun_add_tracer_object(${_version} "${_include}")
endforeach()
