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
  // With which it needs that, "--sleeps" or "--by task|module"; empty: always.
  std::string choice;
  std::vector<std::string> except;  // with any of these it does not
};

// Not thread safe.
class RunNeeds {
 public:
  void Add(Recorded what, std::vector<std::string> except = {}) {
    AddWith("", what, std::move(except));
  }
  void AddWith(std::string choice, Recorded what,
               std::vector<std::string> except = {}) {
    all_.push_back({what, std::move(choice), std::move(except)});
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
