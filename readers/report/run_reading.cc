#include "readers/report/run_reading.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/replay/moments/moment.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/report/option_groups.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {

std::string NotInRange(absl::string_view what, uint64_t first_us,
                       uint64_t last_us, absl::string_view had) {
  return absl::StrCat("the range has no ", what, "; the run has ", had,
                      " from ", HumanSeconds(first_us), " to ",
                      HumanSeconds(last_us));
}

void SayNotInRange(absl::string_view what, absl::string_view thread,
                   RereadFile* file, const Console& console) {
  const auto [first_us, last_us] =
      EventTimesOf(file).value_or(std::pair(uint64_t{0}, LastMomentOf(file)));
  const std::string of =
      absl::StrCat(what, thread.empty() ? "" : " of ", TerminalText(thread));
  console.Say(absl::StrCat(file->shown_name(), ": ",
                           NotInRange(of, first_us, last_us, "events")));
}

bool RunReading::Fail(int code) {
  code_ = std::max(code_, code);
  return false;
}

void RunReading::Say(absl::string_view message) const {
  console_.Say(absl::StrCat(file_->shown_name(), ": ", message));
}

// First in silence. If that fails, the run may lack what the command needs,
// which is the better message; otherwise it is tried again aloud.
bool RunReading::Find(const RangeOptions& options, MomentRange* range) {
  if (file_ == nullptr) return false;
  Console silent = console_;
  silent.err_fd = -1;
  int code = kExitOk;
  if (options.Find(file_.get(), silent, range, &code)) return true;
  // What the run lacks it has in no other range either.
  FirstReading first;
  return Read(&first) && options.Find(file_.get(), console_, range, &code_);
}

bool RunReading::Find(const RangeOptions& options, TimeRange* range) {
  MomentRange found;
  if (!Find(options, &found)) return false;
  *range = TimeRange::OfMicros(found.from_us, found.to_us);
  return true;
}

bool RunReading::Read(ReplayVisitor* replay) {
  return file_ != nullptr && (file_->Read(replay) || Fail(kExitFailed)) &&
         HasNeeded();
}

std::unique_ptr<RunMoments> RunReading::ReadMoments() {
  if (file_ == nullptr) return nullptr;
  auto moments = RunMoments::Of(ReadingOf(file_.get()));
  if (moments == nullptr) Fail(kExitFailed);
  return moments != nullptr && HasNeeded() ? std::move(moments) : nullptr;
}

bool RunReading::HasNeeded() {
  return std::all_of(needed_.begin(), needed_.end(),
                     [this](Recorded what) { return file_->Has(what); });
}

// A damaged file may have lost it: that is a failure, not a wrong use.
bool RunReading::Has(bool there, absl::string_view lacking) {
  if (there) return true;
  Say(lacking);
  return Fail(file_->whole() ? kExitUsage : file_->code());
}

bool RunReading::HasThread(ThreadFilter* threads) {
  return !SayNoThread(threads, file_->shown_name(), console_) ||
         Fail(kExitUsage);
}

}  // namespace pymemrun
