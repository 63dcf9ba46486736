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
  std::string Problem() const override { return table_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  // False: what was asked for is not there, which has been said.
  bool HasWhatIsAsked(const ThreadFacts& facts, const RereadFile& file,
                      const Console& console) const;

  TableOptions table_;
  std::string thread_;
  std::optional<Attribution> attribution_;
};

HeapMoment BlocksAt(const FoundMoment& at) {
  HeapMoment moment = at.OfBlocks();
  moment.name = at.name;
  return moment;
}

bool ThreadsCommand::HasWhatIsAsked(const ThreadFacts& facts,
                                    const RereadFile& file,
                                    const Console& console) const {
  const bool is_caused = facts.replay->KnowsPages();
  if (attribution_ == Attribution::kCaused && !is_caused) {
    SayNoCause(file.shown_name(), console);
    return false;
  }
  if (facts.knows_growth() || facts.heap != nullptr) return true;
  console.Say(absl::StrCat(
      file.shown_name(),
      ": has neither page faults nor heap events: nobody saw which thread "
      "took memory"));
  return false;
}

// What events saw, of a run with calls. Null: there is nothing, which has been
// said.
std::unique_ptr<FactsReader> ReadObserved(RereadFile* file,
                                          const Console& console, int* code) {
  auto facts = FactsReader::ReadAgain(file, console, code, "");
  if (facts == nullptr || facts->HasCalls()) return facts;
  console.Say(
      absl::StrCat(file->shown_name(),
                   ": has no calls: the run was not made with --trace calls"));
  *code = std::max(*code, kExitUsage);
  return nullptr;
}

int ThreadsCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  const auto finder = RunMoments::Of(ReadingOf(file.get()));
  if (finder == nullptr) return kExitFailed;
  int code = kExitOk;
  const auto peak = FindMoment(*finder, Moment(), file.get(), console, &code);
  if (!peak.has_value()) return code;
  ThreadReplay replay(finder->RssPeak().time_us, finder->hindsight());
  HeapMoments heap({BlocksAt(*peak)});
  if (!file->Read({&replay, &heap})) return kExitFailed;
  ThreadFacts facts = {&replay, heap.has_heap_events() ? &heap : nullptr};
  std::unique_ptr<FactsReader> observed;
  if (attribution_ == Attribution::kObserved) {
    observed = ReadObserved(file.get(), console, &code);
    if (observed == nullptr) return code;
    facts.observed = &observed->profile();
    facts.unseen_bytes = observed->UnseenBytes();
  }
  if (!HasWhatIsAsked(facts, *file, console)) {
    return file->whole() ? kExitUsage : file->code();
  }
  ThreadFilter keep(thread_, &replay.index());
  if (SayNoThread(&keep, file->shown_name(), console)) return kExitUsage;
  Table table = ThreadTable(facts, &keep, table_.limit());
  if (table_.as_text()) {
    output->AppendLines(ThreadHeading(facts));
    DropRough(&table);
    DropEmptyColumns(&table);
  }
  PrintTable(table, table_.format(), output);
  return std::max(code, file->code());
}

}  // namespace

std::unique_ptr<ReportCommand> NewThreadsCommand() {
  return std::make_unique<ThreadsCommand>();
}

}  // namespace pymemrun
