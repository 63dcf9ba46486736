# Shared objects that are preloaded into an interpreter, beside the launcher:
# pymemrun-preload.so, which finds out which CPython it is in, and
# pymemrun-tracer-3.NN.so for each interpreter of PYMEMRUN_TRACED_PYTHONS. Their
# headers serve the free-threaded build of the version, too (3.NNt), and
# pymemrun-tracer-any.so, for interpreters that are newer than all we know.

add_library(pymemrun_preload MODULE preload/shim_main.c)
target_link_libraries(pymemrun_preload PRIVATE pymemrun_compile)
target_compile_definitions(pymemrun_preload PRIVATE
  PYMEMRUN_NEWEST_MINOR=${PYMEMRUN_NEWEST_MINOR})
set_target_properties(pymemrun_preload PROPERTIES PREFIX "" OUTPUT_NAME pymemrun-preload
  C_VISIBILITY_PRESET hidden)

# What can be seen of a tracer from outside: the interposed names.
set(_script "${CMAKE_CURRENT_BINARY_DIR}/preload/tracer.version")
file(STRINGS interposed_symbols.txt _names REGEX "^[a-z_]")
file(STRINGS interposed_locks.txt _lock_names REGEX "^[a-z_]")
list(APPEND _names ${_lock_names})
list(JOIN _names "; " _names)
file(WRITE "${_script}" "{ global: __libc_start_main; ${_names}; local: *; };\n")

# Once for all versions: the rooms that know no Python, and the launcher's part
# that starts the tracer. For each, all other sources of the tracer.
get_target_property(_tracer pymemrun_tracer SOURCES)
list(FILTER _tracer EXCLUDE REGEX "TARGET_OBJECTS")
list(TRANSFORM _tracer PREPEND "${PROJECT_SOURCE_DIR}/tracer/")
add_library(pymemrun_preloaded_launcher STATIC
  $<TARGET_OBJECTS:pymemrun_launcher_common> $<TARGET_OBJECTS:pymemrun_tracer_common>)

# Names of CPython's are weak: whatever program inherits LD_PRELOAD must start.
# Only `objcopy` can make undefined names so, in one object made of all.
# `version` names the object; further arguments are definitions.
function(pymemrun_add_tracer_object version include)
  set(name "pymemrun_tracer_${version}")
  set(sources ${_tracer})
  if(version STREQUAL any)  # none that includes an interpreter's own headers
    list(FILTER sources EXCLUDE REGEX "tracer/cpython/.*[.]c$")
    list(APPEND sources "${PROJECT_SOURCE_DIR}/tracer/cpython/any_python.c"
         "${PROJECT_SOURCE_DIR}/tracer/cpython/interpreter_file.c")
  endif()
  add_library(${name}_parts STATIC ${sources} preload/tracer_main.cc)
  target_link_libraries(${name}_parts PRIVATE pymemrun_compile)
  target_include_directories(${name}_parts SYSTEM PRIVATE "${include}")
  target_compile_definitions(${name}_parts PRIVATE ${_definitions}
                             PYMEMRUN_PRELOADED=1 ${ARGN})
  target_compile_options(${name}_parts PRIVATE ${_in_object})
  pymemrun_precompile_python(${name}_parts)
  set(whole "${CMAKE_CURRENT_BINARY_DIR}/preload/${name}.o")
  add_custom_command(OUTPUT "${whole}"
    COMMAND "${CMAKE_LINKER}" -r -o "${whole}.strong" --whole-archive
            "$<TARGET_FILE:${name}_parts>" "$<TARGET_FILE:pymemrun_preloaded_launcher>"
    COMMAND "${CMAKE_OBJCOPY}" --wildcard "--weaken-symbol=Py*" "--weaken-symbol=_Py*"
            "${whole}.strong" "${whole}"
    COMMAND "${CMAKE_COMMAND}" -E rm "${whole}.strong"
    DEPENDS ${name}_parts pymemrun_preloaded_launcher VERBATIM)
  add_library(${name} MODULE "${whole}")
  set_target_properties(${name} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX
    OUTPUT_NAME "pymemrun-tracer-${version}" LINK_DEPENDS "${_script}")
  target_link_options(${name} PRIVATE "-Wl,--version-script=${_script}" -Wl,-z,lazy -Wl,-z,defs
    -Wl,-z,relro -Wl,--gc-sections -static-libstdc++ -static-libgcc)
  add_dependencies(pymemrun ${name} pymemrun_preload)
  set_property(GLOBAL APPEND PROPERTY PYMEMRUN_TRACER_OBJECTS ${name})
endfunction()

# tracer_current_stack_3.NN_test: as tracer_current_stack_test, with the tracer that
# is preloaded into `python`, where the interpreter is in a library.
function(pymemrun_add_current_stack_test version python)
  pymemrun_ask_python("${python}" library
    "s.get_config_var('LIBDIR') + '/' + s.get_config_var('LDLIBRARY')")
  if(NOT library MATCHES "[.]so$" OR NOT EXISTS "${library}" OR PYMEMRUN_SANITIZER)
    return()
  endif()
  set(test "tracer_current_stack_${version}_test")
  set(room "${PROJECT_SOURCE_DIR}/tracer/code")
  set(parts "$<TARGET_OBJECTS:pymemrun_tracer_${version}_parts>")
  pymemrun_add_test(${test} TIMEOUT 300 LIBS "${library}"
    SOURCES "${room}/current_stack_test.cc" "$<FILTER:${parts},EXCLUDE,/tracer_main>"
            $<TARGET_OBJECTS:pymemrun_tracer_common>)
  if(TARGET ${test})
    get_target_property(include pymemrun_tracer_${version}_parts INCLUDE_DIRECTORIES)
    target_include_directories(${test} SYSTEM BEFORE PRIVATE ${include})
    target_compile_definitions(${test} PRIVATE PYMEMRUN_PRELOADED=1
      PYMEMRUN_PYTHON_EXECUTABLE="${python}"
      PYMEMRUN_PROGRAMS="${room}/current_stack_programs.py")
    target_compile_options(${test} PRIVATE -O1)
    target_link_options(${test} PRIVATE -Wl,-export-dynamic "-Wl,--version-script=${_script}")
  endif()
endfunction()

foreach(python IN LISTS PYMEMRUN_TRACED_PYTHONS)
  set(_include "${python}")
  if(NOT IS_DIRECTORY "${python}")
    pymemrun_ask_python("${python}" _include "s.get_path('include')")
  endif()
  pymemrun_ask_headers("${_include}" _version _free_threaded)
  # One object is for all interpreters of a version.
  if(NOT _free_threaded)
    set(_usual_include "${_include}")
  endif()
  if(NOT _free_threaded AND NOT TARGET pymemrun_tracer_${_version})
    pymemrun_add_tracer_object(${_version} "${_include}")
    if(_version MATCHES "^3[.]1[23]$" AND NOT IS_DIRECTORY "${python}")
      pymemrun_add_current_stack_test(${_version} "${python}")
    endif()
  endif()
  if(_version VERSION_GREATER_EQUAL 3.13 AND NOT TARGET pymemrun_tracer_${_version}t)
    pymemrun_add_tracer_object(${_version}t "${_include}" Py_GIL_DISABLED=1)
  endif()
endforeach()
# Headers of a free-threaded build call functions of that version's own.
if(NOT DEFINED _usual_include)
  set(_usual_include "${_include}")
endif()
pymemrun_add_tracer_object(any "${_usual_include}" PYMEMRUN_ANY_PYTHON=1)
