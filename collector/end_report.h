// The end report: one paragraph that says what a run came to. The collector
// makes it for `pymemrun` to print, `pymemcat --summary` from the file; both by
// this one function, so that they say the same.
#ifndef PYMEMRUN_COLLECTOR_END_REPORT_H_
#define PYMEMRUN_COLLECTOR_END_REPORT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
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
  std::string file_name;
  uint64_t file_bytes = 0;
  // Of row footer.max_rss_number.
  absl::optional<EndReportPlace> highest;
  // Of the row before the record of footer.peak (the first Peak record with
  // that hwm_bytes), provided its number is peak.after_number.
  absl::optional<EndReportPlace> peak;
};

// One paragraph that ends in a newline. Names in it are escaped for terminals.
std::string EndReportText(const EndReportInput& input);

// `bytes` (UTF-8, or nearly) such that no terminal obeys it: control bytes,
// DEL, C1 and what is not UTF-8 become \xNN, marks that turn the writing
// direction or are invisible \u{NNNN}, a backslash two.
std::string EscapeForTerminal(absl::string_view bytes);

// 999 B, 56.7 KB, 123.4 MB, 1.5 GB (powers of 1000).
std::string FormatBytes(uint64_t bytes);
// 1,234,567
std::string FormatCount(uint64_t count);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_END_REPORT_H_
