# package_docs(SOURCE DESTINATION): a copy of a Markdown file for the package.
# Its links to files that are installed elsewhere follow them; those to files
# that are in the source tree alone become plain text. Links of pages in docs/
# begin with one `../` for each folder that the page is in.
function(package_docs source destination)
  file(READ "${source}" _text)
  # Brackets and semicolons mean something in CMake's lists; here they are text.
  set(_up "((\\.\\./)*)")
  string(REGEX REPLACE "\\]\\(${_up}format/((FORMAT|example|trace)[^)]*)\\)"
         "](\\1../../pymemrun/\\3)" _text "${_text}")
  string(REGEX REPLACE "\\]\\(${_up}examples/heap_history\\.py\\)"
         "](\\1../../pymemrun/heap_history.py)" _text "${_text}")
  string(REGEX REPLACE "\\]\\(${_up}LICENSE\\)" "](\\1copyright)" _text "${_text}")
  set(_parts "launcher|tracer|collector|format|readers|tests|bench|examples|third_party")
  string(REGEX REPLACE "\\[([^]\n]*)\\]\\(${_up}(${_parts})(/[^)#]*)?(#[^)]*)?\\)" "\\1"
         _text "${_text}")
  file(WRITE "${destination}" "${_text}")
endfunction()
