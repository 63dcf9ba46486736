// Reads a whole run file for its facts. Used by the commands `summary` and
// `top`.
#ifndef PYMEMRUN_READERS_REPLAY_SUMMARY_FACTS_READER_H_
#define PYMEMRUN_READERS_REPLAY_SUMMARY_FACTS_READER_H_

#include <memory>
#include <optional>
#include <string>

#include "readers/replay/growth/profile_table.h"
#include "readers/replay/summary/run_facts.h"
#include "readers/run/console.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// One file's facts, what was told of its damage, and how reading it ended.
class FactsReader final : public RunFacts {
 public:
  // Reads `path` wholly. Null: it cannot be opened, or holds nothing readable;
  // *code becomes at least what the program is to exit with. `threads`: whose
  // rows are charged to places; a run without them is null, too.
  static std::unique_ptr<FactsReader> Read(const std::string& path,
                                           const Console& console, int* code,
                                           const std::string& threads = "");
  // The same of a file that was read before, as `file` has said. `tasks`, if
  // any: their steps, to tell rows apart by.
  // `range`: rows at other times are charged to no place.
  static std::unique_ptr<FactsReader> ReadAgain(
      RereadFile* file, const Console& console, int* code,
      const std::string& threads, const TaskStepsReader* tasks = nullptr,
      const TimeRange& range = {});

  void OnDamage(const StreamReader::Damage& damage) override {
    if (teller_.has_value()) teller_->Say(damage);
  }
  // Adds what tracing itself cost.
  void AddCost(OwnCost* cost) const;
  // For a terminal.
  const std::string& shown_name() const { return shown_name_; }
  uint64_t file_bytes() const { return file_bytes_; }

 private:
  FactsReader(const std::string& shown_name, const std::string& threads)
      : shown_name_(shown_name) {
    if (!threads.empty()) KeepThreads(threads);
  }
  // Not: it has been said.
  bool HasThreads(const std::string& threads, const Console& console,
                  int* code) const;

  const std::string shown_name_;
  std::optional<DamageTeller> teller_;
  uint64_t file_bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_SUMMARY_FACTS_READER_H_
