#include "readers/commands/call_options.h"

#include "absl/strings/str_cat.h"
#include "readers/report/option_groups.h"

namespace pymemrun {

void CallAttribution::Add(CLI::App* app, RunNeeds* needs) {
  AddAttribution(
      app, &given_,
      "For a call, observed is the change of the process's RSS from CALL to "
      "RETURN. Default: caused, if the run has page faults.");
  needs->AddWith("--thread-attribution caused", Recorded::kFaults);
}

// Says nothing if one thread made all calls.
void CallAttribution::SayWhatCounts(const CallReplay& replay,
                                    const RereadFile& file,
                                    const Console& console) const {
  if (by_thread() || replay.threads_seen() < 2) return;
  console.Say(absl::StrCat(
      file.shown_name(),
      ": growth is that of the whole process: what other threads did during a "
      "call counts, too",
      threads_ == nullptr ? "; only page faults tell the threads apart" : ""));
}

}  // namespace pymemrun
