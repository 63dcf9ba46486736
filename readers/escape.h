// Names from a run file made harmless for where they are printed: terminal,
// CSV, JSON. Names are bytes from strangers: UTF-8 with lone surrogates kept,
// or anything at all.
#ifndef PYMEMRUN_READERS_ESCAPE_H_
#define PYMEMRUN_READERS_ESCAPE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// One step through a name.
struct Rune {
  enum Kind : uint8_t {
    kScalar,     // a Unicode scalar value, well encoded
    kSurrogate,  // U+D800 to U+DFFF, encoded like any other ("surrogatepass")
    kBadByte,    // a byte that belongs to no well encoded character
  };
  Kind kind;
  uint8_t size;  // bytes of the name it takes: 1 to 4
  uint32_t value;
};

// The first rune of `text`. REQUIRES: !text.empty().
Rune FirstRune(absl::string_view text);

// Appends `name` for a terminal or a log and returns how many columns it takes
// (one for each character). Control characters (C0, DEL, C1), bytes that are
// no UTF-8, bidirectional controls, line and paragraph separators and lone
// surrogates are shown as \x1b, \u202e, \udc80.
size_t AppendTerminalText(absl::string_view name, std::string* out);
std::string TerminalText(absl::string_view name);

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

#endif  // PYMEMRUN_READERS_ESCAPE_H_
