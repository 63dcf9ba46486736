# The CPython to embed, as the imported target pymemrun_python_headers (C API
# headers) and the variables
#   PYMEMRUN_PYTHON_VERSION   3.11
#   PYMEMRUN_PYTHON_ARCHIVE   libpython3.11.a      (static)
#   PYMEMRUN_PYTHON_LIBRARY   libpython3.11.so     (shared)
#   PYMEMRUN_PYTHON_LIBS      what else it links: -lm -lz -lexpat ...
#   PYMEMRUN_EXTENSION_SUFFIX .cpython-311-x86_64-linux-gnu.so
# Asked from the interpreter itself: FindPython3 would look past the one named.
function(_pymemrun_ask_python out code)
  execute_process(COMMAND "${Python3_EXECUTABLE}" -IS -c "${code}"
                  OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "Python3_EXECUTABLE=${Python3_EXECUTABLE} does not run")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
_pymemrun_ask_python(PYMEMRUN_PYTHON_VERSION
  "import sys; print('%d.%d' % sys.version_info[:2])")
_pymemrun_ask_python(_include "import sysconfig; print(sysconfig.get_path('include'))")
_pymemrun_ask_python(_libpl "import sysconfig; print(sysconfig.get_config_var('LIBPL'))")
_pymemrun_ask_python(_libdir "import sysconfig; print(sysconfig.get_config_var('LIBDIR'))")
_pymemrun_ask_python(PYMEMRUN_EXTENSION_SUFFIX
  "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))")
_pymemrun_ask_python(_libs
  "import sysconfig as s; print(s.get_config_var('LIBS'), s.get_config_var('SYSLIBS'), s.get_config_var('MODLIBS') or '')")

add_library(pymemrun_python_headers INTERFACE)
target_include_directories(pymemrun_python_headers SYSTEM INTERFACE "${_include}")
if(PYMEMRUN_PYTHON_LINK STREQUAL "static")
  find_library(PYMEMRUN_PYTHON_ARCHIVE "libpython${PYMEMRUN_PYTHON_VERSION}.a"
               PATHS "${_libpl}" "${_libdir}" NO_DEFAULT_PATH REQUIRED)
  separate_arguments(PYMEMRUN_PYTHON_LIBS UNIX_COMMAND "${_libs}")
  list(REMOVE_DUPLICATES PYMEMRUN_PYTHON_LIBS)
else()
  find_library(PYMEMRUN_PYTHON_LIBRARY "python${PYMEMRUN_PYTHON_VERSION}"
               PATHS "${_libdir}" "${_libpl}" NO_DEFAULT_PATH REQUIRED)
endif()
message(STATUS "Embedding ${Python3_EXECUTABLE} (CPython ${PYMEMRUN_PYTHON_VERSION}, ${PYMEMRUN_PYTHON_LINK})")
