// Sizes, counts and times for people: the end report and pymemreport format
// them alike. Outputs for machines have plain numbers instead.
#ifndef PYMEMRUN_TEXT_REPORT_TEXT_H_
#define PYMEMRUN_TEXT_REPORT_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// "39.2 MiB" for 41070592 bytes; units are powers of 1024. Below 1 KiB in
// "bytes". A negative size keeps its sign.
std::string HumanBytes(double size_bytes);
// "1,234,567".
std::string Grouped(uint64_t value);
// "1 row", "1,234 rows". `many`: the plural, if it is not `one` with an s.
std::string Counted(uint64_t count, absl::string_view one,
                    absl::string_view many = "");
// "0.685 s" for 684542 us.
std::string HumanSeconds(uint64_t time_us);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_REPORT_TEXT_H_
