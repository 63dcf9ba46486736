#include "readers/escape.h"

namespace pymemrun {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void AppendHex2(uint32_t value, std::string* out) {
  *out += "\\x";
  *out += kHex[(value >> 4) & 15];
  *out += kHex[value & 15];
}

void AppendHex4(uint32_t value, std::string* out) {
  *out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    *out += kHex[(value >> shift) & 15];
  }
}

bool IsControl(uint32_t value) {
  return value < 0x20 || (value >= 0x7f && value < 0xa0);
}

// Marks, embeddings, overrides and isolates that reorder what follows; the
// separators that some programs take for line ends; what takes no room, so that
// two names that differ by it look the same. All in the basic plane.
bool IsReorderingOrInvisible(uint32_t value) {
  return value == 0x00ad || value == 0x061c ||
         (value >= 0x200b && value <= 0x200f) ||
         (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2060 && value <= 0x206f) || value == 0xfeff ||
         (value >= 0xfff9 && value <= 0xfffb);
}

bool IsContinuation(absl::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80;
}

uint32_t Bits(absl::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]) & 0x3f;
}

bool IsPlainAscii(char c) {
  const uint8_t byte = static_cast<uint8_t>(c);
  return byte >= 0x20 && byte < 0x7f;
}

// Appends what stands for `rune` on a terminal; returns its columns.
size_t AppendVisible(const Rune& rune, absl::string_view bytes,
                     std::string* out) {
  const size_t before = out->size();
  if (rune.kind == Rune::kBadByte || IsControl(rune.value)) {
    AppendHex2(rune.value, out);
  } else if (rune.kind == Rune::kSurrogate ||
             IsReorderingOrInvisible(rune.value)) {
    AppendHex4(rune.value, out);
  } else {
    out->append(bytes.data(), rune.size);
    return 1;
  }
  return out->size() - before;
}

bool LooksLikeFormula(absl::string_view name) {
  return !name.empty() &&
         absl::string_view("=+-@\t\r").find(name[0]) != absl::string_view::npos;
}

void AppendJsonRune(const Rune& rune, absl::string_view bytes,
                    std::string* out) {
  if (rune.kind == Rune::kBadByte) {
    AppendHex4(0xdc00 + rune.value, out);
  } else if (rune.value == '"' || rune.value == '\\') {
    *out += '\\';
    *out += static_cast<char>(rune.value);
  } else if (rune.kind == Rune::kSurrogate || IsControl(rune.value) ||
             IsReorderingOrInvisible(rune.value)) {
    AppendHex4(rune.value, out);
  } else {
    out->append(bytes.data(), rune.size);
  }
}

}  // namespace

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

void AppendCsvCell(absl::string_view name, bool guard, std::string* out) {
  const bool quoted = name.find_first_of(",\"\r\n") != absl::string_view::npos;
  if (quoted) *out += '"';
  if (guard && LooksLikeFormula(name)) *out += '\'';
  while (!name.empty()) {
    const char c = name[0];
    if (c == '"') {
      *out += "\"\"";
      name.remove_prefix(1);
    } else if (IsPlainAscii(c) || c == '\t' || c == '\r' || c == '\n') {
      *out += c;
      name.remove_prefix(1);
    } else {
      const Rune rune = FirstRune(name);
      AppendVisible(rune, name, out);
      name.remove_prefix(rune.size);
    }
  }
  if (quoted) *out += '"';
}

void AppendJsonString(absl::string_view name, std::string* out) {
  *out += '"';
  while (!name.empty()) {
    const Rune rune = FirstRune(name);
    AppendJsonRune(rune, name, out);
    name.remove_prefix(rune.size);
  }
  *out += '"';
}

}  // namespace pymemrun
