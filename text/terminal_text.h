// Names from a run file made harmless for terminals and logs, alike wherever
// they are shown: in the end report, in tables, in messages. Names are bytes
// from strangers: UTF-8 with lone surrogates kept, or anything at all.
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
    kScalar,     // a Unicode scalar value, well encoded
    kSurrogate,  // U+D800 to U+DFFF, encoded like any other ("surrogatepass")
    kBadByte,    // a byte that belongs to no well encoded character
  };
  Kind kind;
  uint8_t size;  // bytes of the name it takes: 1 to 4
  uint32_t value;

  // Neither a terminal nor a reader is misled by it: a scalar that is no
  // control character (C0, DEL, C1), turns no writing direction, is no line or
  // paragraph separator, and is not invisible.
  bool IsHarmless() const;
};

// The first rune of `text`. REQUIRES: !text.empty().
Rune FirstRune(absl::string_view text);

// Printable ASCII, which is harmless.
inline bool IsPlainAscii(char c) {
  const uint8_t byte = static_cast<uint8_t>(c);
  return byte >= 0x20 && byte < 0x7f;
}

// Appends what stands for `rune`, the first of `bytes`, and returns how many
// columns it takes (one for each character). What is not harmless is shown as
// \x1b, \u202e, \udc80, \U000e0041; a byte that is no UTF-8 as \xff.
size_t AppendVisible(const Rune& rune, absl::string_view bytes,
                     std::string* out);

// The same for a whole name.
size_t AppendTerminalText(absl::string_view name, std::string* out);
std::string TerminalText(absl::string_view name);
// `name` for a terminal, of at most `most` bytes, dots where it is cut: its
// begin, or of a path its end, which tells more. REQUIRES: most >= 16.
std::string ShortTerminalText(absl::string_view name, size_t most,
                              bool keep_end = false);
// Columns of text that was made so.
size_t ColumnsOf(absl::string_view text);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_TERMINAL_TEXT_H_
