#include "text/terminal_text.h"

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kCut = "...";

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

// Backslash, `letter` and the low `digits` hexadecimal digits.
void AppendHex(char letter, int digits, uint32_t value, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  *out += '\\';
  *out += letter;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    *out += kHex[(value >> shift) & 15];
  }
}

// C0, DEL and C1. Terminals obey escape sequences that begin in C0 or C1.
bool IsControl(uint32_t value) {
  return value < 0x20 || (value >= 0x7f && value < 0xa0);
}

// Marks, embeddings, overrides and isolates that reorder text; separators that
// some programs take for line ends; and invisible characters, by which two
// different names would look the same. The last range is that of tags, which no
// terminal shows.
bool IsReorderingOrInvisible(uint32_t value) {
  return value == 0x00ad || value == 0x061c ||
         (value >= 0x200b && value <= 0x200f) ||
         (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2060 && value <= 0x206f) || value == 0xfeff ||
         (value >= 0xfff9 && value <= 0xfffb) ||
         (value >= 0xe0000 && value <= 0xe007f);
}

bool IsContinuation(absl::string_view text, size_t at) {
  return at < text.size() && IsContinuation(text[at]);
}

// The six bits of a continuation byte.
uint32_t Bits(absl::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]) & 0x3f;
}

}  // namespace

bool Rune::IsHarmless() const {
  return kind == kScalar && !IsControl(value) &&
         !IsReorderingOrInvisible(value);
}

// Strict UTF-8 (RFC 3629), with surrogates let through as a kind of their own.
// Leads below 0xc2 would be overlong, and leads above 0xf4 beyond U+10FFFF.
// Overlong forms of three and four bytes are found by their value. After a bad
// byte the next one is looked at anew, so that no good character is lost.
Rune FirstRune(absl::string_view text) {
  const uint8_t lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {Rune::kScalar, 1, lead};
  const Rune bad = {Rune::kBadByte, 1, lead};
  if (lead < 0xc2 || lead > 0xf4 || !IsContinuation(text, 1)) return bad;
  if (lead < 0xe0) return {Rune::kScalar, 2, (lead & 31u) << 6 | Bits(text, 1)};
  if (!IsContinuation(text, 2)) return bad;
  if (lead < 0xf0) {
    const uint32_t value =
        (lead & 15u) << 12 | Bits(text, 1) << 6 | Bits(text, 2);
    if (value < 0x800) return bad;
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    return {surrogate ? Rune::kSurrogate : Rune::kScalar, 3, value};
  }
  if (!IsContinuation(text, 3)) return bad;
  const uint32_t value = (lead & 7u) << 18 | Bits(text, 1) << 12 |
                         Bits(text, 2) << 6 | Bits(text, 3);
  if (value < 0x10000 || value > 0x10ffff) return bad;
  return {Rune::kScalar, 4, value};
}

// An escape is ASCII, so its bytes are its columns. A harmless character counts
// as one column, although terminals show some in two or none.
size_t AppendVisible(const Rune& rune, absl::string_view bytes,
                     std::string* out) {
  if (rune.IsHarmless()) {
    out->append(bytes.data(), rune.size);
    return 1;
  }
  const size_t before = out->size();
  if (rune.kind == Rune::kBadByte || IsControl(rune.value)) {
    AppendHex('x', 2, rune.value, out);
  } else if (rune.value < 0x10000) {
    AppendHex('u', 4, rune.value, out);
  } else {
    AppendHex('U', 8, rune.value, out);
  }
  return out->size() - before;
}

// Most names are plain ASCII and need no decoding.
size_t AppendTerminalText(absl::string_view name, std::string* out) {
  size_t columns = 0;
  while (!name.empty()) {
    if (IsPlainAscii(name[0])) {
      *out += name[0];
      ++columns;
      name.remove_prefix(1);
      continue;
    }
    const Rune rune = FirstRune(name);
    columns += AppendVisible(rune, name, out);
    name.remove_prefix(rune.size);
  }
  return columns;
}

std::string TerminalText(absl::string_view name) {
  std::string text;
  AppendTerminalText(name, &text);
  return text;
}

// The cut is moved to where a character begins: forward when the end is kept,
// back otherwise. So the text never exceeds `most`. An escape may be cut.
std::string ShortTerminalText(absl::string_view name, size_t most,
                              bool keep_end) {
  std::string text = TerminalText(name);
  if (text.size() <= most) return text;
  const size_t kept = most - kCut.size();
  if (keep_end) {
    size_t from = text.size() - kept;
    while (IsContinuation(text[from])) ++from;
    return absl::StrCat(kCut, text.substr(from));
  }
  size_t end = kept;
  while (IsContinuation(text[end])) --end;
  return absl::StrCat(text.substr(0, end), kCut);
}

// Characters, counted by their bytes that are not continuations.
size_t ColumnsOf(absl::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    columns += !IsContinuation(text[at]);
  }
  return columns;
}

}  // namespace pymemrun
