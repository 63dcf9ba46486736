// Reads all facts of a run file. Used by the commands `summary` and `top`.
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

// The facts of a file, the messages about its damage, and the exit status.
class FactsReader final : public RunFacts {
 public:
  // Reads the whole file. Returns null if it cannot be opened, or has nothing
  // readable; *code is then at least the exit status. `threads`: only their
  // rows are charged to places; returns null, too, if the run lacks them.
  static std::unique_ptr<FactsReader> Read(const std::string& path,
                                           const Console& console, int* code,
                                           const std::string& threads = "");
  // The same for a file that was read before. `tasks`: sums up rows by task,
  // too, unless null. `range`: rows outside it are charged to no place.
  static std::unique_ptr<FactsReader> ReadAgain(
      RereadFile* file, const Console& console, int* code,
      const std::string& threads, const TaskStepsReader* tasks = nullptr,
      const TimeRange& range = {});

  void OnDamage(const StreamReader::Damage& damage) override {
    if (teller_.has_value()) teller_->Say(damage);
  }
  // Adds the cost of tracing itself.
  void AddCost(OwnCost* cost) const;
  // Escaped for a terminal.
  const std::string& shown_name() const { return shown_name_; }
  uint64_t file_bytes() const { return file_bytes_; }

 private:
  FactsReader(const std::string& shown_name, const std::string& threads)
      : shown_name_(shown_name) {
    if (!threads.empty()) KeepThreads(threads);
  }
  // Whether the run has these threads. Prints a message if not.
  bool HasThreads(const std::string& threads, const Console& console,
                  int* code) const;

  const std::string shown_name_;
  std::optional<DamageTeller> teller_;
  uint64_t file_bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_SUMMARY_FACTS_READER_H_
