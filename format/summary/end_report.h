// The end report: a short paragraph that says what a run came to. The collector
// makes it for `pymemrun` to print, `pymemcat --summary` from the file; both by
// this one function, so that they say the same.
#ifndef PYMEMRUN_FORMAT_SUMMARY_END_REPORT_H_
#define PYMEMRUN_FORMAT_SUMMARY_END_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/types/optional.h"
#include "format/trace.pb.h"

namespace pymemrun {

// A row's place, names as they stand in the file.
struct EndReportPlace {
  What what = CALL;
  std::string file;
  uint32_t line = 0;
  // Of a C event the C function's qualname, otherwise co_name.
  std::string function;
  std::string thread_name;
  uint64_t native_thread_id = 0;
};

struct EndReportInput {
  Header header;
  Footer footer;
  // Not: the file ends without one, and `footer` is what its stream tells.
  bool has_footer = true;
  std::string file_name;
  uint64_t file_bytes = 0;
  // Of row footer.max_rss_number.
  absl::optional<EndReportPlace> highest;
  // Of the row before the record of footer.peak (the first Peak record with
  // that hwm_bytes), provided its number is peak.after_number.
  absl::optional<EndReportPlace> peak;
};

// No report is longer, whatever names it is given.
inline constexpr size_t kMaxEndReportBytes = 4096;

// A few lines. Each begins with "pymemrun: ". They are broken at column 80,
// or somewhat later to keep a place together, but never inside a name. Names
// are escaped for terminals, and long ones shortened. Places are left out where
// footer.max_rss_ site is 0: then the file does not define them.
std::string EndReportText(const EndReportInput& input);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_SUMMARY_END_REPORT_H_
