#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/heap/heap_replay.h"
#include "readers/moments/moment_reading.h"
#include "readers/moments/run_moments.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
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
            "at the peak, and the line of yours that brought most.\n\nGrowth "
            "is by page faults: each knows its thread, also one that does not "
            "hold the GIL. Where pages were scanned the live heap alone tells "
            "threads apart.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    table_.Add(app, 20, ": a row for each thread");
    AddOwn(app);
    files_.AddOutput(app);
  }
  std::string Problem() const override { return table_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  TableOptions table_;
};

// What was alive at the moment. Null: it is not known.
std::unique_ptr<HeapMoments> ReadLive(const FoundMoment& at, RereadFile* file) {
  HeapMoment moment = at.OfBlocks();
  moment.name = at.name;
  auto heap = std::make_unique<HeapMoments>(std::vector<HeapMoment>{moment});
  if (!file->Read(heap.get()) || !heap->has_heap_events()) return nullptr;
  return heap;
}

int ThreadsCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  const auto finder = RunMoments::Of(ReadingOf(file.get()));
  if (finder == nullptr) return kExitFailed;
  ThreadReplay replay(finder->RssPeak().time_us, finder->hindsight());
  if (!file->Read(&replay)) return kExitFailed;
  int code = kExitOk;
  const auto peak = FindMoment(*finder, Moment(), file.get(), console, &code);
  if (!peak.has_value()) return code;
  const auto heap = ReadLive(*peak, file.get());
  if (heap == nullptr && !KnowsPages(replay)) {
    console.Say(absl::StrCat(
        file->shown_name(),
        ": has neither page faults nor heap events: nobody saw which thread "
        "took memory"));
    return file->whole() ? kExitUsage : file->code();
  }
  if (table_.as_text()) output->AppendLines(ThreadHeading(replay, heap.get()));
  PrintTable(ThreadTable(replay, heap.get(), table_.limit()), table_.format(),
             output);
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewThreadsCommand() {
  return std::make_unique<ThreadsCommand>();
}

}  // namespace pymemrun
