// The reading of one run file for a report: opened, read, and asked whether it
// has what the report needs.
#ifndef PYMEMRUN_READERS_REPORT_RUN_READING_H_
#define PYMEMRUN_READERS_REPORT_RUN_READING_H_

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "readers/places/thread_filter.h"
#include "readers/places/time_range.h"
#include "readers/report/range_options.h"
#include "readers/run/console.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// What is said, behind the run's name, of one that lacks what a report needs.
namespace lacks {
inline constexpr char kCalls[] =
    "has no calls: the run was not made with --trace calls";
inline constexpr char kGil[] =
    "has no GIL events: record them with pymemrun --trace gil";
inline constexpr char kStates[] =
    "has no states of threads: record them with pymemrun --trace states or "
    "gil,states";
inline constexpr char kTasks[] =
    "has no steps of tasks: record them with pymemrun --trace tasks";
inline constexpr char kMemoryOfThreads[] =
    "has neither page faults nor heap events: nobody saw which thread took "
    "memory";
inline constexpr char kBlocksOfC[] = "--reserved needs a run with --native";
inline constexpr char kEachBlock[] =
    "--temporary needs every allocation: the run was not made with --heap all";
}  // namespace lacks

// Each step returns false where the report ends: why has been said, and code()
// is what the program is to exit with. Steps after it fail, too. Not thread
// safe; the console must outlive it.
class RunReading {
 public:
  RunReading(const std::string& path, const Console& console)
      : console_(console),
        file_(RereadFile::Open(path, console)),
        code_(file_ == nullptr ? kExitFailed : kExitOk) {}

  // Null: it could not be opened.
  RereadFile* file() const { return file_.get(); }
  const Console& console() const { return console_; }
  int code() const {
    return file_ == nullptr ? code_ : std::max(code_, file_->code());
  }
  // Takes the code of what failed.
  bool Fail(int code);
  // One line, behind the run's name.
  void Say(absl::string_view message) const;

  bool Find(const RangeOptions& options, MomentRange* range);
  bool Find(const RangeOptions& options, TimeRange* range);
  bool Read(ReplayVisitor* replay);
  // Whether what the report needs is there; `lacking`: see above.
  bool Has(bool there, absl::string_view lacking);
  bool HasThread(ThreadFilter* threads);

 private:
  const Console& console_;
  const std::unique_ptr<RereadFile> file_;
  int code_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_RUN_READING_H_
