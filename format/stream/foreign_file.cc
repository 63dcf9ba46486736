#include "format/stream/foreign_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// The first bytes of files that people pass by mistake, as in file(1)'s
// magic(5). A pickle begins with the opcode PROTO (0x80) and its protocol
// version.
constexpr std::pair<absl::string_view, absl::string_view> kKinds[] = {
    {"\x1f\x8b", "a gzip file"},
    {"PK\x03\x04", "a zip file"},
    {"BZh", "a bzip2 file"},
    {"\xfd"
     "7zXZ",
     "an xz file"},
    {"\x7f"
     "ELF",
     "a program"},
    {"memray", "a file of memray"},
    {"SQLite format 3", "a database"},
    {"%PDF", "a PDF file"},
    {"\x89PNG", "a picture"},
    {"\x80\x02", "a Python pickle"},
    {"\x80\x03", "a Python pickle"},
    {"\x80\x04", "a Python pickle"},
    {"\x80\x05", "a Python pickle"},
};

// Whether the byte may be part of a text, in UTF-8 or an older encoding. Bytes
// from 0x80 on may be, control characters other than white space not.
bool IsOfText(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 ? byte != 0x7f : byte >= '\t' && byte <= '\r';
}

}  // namespace

// 512 bytes are enough to tell text from data.
std::string FileKind(absl::string_view begin) {
  constexpr size_t kEnough = 512, kShown = 4;
  if (begin.empty()) return "an empty file";
  for (const auto& [first, kind] : kKinds) {
    if (absl::StartsWith(begin, first)) return std::string(kind);
  }
  begin = begin.substr(0, kEnough);
  if (std::all_of(begin.begin(), begin.end(), IsOfText)) return "a text file";
  std::string text = "a file that begins with";
  for (const char c : begin.substr(0, kShown)) {
    absl::StrAppend(&text, " ",
                    absl::BytesToHexString(absl::string_view(&c, 1)));
  }
  return text;
}

absl::Status NotARunFile(absl::string_view begin) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a pymemrun run file: found ", FileKind(begin)));
}

}  // namespace pymemrun
