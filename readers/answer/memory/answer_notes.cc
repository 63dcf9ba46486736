#include "readers/answer/memory/answer_notes.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/places/place_table.h"
#include "readers/run/follow_watch.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Names the free part: what it includes if only pages, or only blocks, were
// recorded.
absl::string_view FreeLabel(const Answer& answer) {
  if (answer.peak.heap == nullptr) return "heap, live and free";
  if (WasPaused(answer)) return "free, or not recorded";
  return answer.facts.header.heap_native() ? "free, kept by allocators"
                                           : "C code's heap, and free";
}

absl::string_view BeforeLabel(const Answer& answer) {
  return answer.facts.header.forked() ? "inherited from the parent"
                                      : "before tracing";
}

// " (nearly all by job.py:4)": the own line with most of the live blocks.
std::string MostLive(const MemorySplit& split, const NameOfPlace& name_of) {
  const PlaceHolding* most = nullptr;
  const auto blocks = [](const PlaceHolding& holding) {
    return holding.bytes - holding.file_bytes - holding.pool_bytes;
  };
  for (const PlaceHolding& holding : split.places) {
    if (!holding.is_own) continue;
    if (most == nullptr || blocks(holding) > blocks(*most)) most = &holding;
  }
  if (most == nullptr || blocks(*most) < 0.5) return "";
  // Above this share a figure would only repeat that of the part.
  constexpr double kNearlyAll = 0.95;
  const bool all =
      blocks(*most) >= kNearlyAll * (split.python_bytes + split.native_bytes);
  return absl::StrCat(" (", all ? "nearly all" : ShortBytes(blocks(*most)),
                      " by ", name_of(most->place), ")");
}

// "when the program ended", or an earlier moment.
std::string EndText(const Answer& answer) {
  const std::string time = HumanSeconds(answer.end.time_us);
  if (answer.end_unknown_us == 0) {
    return answer.has_no_end ? absl::StrCat("at the last record, ", time)
                             : "when the program ended";
  }
  return absl::StrCat("at ", time, ", ", HumanSeconds(answer.end_unknown_us),
                      " before the ",
                      answer.has_no_end ? "last record" : "program ended");
}

// What is missing, each with the option that records it.
std::string Unrecorded(const Answer& answer) {
  std::vector<std::string> missing;
  const Header& header = answer.facts.header;
  if (WasPaused(answer)) {
    missing.push_back("what was allocated while tracing was off");
  }
  // before_bytes without pages: the kernel's count of file pages was read.
  if (!answer.has_pages) {
    missing.push_back(
        answer.peak.split.before_bytes > 0
            ? "which pages are resident (--trace pages): files are as the "
              "kernel counts them"
            : "which pages are resident (--trace pages): RSS cannot be split");
  }
  if (!answer.facts.HasHeap()) {
    missing.push_back(header.page_scan()
                          ? "allocations (--heap sampled): no line has memory"
                          : "allocations (--heap sampled): memory is charged "
                            "to the line that touched it first");
  } else if (!header.heap_native()) {
    missing.push_back(
        "C code's own allocations (--native): numpy's and pandas' arrays have "
        "no line");
  }
  return absl::StrJoin(missing, "; ");
}

}  // namespace

std::vector<std::pair<absl::string_view, double>> PartsOf(
    const MemorySplit& split, const Answer& answer) {
  std::vector<std::pair<absl::string_view, double>> parts = {
      {"native heap", split.native_bytes},
      {"Python heap", split.python_bytes},
      {"pools of C libraries", split.pool_bytes},
      {FreeLabel(answer), split.free_bytes},
      {"files and code", split.file_bytes},
      {"written copies of files", split.copied_bytes},
      {BeforeLabel(answer), split.before_bytes},
      {"since the fork, untraced", split.since_fork_bytes},
      {"stacks of threads", split.stack_bytes},
      {"tracing itself", split.tracing_bytes},
      {"unattributed", split.unattributed_bytes}};
  // Estimates may exceed what is there.
  const double rough = std::max<double>(
      kRoughBytes,
      split.unattributed_bytes < 0 ? 2 * split.heap_error_bytes : 0);
  const auto is_nothing = [rough](const auto& part) {
    return std::fabs(part.second) <
           (part.first == "unattributed" ? rough : 0.5);
  };
  parts.erase(std::remove_if(parts.begin(), parts.end(), is_nothing),
              parts.end());
  return parts;
}

// Lines come most bytes first; those below a hundredth of the first are left
// out.
std::string InheritedText(const Answer& answer, const NameOfPlace& name_of) {
  constexpr size_t kMostLines = 3;
  std::vector<std::string> lines;
  for (const PlaceHolding& holding : answer.inherited) {
    if (lines.size() == kMostLines ||
        holding.bytes < 0.01 * answer.inherited[0].bytes) {
      break;
    }
    lines.push_back(absl::StrCat(ShortBytes(holding.bytes), " by ",
                                 name_of(holding.place)));
  }
  if (lines.empty()) return "";
  return absl::StrCat(
      "Live in the parent when it forked: ", absl::StrJoin(lines, "; "), ".");
}

