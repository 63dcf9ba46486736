// Escapes names from a run file for terminals and logs, in the same way
// everywhere: in the end report, in tables, in messages. Names are untrusted
// bytes: UTF-8, perhaps with lone surrogates, or anything at all.
#ifndef PYMEMRUN_TEXT_TERMINAL_TEXT_H_
#define PYMEMRUN_TEXT_TERMINAL_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// One step through a name.
struct Rune {
  enum Kind : uint8_t {
    kScalar,     // a correctly encoded Unicode scalar value
    kSurrogate,  // U+D800 to U+DFFF, encoded like any other ("surrogatepass")
    kBadByte,    // a byte outside any correctly encoded character
  };
  Kind kind;
  uint8_t size;  // bytes of the name: 1 to 4
  uint32_t value;

  // Whether it can mislead neither a terminal nor a reader. It must be a scalar
  // and visible. It must not be a control character (C0, DEL, C1) or a line or
  // paragraph separator, or change the writing direction.
  bool IsHarmless() const;
};

// The first rune of `text`. REQUIRES: !text.empty().
Rune FirstRune(absl::string_view text);

// Whether it is printable ASCII, which is harmless.
inline bool IsPlainAscii(char c) {
  const uint8_t byte = static_cast<uint8_t>(c);
  return byte >= 0x20 && byte < 0x7f;
}

// Appends `rune`, the first of `bytes`, escaped, and returns its number of
// columns (one for each character). If it is not harmless it becomes \x1b,
// \u202e, \udc80 or \U000e0041; a byte that is not UTF-8 becomes \xff.
size_t AppendVisible(const Rune& rune, absl::string_view bytes,
                     std::string* out);

// The same for a whole name.
size_t AppendTerminalText(absl::string_view name, std::string* out);
std::string TerminalText(absl::string_view name);
// `name` for a terminal, of at most `most` bytes; dots mark a cut. Keeps its
// start, or with `keep_end` its end, which says more for paths. REQUIRES: most
// >= 16.
std::string ShortTerminalText(absl::string_view name, size_t most,
                              bool keep_end = false);
// The number of columns of text made by these functions.
size_t ColumnsOf(absl::string_view text);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_TERMINAL_TEXT_H_
