// Names from a run file made harmless for CSV and JSON; format/terminal_text.h
// does it for terminals.
#ifndef PYMEMRUN_TEXT_ESCAPE_H_
#define PYMEMRUN_TEXT_ESCAPE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// Appends `name` as one CSV cell (RFC 4180): quoted when it holds a comma,
// quote, CR or LF. Those three and TAB stay as they are, all else that
// AppendTerminalText() escapes is escaped in the same way. With `guard`, a cell
// that begins with = + - @ TAB CR gets a ' before it, so that no spreadsheet
// takes it for a formula.
void AppendCsvCell(absl::string_view name, bool guard, std::string* out);

// Appends `name` as a JSON string with its quotes: always valid UTF-8 and valid
// JSON. Control and bidirectional characters are \u escapes; a lone surrogate
// is its own \u escape; a byte that is no UTF-8 is \udc00 + byte, as in
// Python's "surrogateescape".
void AppendJsonString(absl::string_view name, std::string* out);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_ESCAPE_H_
