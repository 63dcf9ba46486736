// Options of the reports that number peaks.
#ifndef PYMEMRUN_READERS_REPORT_PEAK_OPTIONS_H_
#define PYMEMRUN_READERS_REPORT_PEAK_OPTIONS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "readers/options/option_values.h"
#include "readers/replay/calls/call_filter.h"
#include "readers/replay/moments/moment.h"
#include "readers/report/option_groups.h"
#include "text/report_text.h"

namespace pymemrun {

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
                    "Leave P out of file names that begin with it.")
        ->option_text("P");
  }
  // Where no peak is shown.
  std::string NoCall() const {
    return absl::StrCat(
        choice.view.chooses_places() ? "no call that you chose" : "no call",
        " changed RSS by more than ", HumanBytes(rule.min_bytes));
  }
  void AddRule(CLI::App* app) {
    AddParsed(app, "--min", &rule.min_bytes, ParseBytes, "SIZE",
              "A peak is a call that changed RSS by more than SIZE, up or "
              "down (200K).");
    AddParsed(
        app, "--min-time", &rule.min_time_us, ParseTime, "TIME",
        "Keep a peak that is more than TIME (2, 500ms) after the last one kept "
        "(a hundredth of the run).");
    AddParsed(app, "--min-value", &rule.min_value_bytes, ParseBytes, "SIZE",
              "Keep also a peak that differs from it by more than SIZE "
              "(500K).");
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_PEAK_OPTIONS_H_
