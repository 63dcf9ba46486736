#include "readers/output/html_page.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace pymemrun {

bool IsHtmlName(absl::string_view path) {
  return absl::EndsWithIgnoreCase(path, ".html") ||
         absl::EndsWithIgnoreCase(path, ".htm");
}

bool IsPictureName(absl::string_view path) {
  return absl::EndsWithIgnoreCase(path, ".svg") || IsHtmlName(path);
}

bool IsOtherPictureName(absl::string_view path) {
  constexpr absl::string_view kEnds[] = {".png",  ".gif",  ".jpg",
                                         ".jpeg", ".webp", ".pdf"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [path](absl::string_view end) {
                       return absl::EndsWithIgnoreCase(path, end);
                     });
}

// SVG may stand in HTML as it is, except for its XML declaration.
absl::Status HtmlPageSink::Append(absl::string_view bytes) {
  if (has_begun_ || bytes.empty()) return sink_.Append(bytes);
  has_begun_ = true;
  if (absl::StartsWith(bytes, "<?xml")) {
    bytes.remove_prefix(std::min(bytes.find("?>") + 2, bytes.size()));
  }
  return sink_.Append(absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<title>",
      title_, "</title></head>\n<body style=\"margin: 0\">", bytes));
}

absl::Status HtmlPageSink::End() {
  return has_begun_ ? sink_.Append("</body></html>\n") : absl::OkStatus();
}

}  // namespace pymemrun
