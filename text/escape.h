// Escapes names from a run file for CSV and JSON; terminal_text.h does so for
// terminals.
#ifndef PYMEMRUN_TEXT_ESCAPE_H_
#define PYMEMRUN_TEXT_ESCAPE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// Appends `name` as one CSV cell (RFC 4180), quoted if it has a comma, quote,
// CR or LF. These and TAB are kept; everything else that AppendTerminalText()
// escapes is escaped in the same way. `guard`: a cell that starts with = + - @
// TAB CR gets a ' before it, so that no spreadsheet takes it for a formula.
void AppendCsvCell(absl::string_view name, bool guard, std::string* out);

// Appends `name` as a JSON string with quotes: always valid UTF-8 and valid
// JSON. Control and bidirectional characters become \u escapes, and so does a
// lone surrogate. A byte that is not UTF-8 becomes \udc00 + byte, as in
// Python's "surrogateescape".
void AppendJsonString(absl::string_view name, std::string* out);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_ESCAPE_H_
