#include "collector/end_report.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace pymemrun {
namespace {

// Length of the UTF-8 sequence at the front of `bytes` and its code point, or
// length 0 when there is none (surrogates, too long forms and what lies beyond
// U+10FFFF are none).
struct CodePoint {
  size_t length;
  uint32_t value;
};
CodePoint DecodeUtf8(absl::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {1, first};
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < length) return {0, 0};
  uint32_t value = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10ffff ||
      (value >= 0xd800 && value <= 0xdfff)) {
    return {0, 0};
  }
  return {length, value};
}

// Writing direction, invisible joiners, line separators, byte order marks.
bool IsTreacherous(uint32_t c) {
  return c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
         c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
         (c >= 0xe0000 && c <= 0xe007f);
}

std::string PlaceText(const EndReportPlace& place) {
  return absl::StrCat(
      EscapeForTerminal(place.file), ":", place.line, " ",
      EscapeForTerminal(place.function), " (", What_Name(place.what), ", ",
      EscapeForTerminal(place.thread_name), "#", place.native_thread_id, ")");
}

std::string Seconds(uint64_t us) {
  return absl::StrFormat("%.3f s", static_cast<double>(us) / 1e6);
}

std::string CountsText(const EndReportInput& in) {
  const Footer& footer = in.footer;
  std::string text =
      absl::StrCat("pymemrun: ", EscapeForTerminal(in.file_name), ": ",
                   FormatCount(footer.events()), " events, ",
                   FormatCount(footer.rows()), " rows");
  if (footer.context_rows() > 0) {
    absl::StrAppend(&text, " (", FormatCount(footer.context_rows()),
                    " as context)");
  }
  absl::StrAppend(&text, ", ", FormatCount(footer.dropped()), " dropped");
  if (footer.lost_on_write() > 0) {
    absl::StrAppend(&text, ", ", FormatCount(footer.lost_on_write()),
                    " lost because the file could not be written");
  }
  absl::StrAppend(&text, ", ", FormatBytes(in.file_bytes), ".");
  return text;
}

std::string HighestText(const EndReportInput& in) {
  const Footer& footer = in.footer;
  std::string text;
  if (footer.max_rss_bytes() > 0) {
    absl::StrAppend(&text, " Highest RSS at a logged event ",
                    FormatBytes(footer.max_rss_bytes()), " at ",
                    Seconds(footer.max_rss_us()));
    if (in.highest) absl::StrAppend(&text, ", ", PlaceText(*in.highest));
    absl::StrAppend(&text, ".");
  }
  if (footer.seen_max_rss_bytes() > footer.max_rss_bytes()) {
    absl::StrAppend(&text, " Highest at any event ",
                    FormatBytes(footer.seen_max_rss_bytes()), ".");
  }
  if (footer.hwm_bytes() == 0) return text;
  absl::StrAppend(&text, " VmHWM ", FormatBytes(footer.hwm_bytes()));
  if (footer.has_peak()) {
    absl::StrAppend(&text, ", reached between events ",
                    footer.peak().after_number(), " and ",
                    footer.peak().before_number());
    if (in.peak) {
      absl::StrAppend(&text, ", after ", PlaceText(*in.peak));
    } else {
      absl::StrAppend(&text, " (by ", Seconds(footer.peak().time_us()), ")");
    }
  }
  return absl::StrCat(text, ".");
}

std::string ExitText(const Footer& footer) {
  switch (footer.end()) {
    case Footer::EXIT:
      return absl::StrCat(" Exit status ", footer.exit_status(), ".");
    case Footer::SIGNAL:
      return absl::StrCat(" Ended by signal ", footer.exit_status(), ".");
    case Footer::EXEC:
      return " Became another program (exec).";
    default:
      return " Killed, or ended without clean-up.";
  }
}

std::string SourceText(const Header& header) {
  std::string name =
      header.rss_source() == RSS_SOURCE_UNKNOWN
          ? "unknown"
          : absl::AsciiStrToLower(RssSource_Name(header.rss_source()));
  if (!header.rss_source_reason().empty()) {
    absl::StrAppend(&name, " (", EscapeForTerminal(header.rss_source_reason()),
                    ")");
  }
  return absl::StrCat(" RSS source ", name, ".");
}

}  // namespace

std::string EndReportText(const EndReportInput& input) {
  const Footer& footer = input.footer;
  std::string text = CountsText(input);
  absl::StrAppend(&text, HighestText(input), ExitText(footer));
  const uint64_t own_bytes =
      std::max(footer.own_bytes(), input.header.own_bytes());
  if (own_bytes > 0) {
    absl::StrAppend(&text, " Our own memory ", FormatBytes(own_bytes), ".");
  }
  if (footer.untraced_children() > 0) {
    absl::StrAppend(&text, " ", FormatCount(footer.untraced_children()),
                    " child processes were not traced.");
  }
  absl::StrAppend(&text, SourceText(input.header), "\n");
  return text;
}

std::string EscapeForTerminal(absl::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const CodePoint c = DecodeUtf8(bytes);
    const size_t length = std::max<size_t>(c.length, 1);
    if (c.length == 0 || c.value < 0x20 ||
        (c.value >= 0x7f && c.value <= 0x9f)) {
      for (const char raw : bytes.substr(0, length)) {
        absl::StrAppendFormat(&text, "\\x%02x", static_cast<uint8_t>(raw));
      }
    } else if (IsTreacherous(c.value)) {
      absl::StrAppendFormat(&text, "\\u{%x}", c.value);
    } else if (c.value == '\\') {
      text += "\\\\";
    } else {
      absl::StrAppend(&text, bytes.substr(0, length));
    }
    bytes.remove_prefix(length);
  }
  return text;
}

std::string FormatBytes(uint64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  const double size = static_cast<double>(bytes);
  // Just below the next unit, so that rounding does not say 1000.0.
  if (bytes < 999950) return absl::StrFormat("%.1f KB", size / 1e3);
  if (bytes < 999950000) return absl::StrFormat("%.1f MB", size / 1e6);
  return absl::StrFormat("%.1f GB", size / 1e9);
}

std::string FormatCount(uint64_t count) {
  const std::string digits = absl::StrCat(count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace pymemrun
