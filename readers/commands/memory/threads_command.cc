#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/options/help_text.h"
#include "readers/places/place_table.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/replay/moments/run_moments.h"
#include "readers/replay/summary/facts_reader.h"
#include "readers/replay/threads/thread_replay.h"
#include "readers/replay/threads/thread_table.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"
#include "readers/run/reread_file.h"

namespace pymemrun {
namespace {

class ThreadsCommand final : public ReportCommand {
 public:
  ThreadsCommand()
      : ReportCommand(
            "threads", "which thread took the memory",
            "Lists the threads: what each added and released, what it had at "
            "the peak, and which of your lines holds most.\n\nGrowth is by "
            "page faults: each belongs to a thread, even one that does not "
            "hold the GIL. Where pages were scanned, only the live heap is "
            "known by thread. Renamed threads have their last names. The "
            "column rows counts a thread's logged events.") {}

  void AddOptions(CLI::App* app) override {
    needs_.Add(Recorded::kThreadMemory, {"--thread-attribution observed"});
    needs_.AddWith("--thread-attribution caused", Recorded::kFaults);
    needs_.AddWith("--thread-attribution observed", Recorded::kCalls);
    files_.AddOne(app);
    table_.Add(app, 20, "A row for each thread.", "threads");
    table_.AddSort(app);
    AddThread(app, &thread_);
    AddAttribution(app, &attribution_, "Default: caused.");
    AddOwn(app);
    files_.AddOutput(app);
    SetUsualOptions(app, {"--limit", "--thread", "--thread-attribution",
                          "--csv", "--json", "--output"});
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  TableOptions table_;
  std::string thread_;
  std::optional<Attribution> attribution_;
};

// The heap's moment has the name that the heading prints.
HeapMoment BlocksAt(const FoundMoment& at) {
  HeapMoment moment = at.OfBlocks();
  moment.name = at.name;
  return moment;
}

// The peak is found first. Then pages and blocks are replayed in one reading.
// The view by events needs another one.
int ThreadsCommand::Run(const Console& console, OutputBuffer* output) {
  RunReading run(*this, console);
  RereadFile* const file = run.file();
  const auto finder = run.ReadMoments();
  if (finder == nullptr) return run.code();
  int code = kExitOk;
  const auto peak = FindMoment(*finder, Moment(), file, console, &code);
  if (!peak.has_value()) return code;
  ThreadReplay replay(finder->RssPeak().time_us, finder->hindsight());
  HeapMoments heap({BlocksAt(*peak)});
  if (!file->Read({&replay, &heap})) return kExitFailed;
  ThreadFacts facts = {&replay, heap.has_heap_events() ? &heap : nullptr};
  // The profile belongs to this reader, which must outlive the table.
  std::unique_ptr<FactsReader> observed;
  if (attribution_ == Attribution::kObserved) {
    observed = FactsReader::ReadAgain(file, console, &code, "");
    if (observed == nullptr) return code;
    facts.observed = &observed->profile();
    facts.unseen_bytes = observed->UnseenBytes();
  }
  ThreadFilter keep(thread_, &replay.index());
  if (!run.HasThread(&keep)) return run.code();
  Table table = ThreadTable(facts, &keep, table_.made_limit());
  const auto all = table_.Choose(console, output, &table);
  if (!all.has_value()) return kExitUsage;
  table_.Print(ThreadHeading(facts), std::move(table), output);
  if (table_.as_text()) {
    output->AppendLines(table_.NotShown(*all, "thread", "threads"));
  }
  return std::max(code, run.code());
}

}  // namespace

std::unique_ptr<ReportCommand> NewThreadsCommand() {
  return std::make_unique<ThreadsCommand>();
}

}  // namespace pymemrun
