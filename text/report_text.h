// Sizes, counts and times as reports for people have them: the end report and
// pymemreport say them alike. Outputs for machines hold plain numbers instead.
#ifndef PYMEMRUN_TEXT_REPORT_TEXT_H_
#define PYMEMRUN_TEXT_REPORT_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// 41070592 bytes are "39.2 MiB"; units are powers of 1024. Below 1 KiB in
// "bytes". A negative size keeps its sign.
std::string HumanBytes(double size_bytes);
// 1234567 as "1,234,567".
std::string Grouped(uint64_t value);
// "1 row", "1,234 rows"; `many` where the plural is not the word with an s.
std::string Counted(uint64_t count, absl::string_view one,
                    absl::string_view many = "");
// 684542 us are "0.685 s".
std::string HumanSeconds(uint64_t time_us);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_REPORT_TEXT_H_
