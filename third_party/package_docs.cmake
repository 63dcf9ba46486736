# package_docs(SOURCE DESTINATION): a copy of a Markdown file for the package.
# Its links to files that are installed elsewhere follow them; those to files
# that are in the source tree alone become plain text.
function(package_docs source destination)
  file(READ "${source}" _text)
  # Brackets and semicolons mean something in CMake's lists; here they are text.
  string(REGEX REPLACE "\\]\\(format/((FORMAT|example|trace)[^)]*)\\)"
         "](../../pymemrun/\\1)" _text "${_text}")
  string(REPLACE "](examples/heap_history.py)" "](../../pymemrun/heap_history.py)"
         _text "${_text}")
  string(REPLACE "](LICENSE)" "](copyright)" _text "${_text}")
  set(_parts
      "launcher|tracer|collector|format|readers|tests|bench|examples|third_party|docs")
  string(REGEX REPLACE "\\[([^]\n]*)\\]\\((${_parts})(/well_logs|/python|/fresh_machine)?/?\\)" "\\1"
         _text "${_text}")
  file(WRITE "${destination}" "${_text}")
endfunction()
