// What a command needs of a run: a declaration beside its options.
#ifndef PYMEMRUN_READERS_REPORT_RUN_NEEDS_H_
#define PYMEMRUN_READERS_REPORT_RUN_NEEDS_H_

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "readers/run/recorded.h"

namespace pymemrun {

struct RunNeed {
  Recorded what;
  std::string option;  // with which it needs that; empty: in any case
  std::string value;   // of the option; empty: any
};

// Not thread safe.
class RunNeeds {
 public:
  void Add(Recorded what) { all_.push_back({what, "", ""}); }
  void AddWith(const std::string& option, Recorded what) {
    all_.push_back({what, option, ""});
  }
  void AddWith(const std::string& option, const std::string& value,
               Recorded what) {
    all_.push_back({what, option, value});
  }
  const std::vector<RunNeed>& all() const { return all_; }
  // Those that the options ask for. REQUIRES: they have been parsed.
  std::vector<Recorded> Of(const CLI::App& app) const;
  // Says them in the texts of --help and --help-all.
  void AddToHelp(CLI::App* app) const;

 private:
  std::vector<RunNeed> all_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_RUN_NEEDS_H_
