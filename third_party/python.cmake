# The CPython to embed, or with PYMEMRUN_PYTHON_LINK `none` the one to build with, as the imported target pymemrun_python_headers (C API
# headers) and the variables
#   PYMEMRUN_PYTHON_VERSION   3.11
#   PYMEMRUN_PYTHON_ARCHIVE   libpython3.11.a      (static)
#   PYMEMRUN_PYTHON_LIBRARY   libpython3.11.so     (shared)
#   PYMEMRUN_PYTHON_LIBS      what else it links: -lm -lz -lexpat ...
# and those to trace by preloading, PYMEMRUN_TRACED_PYTHONS.
# Asked from the interpreter itself: FindPython3 would look past the one named.
function(pymemrun_ask_python python out code)
  execute_process(COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${CMAKE_SYSROOT}${python}" -IS -c "import sys, sysconfig as s; print(${code})"
                  OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${python} does not run")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
# Of which version a folder of CPython's headers is, 3.11, and whether they are
# for a free-threaded build alone.
function(pymemrun_ask_headers include out out_free_threaded)
  file(STRINGS "${include}/patchlevel.h" version REGEX "define PY_(MAJOR|MINOR)_VERSION")
  list(TRANSFORM version REPLACE "[^0-9]" "")
  list(JOIN version "." version)
  file(STRINGS "${include}/pyconfig.h" free_threaded REGEX "^#define Py_GIL_DISABLED 1")
  set(${out} "${version}" PARENT_SCOPE)
  set(${out_free_threaded} "${free_threaded}" PARENT_SCOPE)
endfunction()
set(_version "'%d.%d' % sys.version_info[:2]")
macro(_ask out code)
  pymemrun_ask_python("${Python3_EXECUTABLE}" ${out} "${code}")
endmacro()
_ask(PYMEMRUN_PYTHON_VERSION "${_version}")
_ask(_include "s.get_path('include')")
_ask(_libpl "s.get_config_var('LIBPL')")
_ask(_libdir "s.get_config_var('LIBDIR')")
_ask(_libs "s.get_config_var('LIBS'), s.get_config_var('SYSLIBS'), s.get_config_var('MODLIBS') or ''")

add_library(pymemrun_python_headers INTERFACE)
target_include_directories(pymemrun_python_headers SYSTEM INTERFACE "${_include}")
# From 3.12 on modules in Debian's archive need archives of CPython's own build,
# which no package has.
if(PYMEMRUN_PYTHON_LINK STREQUAL "static" AND _libs MATCHES "Modules/[^ ]*[.]a")
  message(STATUS "libpython${PYMEMRUN_PYTHON_VERSION}.a needs ${CMAKE_MATCH_0}: the shared library is taken")
  set(PYMEMRUN_PYTHON_LINK shared)
endif()
if(PYMEMRUN_PYTHON_LINK STREQUAL "static")
  find_library(PYMEMRUN_PYTHON_ARCHIVE "libpython${PYMEMRUN_PYTHON_VERSION}.a"
               PATHS "${_libpl}" "${_libdir}" NO_DEFAULT_PATH REQUIRED)
  separate_arguments(PYMEMRUN_PYTHON_LIBS UNIX_COMMAND "${_libs}")
  list(REMOVE_DUPLICATES PYMEMRUN_PYTHON_LIBS)
elseif(PYMEMRUN_PYTHON_LINK STREQUAL "shared")
  find_library(PYMEMRUN_PYTHON_LIBRARY "python${PYMEMRUN_PYTHON_VERSION}"
               PATHS "${_libdir}" "${_libpl}" NO_DEFAULT_PATH REQUIRED)
endif()
if(NOT PYMEMRUN_PYTHON_LINK STREQUAL "none")
  message(STATUS "Embedding ${Python3_EXECUTABLE} (CPython ${PYMEMRUN_PYTHON_VERSION}, ${PYMEMRUN_PYTHON_LINK})")
endif()

# `all`: one of each version whose headers are on this machine.
set(_traced "${Python3_EXECUTABLE}")
if(PYMEMRUN_PYTHON_LINK STREQUAL "none")
  set(_traced all)
endif()
set(PYMEMRUN_TRACED_PYTHONS "${_traced}" CACHE STRING
    "Interpreters whose versions can be traced by preloading: paths, with their headers; or all")
if(PYMEMRUN_TRACED_PYTHONS STREQUAL "all")
  set(PYMEMRUN_TRACED_PYTHONS "")
  foreach(minor RANGE 9 14)
    file(GLOB _found "/usr/local/bin/python3.${minor}"
         "/opt/python/cp3${minor}-cp3${minor}/bin/python3.${minor}"
         "$ENV{HOME}/.pyenv/versions/3.${minor}.*/bin/python3.${minor}"
         "$ENV{HOME}/.local/share/uv/python/*/bin/python3.${minor}")
    foreach(python IN ITEMS "/usr/bin/python3.${minor}" ${_found})
      if(NOT EXISTS "${python}")
        continue()
      endif()
      pymemrun_ask_python("${python}" _headers "s.get_path('include')")
      if(EXISTS "${_headers}/Python.h")
        list(APPEND PYMEMRUN_TRACED_PYTHONS "${python}")
        break()
      endif()
    endforeach()
  endforeach()
endif()
message(STATUS "Preloading into the versions of: ${PYMEMRUN_TRACED_PYTHONS}")
