// The reading of one run file for a command: opened, read, and asked whether it
// has what the command needs.
#ifndef PYMEMRUN_READERS_REPORT_RUN_READING_H_
#define PYMEMRUN_READERS_REPORT_RUN_READING_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/places/thread_filter.h"
#include "readers/places/time_range.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/run/console.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// What a part of the run lacks, where the run has it, or `had`: from when to
// when.
std::string NotInRange(absl::string_view what, uint64_t first_us,
                       uint64_t last_us, absl::string_view had = "them");
// Says that the range has none of it, of the threads that are wanted (empty:
// all), and from when to when the run has events. REQUIRES: the file was read.
void SayNotInRange(absl::string_view what, absl::string_view thread,
                   RereadFile* file, const Console& console);

// Each step returns false where the report ends: why has been said, and code()
// is what the program is to exit with. Steps after it fail, too. Not thread
// safe; the command, whose first FILE is read, and the console must outlive it.
class RunReading {
 public:
  RunReading(const ReportCommand& command, const Console& console)
      : console_(console),
        needed_(command.needed()),
        file_(RereadFile::Open(command.files().paths[0], console)),
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
  // Both with HasNeeded().
  bool Read(ReplayVisitor* replay);
  std::unique_ptr<RunMoments> ReadMoments();  // null: it ends
  // Whether the run has all that the command needs. REQUIRES: file() was read.
  bool HasNeeded();
  // Whether something else is there; `lacking` is said behind the run's name.
  bool Has(bool there, absl::string_view lacking);
  bool HasThread(ThreadFilter* threads);

 private:
  const Console& console_;
  const std::vector<Recorded>& needed_;
  const std::unique_ptr<RereadFile> file_;
  int code_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_RUN_READING_H_
