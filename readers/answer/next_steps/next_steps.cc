#include "readers/answer/next_steps/next_steps.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "readers/answer/memory/answer_notes.h"
#include "readers/answer/memory/free_text.h"
#include "text/shell_text.h"

namespace pymemrun {
namespace {

constexpr size_t kMostSteps = 3;

// The collector wrote a footer, but no end of the program: a signal killed it,
// or it called _exit() or abort().
bool WasKilled(const Answer& answer) {
  return answer.has_no_end && answer.facts.footer.has_value() &&
         answer.facts.footer->end() != Footer::EXEC;
}

// Whether most of what is resident at the end is alive, and allocated by own
// lines.
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

// Whether files are the largest part of the peak.
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

  // Arguments of pymemreport: the command, then its options.
  void Report(std::vector<std::string> words, const char* what) {
    words.insert(words.begin(), "pymemreport");
    words.insert(words.begin() + 2, ShellWord(file_));
    steps_.push_back({std::move(words), what});
  }
  void ShowDump(const std::string& dump, const char* what) {
    steps_.push_back({{"pymemobj", dump, "suspects"}, what});
  }
  // A process that ends by os._exit, as children of multiprocessing do, makes
  // no dump at its end.
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

// The most specific suggestions come first, as only three are shown. The last
// one always applies.
std::vector<NextCommand> NextSteps(const Answer& answer,
                                   const std::string& file,
                                   const std::string& last_dump) {
  Steps steps(answer, file);
  const bool has_heap = answer.facts.HasHeap();
  const bool can_rerun = CanRunAgain(answer.facts.header);
  if (!last_dump.empty()) {
    steps.ShowDump(ShellWord(last_dump), "what keeps objects alive");
  }
  // A process that is killed makes no dump at its end, so none is suggested.
  if (has_heap && WasKilled(answer)) {
    steps.Report({"heap", "--at", "end", "--stacks"},
                 "what was alive, and who allocated it");
  } else if (last_dump.empty() && has_heap && can_rerun && LivesOn(answer)) {
    steps.RecordDump();
  }
  if (has_heap && MuchFreeAt(answer) != nullptr) {
    steps.Report({"timeline", "--by", "heap", "-o", "heap.svg"},
                 "RSS beside live blocks");
  }
  if (answer.has_pages && FilesAreMost(answer)) {
    steps.Report({"resident", "--by", "mapping"}, "how much each file takes");
  }
  if (has_heap && steps.has_room() && !WasKilled(answer)) {
    steps.Report({"heap", "--stacks"}, "who called these lines");
  }
  if (!has_heap && can_rerun) {
    steps.Rerun("", "record which lines allocate, too");
  }
  if (!steps.has_room()) return steps.Take();
  if (answer.has_pages) {
    steps.Report({"timeline", "-o", "rss.svg"}, "RSS over time, a picture");
  } else if (answer.facts.HasCalls()) {
    steps.Report({"top"}, "where RSS was seen to grow");
  } else if (has_heap) {
    steps.Report({"history"}, "live bytes over time");
  } else {
    steps.Report({"summary"}, "a summary of the run");
  }
  return steps.Take();
}

namespace {

using Words = std::vector<std::string>;

void Add(absl::string_view option, absl::string_view value, Words* words) {
  words->insert(words->end(), {std::string(option), ShellArgument(value)});
}

// Adds what was recorded, unless it is the default.
void AddKinds(const RunFacts& facts, Words* words) {
  const Header& header = facts.header;
  const bool has_pages = header.page_period() != 0 || header.page_scan();
  Words kinds;
  if (!header.calls_off()) kinds.emplace_back("calls");
  if (has_pages) kinds.emplace_back("pages");
  if (facts.Kept<GilRecording>().count > 0) kinds.emplace_back("gil");
  if (facts.Kept<StateRecording>().count > 0) kinds.emplace_back("states");
  if (facts.Kept<TaskRecording>().count > 0) kinds.emplace_back("tasks");
  if (facts.Kept<CounterPlan>().count > 0) kinds.emplace_back("counters");
  const std::string list = absl::StrJoin(kinds, ",");
  if (list == "pages" && header.page_scan()) {
    words->emplace_back("--light");
  } else if (list != "calls,pages") {
    Add("--trace", list.empty() ? "none" : list, words);
  }
  // Without the option the value is chosen, see --page-period.
  if (header.page_weight() > 1) {
    Add("--page-period", absl::StrCat(header.page_weight()), words);
  } else if (header.page_period() == 1) {
    Add("--page-period", "1", words);
  }
  if (header.heap() == HEAP_ALL) Add("--heap", "all", words);
  if (header.heap() != HEAP_OFF && !header.heap_native()) {
    words->emplace_back("--no-native");
  }
}

// "call,return". Empty: all kinds.
std::string EventsOf(const Filters& filters) {
  if (filters.kinds_size() == What_ARRAYSIZE) return "";
  Words names;
  for (const int kind : filters.kinds()) {
    names.push_back(absl::AsciiStrToLower(What_Name(static_cast<What>(kind))));
  }
  return absl::StrJoin(names, ",");
}

// Adds the filters of call events.
void AddFilters(const Header& header, Words* words) {
  constexpr uint32_t kUsualContext = 1;
  const Filters& filters = header.filters();
  const auto add_number = [&](const char* option, uint64_t value,
                              uint64_t usual) {
    if (value != usual) Add(option, absl::StrCat(value), words);
  };
  const auto add_each = [&](const char* option, const auto& globs) {
    for (const std::string& glob : globs) Add(option, glob, words);
  };
  add_number("--min-drss", filters.min_drss_bytes(), header.page_bytes());
  add_number("--min-call-drss", filters.min_call_drss_bytes(), 0);
  if (filters.drss_since_logged()) Add("--drss-since", "logged", words);
  add_number("--context", filters.context(), kUsualContext);
  const std::string events = EventsOf(filters);
  if (!events.empty()) Add("--events", events, words);
  // Otherwise stacks are recorded anyway.
  if (filters.stacks() && filters.min_drss_bytes() == 0) {
    words->emplace_back("--stacks");
  }
  add_each("--include", filters.include());
  add_each("--exclude", filters.exclude());
  add_each("--function", filters.function());
  add_each("--thread", filters.thread());
}

// The script and its arguments, at most some of them: a command that a user
// copies by hand.
void AddProgram(const Header& header, Words* words) {
  constexpr int kMostWords = 32;
  for (int i = 1; i < header.argv_size(); ++i) {
    words->push_back(i > kMostWords ? "..." : ShellArgument(header.argv(i)));
    if (i > kMostWords) break;
  }
  // argv[0] is the interpreter. Without more words the script's name may still
  // be known.
  if (header.argv_size() >= 2) {
    const bool was_read = header.argv(1) == "-";  // from standard input
    if (was_read) words->insert(words->end(), {"<", "SCRIPT"});
    return;
  }
  words->push_back(header.script().empty() ? "SCRIPT"
                                           : ShellWord(header.script()));
}

// "run" if the run has its default name in this folder, otherwise "job-again"
// for "job.pb". A child's file has its pid in the name: "run.17.pb".
std::string StemOf(const Header& header, const std::string& file) {
  absl::string_view stem = absl::StripSuffix(file, ".pb");
  if (header.forked()) {
    stem = absl::StripSuffix(stem, absl::StrCat(".", header.pid()));
  }
  const bool is_usual = stem == "run" || stem == "./run" || stem == "-";
  return is_usual ? "run" : absl::StrCat(stem, "-again");
}

}  // namespace

// Rebuilds the command line from the header. Only values that differ from the
// defaults become options.
Again RunAgain(const RunFacts& facts, const std::string& file,
               absl::string_view dump_at) {
  const Header& header = facts.header;
  const std::string stem = StemOf(header, file);
  Words words = {"pymemrun"};
  if (!header.python().empty()) Add("--python", header.python(), &words);
  AddKinds(facts, &words);
  if (!header.calls_off()) AddFilters(header, &words);
  if (header.filters().paused()) words.emplace_back("--paused");
  if (!dump_at.empty()) Add("--objects", dump_at, &words);
  if (stem != "run") {
    words.insert(words.end(), {"--output", ShellWord(stem + ".pb"), "--force"});
  }
  AddProgram(header, &words);
  // The dump of a future child can only be named by a pattern.
  return {std::move(words),
          ShellWord(stem) + (header.forked() ? ".*.obj.pb" : ".obj.pb")};
}

// multiprocessing starts its helpers with "-c 'from multiprocessing. ...'".
// Such a command depends on pipes of its parent.
bool CanRunAgain(const Header& header) {
  for (const std::string& word : header.argv()) {
    if (absl::StartsWith(word, "from multiprocessing.")) return false;
  }
  return true;
}

}  // namespace pymemrun
