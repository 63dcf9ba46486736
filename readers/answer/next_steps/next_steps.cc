#include "readers/answer/next_steps/next_steps.h"

#include <algorithm>
#include <utility>

#include "readers/answer/memory/answer_notes.h"
#include "readers/answer/memory/free_text.h"
#include "readers/answer/next_steps/run_again.h"
#include "text/shell_text.h"

namespace pymemrun {
namespace {

constexpr size_t kMostSteps = 3;

bool WasKilled(const Answer& answer) {
  return answer.has_no_end && answer.facts.footer.has_value() &&
         answer.facts.footer->end() != Footer::EXEC;
}

// Most of what is resident at the end is alive, and the user's own.
bool LivesOn(const Answer& answer) {
  const MemorySplit& end = answer.end.split;
  double own = 0;
  for (const PlaceHolding& holding : end.places) {
    if (holding.is_own && !holding.is_import) {
      own += holding.bytes - holding.pool_bytes;
    }
  }
  return !answer.has_no_end && own > 0.25 * end.rss_bytes;
}

// Files have more of the peak than any other part.
bool FilesAreMost(const Answer& answer) {
  const double files = answer.peak.split.file_bytes;
  const auto parts = PartsOf(answer.peak.split, answer);
  return files > 0 &&
         std::none_of(parts.begin(), parts.end(), [files](const auto& part) {
           return part.second > files;
         });
}

class Steps {
 public:
  Steps(const Answer& answer, const std::string& file)
      : answer_(answer), file_(file) {}

  // Words of pymemreport's: the command, then its options.
  void Report(std::vector<std::string> words, const char* what) {
    words.insert(words.begin(), "pymemreport");
    words.insert(words.begin() + 2, ShellWord(file_));
    steps_.push_back({std::move(words), what});
  }
  void ShowDump(const std::string& dump, const char* what) {
    steps_.push_back({{"pymemobj", dump, "suspects"}, what});
  }
  // A process that ends by os._exit, as multiprocessing's children do, makes no
  // dump when it exits.
  void RecordDump() {
    const bool exits =
        answer_.facts.footer->finalize() != Footer::NOT_FINALIZED;
    const Again again =
        Rerun(exits ? "exit" : "peak", "record what keeps objects alive");
    ShowDump(again.dump, "and show it");
  }
  Again Rerun(absl::string_view dump_at, const char* what) {
    Again again = RunAgain(answer_.facts, file_, dump_at);
    steps_.push_back({again.words, what});
    return again;
  }
  bool has_room() const { return steps_.size() < kMostSteps; }
  std::vector<NextCommand> Take() { return std::move(steps_); }

 private:
  const Answer& answer_;
  const std::string file_;
  std::vector<NextCommand> steps_;
};

}  // namespace

std::vector<NextCommand> NextSteps(const Answer& answer,
                                   const std::string& file,
                                   const std::string& last_dump) {
  Steps steps(answer, file);
  const bool has_heap = answer.facts.HasHeap();
  const bool can_rerun = CanRunAgain(answer.facts.header);
  if (!last_dump.empty()) {
    steps.ShowDump(ShellWord(last_dump), "what keeps objects alive");
  }
  if (has_heap && WasKilled(answer)) {
    steps.Report({"heap", "--at", "end", "--stacks"},
                 "what was alive, and who");
  } else if (last_dump.empty() && has_heap && can_rerun && LivesOn(answer)) {
    steps.RecordDump();
  }
  if (has_heap && MuchFreeAt(answer) != nullptr) {
    steps.Report({"timeline", "--by", "heap", "-o", "heap.svg"},
                 "RSS beside live blocks");
  }
  if (answer.has_pages && FilesAreMost(answer)) {
    steps.Report({"resident", "--by", "mapping"}, "which files have how much");
  }
  if (has_heap && steps.has_room() && !WasKilled(answer)) {
    steps.Report({"heap", "--stacks"}, "who called these lines");
  }
  if (!has_heap && can_rerun) {
    steps.Rerun("", "record who allocates, too");
  }
  if (!steps.has_room()) return steps.Take();
  if (answer.has_pages) {
    steps.Report({"timeline", "-o", "rss.svg"}, "RSS over time, a picture");
  } else if (answer.facts.HasCalls()) {
    steps.Report({"top"}, "where RSS was seen to grow");
  } else if (has_heap) {
    steps.Report({"history"}, "live bytes over time");
  } else {
    steps.Report({"summary"}, "what the run came to");
  }
  return steps.Take();
}

}  // namespace pymemrun
