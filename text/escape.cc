#include "text/escape.h"

#include "absl/strings/str_format.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Spreadsheets run a cell that begins like this as a formula ("CSV injection").
bool LooksLikeFormula(absl::string_view name) {
  return !name.empty() &&
         absl::string_view("=+-@\t\r").find(name[0]) != absl::string_view::npos;
}

// JSON's escapes are UTF-16: characters beyond the basic plane are surrogate
// pairs.
void AppendJsonEscape(uint32_t value, std::string* out) {
  if (value >= 0x10000) {
    AppendJsonEscape(0xd7c0 + (value >> 10), out);
    value = 0xdc00 | (value & 0x3ff);
  }
  absl::StrAppendFormat(out, "\\u%04x", value);
}

// A byte that is not UTF-8 becomes a lone low surrogate, as Python's
// "surrogateescape" has it: 0xff becomes U+DCFF. JSON needs only quotes,
// backslashes and control characters escaped; what misleads a terminal is
// escaped, too.
void AppendJsonRune(const Rune& rune, absl::string_view bytes,
                    std::string* out) {
  if (rune.kind == Rune::kBadByte) {
    AppendJsonEscape(0xdc00 + rune.value, out);
  } else if (rune.value == '"' || rune.value == '\\') {
    *out += '\\';
    *out += static_cast<char>(rune.value);
  } else if (rune.IsHarmless()) {
    out->append(bytes.data(), rune.size);
  } else {
    AppendJsonEscape(rune.value, out);
  }
}

}  // namespace

// RFC 4180: a cell with a comma, a quote or a line end is quoted, and quotes in
// it are doubled. With `guard` an apostrophe keeps a spreadsheet from taking
// the cell as a formula. It is inside the quotes, where it is part of the cell.
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
