// Options of the reports about calls: --thread-attribution, and those of peaks.
#ifndef PYMEMRUN_READERS_COMMANDS_CALL_OPTIONS_H_
#define PYMEMRUN_READERS_COMMANDS_CALL_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "readers/options/option_values.h"
#include "readers/replay/calls/call_filter.h"
#include "readers/replay/calls/call_replay.h"
#include "readers/replay/growth/profile_table.h"
#include "readers/replay/moments/moment.h"
#include "readers/replay/threads/thread_drss.h"
#include "readers/report/option_groups.h"
#include "readers/report/run_needs.h"
#include "readers/run/console.h"
#include "readers/run/reread_file.h"
#include "text/report_text.h"

namespace pymemrun {

// Whose growth counts as that of a call: its thread's, if page faults were
// recorded, or the process's. Not thread safe.
class CallAttribution {
 public:
  void Add(CLI::App* app, RunNeeds* needs);
  // Reads what threads did, where the run tells.
  void Read(RereadFile* file) { threads_ = ThreadDrss::Read(file); }
  // REQUIRES: Read() was called, and *this outlives the replay's reading.
  void Give(CallReplay* replay) const {
    replay->SetThreads(threads_.get(), by_thread());
  }
  // After a reading: says where what other threads did counts, too.
  void SayWhatCounts(const CallReplay& replay, const RereadFile& file,
                     const Console& console) const;
  bool by_thread() const { return threads_ != nullptr && !is_observed(); }
  // The view by events was asked for.
  bool is_observed() const { return given_ == Attribution::kObserved; }

 private:
  std::optional<Attribution> given_;
  std::unique_ptr<ThreadDrss> threads_;
};

// Options of the reports that number peaks.
struct PeakOptions {
  PeakRule rule;
  CallChoice choice;
  std::string prefix;  // left out of files

  void Add(CLI::App* app) {
    AddRule(app);
    AddFiles(app, "calls of code in ", &choice.view);
    AddThread(app, &choice.thread);
    AddOwn(app);
    app->add_option("--strip-prefix", prefix,
                    "Remove P from the start of file names.")
        ->option_text("P");
  }
  // The sentence of a report that shows no peak.
  std::string NoCall() const {
    const std::string changed =
        absl::StrCat(" changed RSS by more than ", HumanBytes(rule.min_bytes));
    return choice.view.chooses_places()
               ? absl::StrCat(choice.view.LeavesNone(), "call that", changed)
               : absl::StrCat("no call", changed);
  }
  void AddRule(CLI::App* app) {
    AddParsed(app, "--min", &rule.min_bytes, ParseBytes, "SIZE",
              "Count a call as a peak if it changed RSS by more than SIZE, up "
              "or down (200K).");
    AddParsed(
        app, "--min-time", &rule.min_time_us, ParseTime, "TIME",
        "Keep a peak if it comes more than TIME (2, 500ms) after the last one "
        "kept (a hundredth of the run).");
    AddParsed(app, "--min-value", &rule.min_value_bytes, ParseBytes, "SIZE",
              "Also keep a peak that differs from the last one kept by more "
              "than SIZE (500K).");
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_CALL_OPTIONS_H_
