# Writes OUTPUT, a linker --dynamic-list: the names that the interpreter
# INTERPRETER (empty: none) exports and those in INTERPOSED. Nothing else of the
# executable can be seen by an extension module.
set(names "")
if(INTERPRETER)
  execute_process(COMMAND "${NM}" -D --defined-only "${INTERPRETER}"
                  OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} cannot read ${INTERPRETER}")
  endif()
  # A name with a version is a copy of one of libc's objects, not a definition.
  string(REGEX MATCHALL "[^ \n]+\n" names "${symbols}")
  list(TRANSFORM names STRIP)
  list(FILTER names EXCLUDE REGEX "@")
endif()
file(STRINGS "${INTERPOSED}" lines)
foreach(line IN LISTS lines)
  string(REGEX REPLACE "#.*" "" line "${line}")
  string(STRIP "${line}" line)
  if(line)
    list(APPEND names "${line}")
  endif()
endforeach()
if(NOT names)
  set(names "pymemrun_exports_nothing")
endif()
list(JOIN names ";\n  " body)
file(WRITE "${OUTPUT}" "{\n  ${body};\n};\n")
