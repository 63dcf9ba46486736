// The end report: a short paragraph that says what a run came to. The collector
// makes it for `pymemrun` to print, and `pymemcat --summary` makes it of a file.
#ifndef PYMEMRUN_FORMAT_SUMMARY_END_REPORT_H_
#define PYMEMRUN_FORMAT_SUMMARY_END_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "format/trace.pb.h"

namespace pymemrun {

struct EndReportInput {
  Header header;
  Footer footer;
  // Not: the file ends without one, and `footer` is what its stream tells.
  bool has_footer = true;
  std::string file_name;
  uint64_t file_bytes = 0;
  std::string write_error;  // why not all of it was written; empty: it was
  // The first lines of what pymemreport says of the file, at most
  // kAnswerColumns wide; empty: it was not asked.
  std::string answer;
  // How many processes were forked from this one, and from these, and traced;
  // and which names their files have.
  uint64_t traced_children = 0;
  // How many this one has started, where those that run other programs may be
  // traced, too.
  uint64_t started_children = 0;
  std::string children_name;
  // Dumps of the object graph that it made, and the last one's path.
  uint64_t dumps = 0;
  std::string last_dump;
  // Says how to read on.
  bool names_next = false;
};

// No report is longer, whatever names it is given.
inline constexpr size_t kMaxEndReportBytes = 4096;
inline constexpr int kAnswerColumns = 70;

// A few lines. Each begins with "pymemrun: ". They are broken at column 80, but
// never inside a name. Names are escaped for terminals, and long ones
// shortened. With an answer these are its lines, how to read on, and what went
// wrong or was left out, if anything. Without one: what was recorded, the peak,
// the end.
std::string EndReportText(const EndReportInput& input);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_SUMMARY_END_REPORT_H_