// Both heaps are one part here, the live blocks.
std::string StillThere(const Answer& answer, const NameOfPlace& name_of) {
  MemorySplit end = answer.end.split;
  if (end.rss_bytes <= 0) return "";
  std::vector<std::string> parts;
  const double live = end.python_bytes + end.native_bytes;
  if (live >= 0.5) {
    parts.push_back(
        absl::StrCat(ShortBytes(live), " live blocks", MostLive(end, name_of)));
  }
  end.python_bytes = end.native_bytes = 0;
  for (const auto& [name, bytes] : PartsOf(end, answer)) {
    parts.push_back(absl::StrCat(ShortBytes(bytes), " ", name));
  }
  return absl::StrCat(
      "Still resident ", EndText(answer), ": ", ShortBytes(end.rss_bytes),
      parts.empty() ? "" : ", that is ", absl::StrJoin(parts, "; "), ".");
}

// Lost heap and page events make sums wrong; other losses do not change this
// answer.
std::string LossText(const Answer& answer) {
  const RunFacts& facts = answer.facts;
  const uint64_t lost = facts.Heap().lost + facts.Pages().samples_lost;
  std::vector<std::string> losses;
  if (lost > 0) {
    losses.push_back(
        absl::StrCat(Counted(lost, "event was", "events were"),
                     " lost, as the disk was full or the collector too slow"));
  }
  if (facts.damages > 0) {
    losses.push_back(absl::StrCat(
        "The file is damaged: ", Counted(facts.damages, "part"), " of it, ",
        facts.damages == 1 ? "" : "the first ", "after ",
        HumanSeconds(facts.damaged_us), ", could not be read"));
  }
  if (losses.empty()) return "";
  return absl::StrCat(absl::StrJoin(losses, ". "),
                      ". The figures here are wrong.");
}

// The header's pid and start time tell whether the program still runs. Even
// then a file that is not being written was cut off, or is a copy.
std::string CutText(const Answer& answer) {
  if (answer.facts.footer.has_value()) return "";
  const std::string time = HumanSeconds(answer.facts.DurationUs());
  switch (StateOf(answer.facts.header)) {
    case RunState::kRuns:
      if (answer.writing != Writing::kNo) {
        return absl::StrCat(
            "The program is still running; this report ends at ", time, ".");
      }
      [[fallthrough]];
    case RunState::kDead:
      return absl::StrCat("The recording ends at ", time,
                          ", before the program ended: its collector was "
                          "killed, or the file was cut off.");
    default:
      return absl::StrCat("The recording ends at ", time,
                          " without an end: the program was still running, the "
                          "collector was killed, or the file was cut off.");
  }
}

std::string UnrecordedText(const Answer& answer) {
  const std::string unrecorded = Unrecorded(answer);
  return unrecorded.empty() ? ""
                            : absl::StrCat("Not recorded: ", unrecorded, ".");
}

std::string AlsoRecorded(const Answer& answer) {
  std::vector<std::string> commands;
  const RunFacts& facts = answer.facts;
  if (facts.Kept<GilRecording>().count > 0) commands = {"gil"};
  if (facts.Kept<StateRecording>().count > 0) commands.push_back("states");
  if (facts.Kept<CounterPlan>().count > 0) commands.push_back("counters");
  if (facts.Kept<TaskRecording>().count > 0) commands.push_back("tasks");
  return commands.empty() ? ""
                          : absl::StrCat("Recorded too, see pymemreport: ",
                                         absl::StrJoin(commands, ", "), ".");
}

namespace {

// Other own lines that hold as much, within the error of the difference or a
// hundredth. `first` holds most of them.
std::vector<const PlaceHolding*> EqualsOf(const MemorySplit& split,
                                          const PlaceHolding& first) {
  constexpr double kEqualShare = 0.01;
  std::vector<const PlaceHolding*> equals;
  for (const PlaceHolding& other : split.places) {
    const double error = std::sqrt(std::max(first.variance, 0.0) +
                                   std::max(other.variance, 0.0));
    if (other.is_own && &other != &first &&
        other.is_import == first.is_import &&
        first.bytes - other.bytes <=
            std::max(error, kEqualShare * first.bytes)) {
      equals.push_back(&other);
    }
  }
  return equals;
}

// "job.py:4, job.py:9 and 3 other lines": a single other line is named.
std::string NamesOf(const PlaceHolding& first,
                    const std::vector<const PlaceHolding*>& others,
                    const NameOfPlace& name_of) {
  constexpr size_t kMostNames = 2;
  std::string names = name_of(first.place);
  const size_t named = others.size() <= kMostNames ? others.size() - 1 : 1;
  for (size_t i = 0; i < named; ++i) {
    absl::StrAppend(&names, ", ", name_of(others[i]->place));
  }
  return absl::StrCat(names, " and ",
                      others.size() <= kMostNames
                          ? name_of(others.back()->place)
                          : Counted(others.size() - named, "other line"));
}

// The call that did it: ", in numpy ones".
std::string DoneBy(const PlaceHolding& first) {
  const std::string called =
      first.called.empty() ? ""
                           : absl::StrCat(", in ", TerminalText(first.called));
  if (first.waits_bytes > first.bytes / 2) {
    return absl::StrCat(
        called, ", whose threads allocated while this line waited (inferred)");
  }
  if (first.thread.empty() || first.thread == "MainThread") return called;
  return absl::StrCat(called, ", on thread ", TerminalText(first.thread));
}

}  // namespace

