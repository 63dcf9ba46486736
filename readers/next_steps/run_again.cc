#include "readers/next_steps/run_again.h"

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
  if (header.heap() == HEAP_ALL) Add("--heap", "all", words);
  if (header.heap() != HEAP_OFF && !header.heap_native()) {
    words->emplace_back("--no-native");
  }
}

void AddFilters(const Header& header, Words* words) {
  const Filters& filters = header.filters();
  if (!header.calls_off() && filters.min_drss_bytes() != header.page_bytes()) {
    Add("--min-drss", absl::StrCat(filters.min_drss_bytes()), words);
  }
  for (const std::string& glob : filters.include()) {
    Add("--include", glob, words);
  }
  for (const std::string& glob : filters.exclude()) {
    Add("--exclude", glob, words);
  }
  for (const std::string& glob : filters.function()) {
    Add("--function", glob, words);
  }
  for (const std::string& glob : filters.thread()) {
    Add("--thread", glob, words);
  }
  if (filters.paused()) words->emplace_back("--paused");
}

void AddProgram(const Header& header, Words* words) {
  constexpr int kMostWords = 32;
  for (int i = 1; i < header.argv_size(); ++i) {
    words->push_back(i > kMostWords ? "..." : ShellArgument(header.argv(i)));
    if (i > kMostWords) break;
  }
  if (header.argv_size() >= 2) return;
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
  AddFilters(header, &words);
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
