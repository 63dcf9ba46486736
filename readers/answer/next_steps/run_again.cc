#include "readers/answer/next_steps/run_again.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "text/shell_text.h"

namespace pymemrun {
namespace {

using Words = std::vector<std::string>;

void Add(absl::string_view option, absl::string_view value, Words* words) {
  words->insert(words->end(), {std::string(option), ShellArgument(value)});
}

// What was recorded, where it is not the usual.
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
  // What it is by itself, see --page-period.
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

// Which events of calls were logged.
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
  // Else they are there in any case.
  if (filters.stacks() && filters.min_drss_bytes() == 0) {
    words->emplace_back("--stacks");
  }
  add_each("--include", filters.include());
  add_each("--exclude", filters.exclude());
  add_each("--function", filters.function());
  add_each("--thread", filters.thread());
}

void AddProgram(const Header& header, Words* words) {
  constexpr int kMostWords = 32;
  for (int i = 1; i < header.argv_size(); ++i) {
    words->push_back(i > kMostWords ? "..." : ShellArgument(header.argv(i)));
    if (i > kMostWords) break;
  }
  if (header.argv_size() >= 2) {
    const bool was_read = header.argv(1) == "-";  // from standard input
    if (was_read) words->insert(words->end(), {"<", "SCRIPT"});
    return;
  }
  words->push_back(header.script().empty() ? "SCRIPT"
                                           : ShellWord(header.script()));
}

// "run" where the run has the usual name in this folder, else "job-again" of
// "job.pb". A child's file has its number: "run.17.pb".
std::string StemOf(const Header& header, const std::string& file) {
  absl::string_view stem = absl::StripSuffix(file, ".pb");
  if (header.forked()) {
    stem = absl::StripSuffix(stem, absl::StrCat(".", header.pid()));
  }
  const bool is_usual = stem == "run" || stem == "./run" || stem == "-";
  return is_usual ? "run" : absl::StrCat(stem, "-again");
}

}  // namespace

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
  // Only a pattern names the dump of a child that is yet to come.
  return {std::move(words),
          ShellWord(stem) + (header.forked() ? ".*.obj.pb" : ".obj.pb")};
}

bool CanRunAgain(const Header& header) {
  for (const std::string& word : header.argv()) {
    if (absl::StartsWith(word, "from multiprocessing.")) return false;
  }
  return true;
}

}  // namespace pymemrun
