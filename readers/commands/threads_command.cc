#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/heap/heap_replay.h"
#include "readers/moments/moment_reading.h"
#include "readers/moments/run_moments.h"
#include "readers/places/rough_rows.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"
#include "readers/run/reread_file.h"
#include "readers/summary/facts_reader.h"
#include "readers/threads/thread_replay.h"
#include "readers/threads/thread_table.h"

namespace pymemrun {
namespace {

class ThreadsCommand final : public ReportCommand {
 public:
  ThreadsCommand()
      : ReportCommand(
            "threads", "which thread took the memory",
            "Lists the threads: what each brought and gave back, what it had "
            "at the peak, and your line that holds most.\n\nGrowth "
            "is by page faults: each knows its thread, also one that does not "
            "hold the GIL. Where pages were scanned the live heap alone tells "
            "threads apart. Renamed threads have their last names. The column "
            "rows counts the logged events of a thread.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    table_.Add(app, 20, ": a row for each thread");
    AddThread(app, &thread_);
    AddAttribution(app, &attribution_, "Default: caused.");
    AddOwn(app);
    files_.AddOutput(app);
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  TableOptions table_;
  std::string thread_;
  std::optional<Attribution> attribution_;
};

HeapMoment BlocksAt(const FoundMoment& at) {
  HeapMoment moment = at.OfBlocks();
  moment.name = at.name;
  return moment;
}

// What events saw, of a run with calls. Null: there is nothing, which has been
// said.
std::unique_ptr<FactsReader> ReadObserved(RunReading* run) {
  int code = kExitOk;
  auto facts = FactsReader::ReadAgain(run->file(), run->console(), &code, "");
  run->Fail(code);
  if (facts == nullptr || run->Has(facts->HasCalls(), lacks::kCalls)) {
    return facts;
  }
  return nullptr;
}

int ThreadsCommand::Run(const Console& console, OutputBuffer* output) {
  RunReading run(files_.paths[0], console);
  RereadFile* const file = run.file();
  if (file == nullptr) return run.code();
  const auto finder = RunMoments::Of(ReadingOf(file));
  if (finder == nullptr) return kExitFailed;
  int code = kExitOk;
  const auto peak = FindMoment(*finder, Moment(), file, console, &code);
  if (!peak.has_value()) return code;
  ThreadReplay replay(finder->RssPeak().time_us, finder->hindsight());
  HeapMoments heap({BlocksAt(*peak)});
  if (!file->Read({&replay, &heap})) return kExitFailed;
  ThreadFacts facts = {&replay, heap.has_heap_events() ? &heap : nullptr};
  std::unique_ptr<FactsReader> observed;
  if (attribution_ == Attribution::kObserved) {
    observed = ReadObserved(&run);
    if (observed == nullptr) return run.code();
    facts.observed = &observed->profile();
    facts.unseen_bytes = observed->UnseenBytes();
  }
  if (attribution_ == Attribution::kCaused && !replay.KnowsPages()) {
    SayNoCause(file->shown_name(), console);
    return file->whole() ? kExitUsage : run.code();
  }
  ThreadFilter keep(thread_, &replay.index());
  if (!run.Has(facts.knows_growth() || facts.heap != nullptr,
               lacks::kMemoryOfThreads) ||
      !run.HasThread(&keep)) {
    return run.code();
  }
  table_.Print(ThreadHeading(facts), ThreadTable(facts, &keep, table_.limit()),
               output);
  return std::max(code, run.code());
}

}  // namespace

std::unique_ptr<ReportCommand> NewThreadsCommand() {
  return std::make_unique<ThreadsCommand>();
}

}  // namespace pymemrun
