#include "readers/report/call_attribution.h"

#include "absl/strings/str_cat.h"
#include "readers/report/option_groups.h"

namespace pymemrun {

void CallAttribution::Add(CLI::App* app) {
  AddAttribution(app, &given_,
                 "Observed is what the process's RSS changed by between CALL "
                 "and RETURN. The default is caused, where there are page "
                 "faults.");
}

bool CallAttribution::Read(RereadFile* file, const Console& console) {
  threads_ = ThreadDrss::Read(file);
  if (threads_ != nullptr || given_ != Attribution::kCaused) return true;
  SayNoCause(file->shown_name(), console);
  return false;
}

void CallAttribution::SayWhatCounts(const CallReplay& replay,
                                    const RereadFile& file,
                                    const Console& console) const {
  if (by_thread() || replay.threads_seen() < 2) return;
  console.Say(absl::StrCat(
      file.shown_name(),
      ": growth is the process's: what other threads did "
      "during a call counts, too",
      threads_ == nullptr ? "; only page faults tell them apart" : ""));
}

}  // namespace pymemrun