std::string HoldsText(const Answer& answer, const PlaceHolding& first,
                      const NameOfPlace& name_of) {
  const MemorySplit& split = answer.peak.split;
  const auto equals = EqualsOf(split, first);
  if (!equals.empty()) {
    return absl::StrCat(NamesOf(first, equals, name_of), " hold about ",
                        ShortBytes(first.bytes), " each.");
  }
  const bool in_pool = first.pool_bytes > first.bytes / 2;
  // Scans and faults do not know who uses a pool: only which line ran, or
  // touched the page first.
  const absl::string_view does = !in_pool ? " holds "
                                 : answer.facts.header.page_scan()
                                     ? " was running while this was added: "
                                     : " was the first to use ";
  return absl::StrCat(
      name_of(first.place), does, ShortBytes(first.bytes), " of it (",
      Percent(first.bytes / split.rss_bytes), ")",
      in_pool ? absl::StrCat(", kept by ", TerminalText(first.kept_by)) : "",
      DoneBy(first), ".");
}

// Sums over places, as the parts of MemorySplit mix own and library code.
LargestPart LargestPartOf(const Answer& answer, double line_bytes) {
  const MemorySplit& split = answer.peak.split;
  double libraries = 0, imports = 0, files = split.file_bytes;
  for (const PlaceHolding& holding : split.places) {
    const double bytes = holding.bytes - holding.pool_bytes;
    if (!holding.is_own) {
      libraries += bytes - holding.file_bytes;
    } else if (holding.is_import) {
      // Their code came with them.
      imports += bytes;
      files -= holding.file_bytes;
    }
  }
  std::vector<std::pair<double, absl::string_view>> parts = {
      {libraries, "is held by library code only"},
      {imports, "came with imported modules"},
      {files, "is pages of files and code"},
      {split.before_bytes, answer.facts.header.forked()
                               ? "is inherited from the parent"
                               : "was there before tracing"},
      {split.since_fork_bytes, "was added between the fork and the first call"},
      {split.unattributed_bytes, "is unattributed"},
      {split.pool_bytes, "is in pools of C libraries"},
      {split.stack_bytes, "is stacks of threads"}};
  if (answer.peak.heap != nullptr) {
    const bool all = !WasPaused(answer) && answer.facts.header.heap_native();
    parts.emplace_back(split.free_bytes,
                       all ? "is free memory that allocators keep"
                           : "is free memory, or was not recorded");
  }
  const auto most = std::max_element(parts.begin(), parts.end());
  if (most->first <= line_bytes) return {};
  return {most->first, std::string(most->second)};
}

std::string GrowingText(const Answer& answer, const NameOfPlace& name_of) {
  constexpr size_t kMostLines = 2;
  std::vector<std::string> lines;
  for (const GrowingLine& line : answer.growing) {
    if (lines.size() == kMostLines) break;
    const GrowthFit& fit = line.fit;
    const double seconds = static_cast<double>(fit.span_us) / 1e6;
    lines.push_back(absl::StrCat(name_of(line.place), ", +",
                                 ShortBytes(fit.gained_bytes), " (error ",
                                 ShortBytes(fit.error_bytes), ") in the last ",
                                 HumanSeconds(fit.span_us), ", ",
                                 ShortBytes(fit.gained_bytes / seconds), "/s"));
  }
  if (lines.empty()) return "";
  return absl::StrCat("Growing at the end: ", absl::StrJoin(lines, "; "), ".");
}

// Threads are sorted by their bytes, so the loop ends at the first small one.
// One without a name says nothing.
std::string ThreadsText(const Answer& answer) {
  constexpr size_t kMostThreads = 4;
  constexpr double kLeastShare = 0.1, kLeastBytes = 1 << 20;
  const auto& threads = answer.peak.split.threads;
  double all = 0;
  for (const auto& [name, bytes] : threads) all += bytes;
  std::vector<std::string> shown;
  for (const auto& [name, bytes] : threads) {
    if (shown.size() == kMostThreads || name.empty() ||
        bytes < std::max(kLeastBytes, kLeastShare * all)) {
      break;
    }
    shown.push_back(absl::StrCat(TerminalText(name), " ", ShortBytes(bytes)));
  }
  if (shown.size() < 2) return "";
  return absl::StrCat("By thread: ", absl::StrJoin(shown, ", "),
                      threads.size() > shown.size() ? " ..." : ".");
}

}  // namespace pymemrun
