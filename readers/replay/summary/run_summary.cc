#include "readers/replay/summary/run_summary.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "format/summary/gauge_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Files that have no footer yet, or never get one, cannot be told apart.
std::string DescribeEnd(const RunFacts& facts) {
  if (!facts.footer.has_value()) {
    return "not known: the file has no footer; the run did not end cleanly, or "
           "is still going on";
  }
  const int status = facts.footer->exit_status();
  switch (facts.footer->end()) {
    case Footer::EXIT:
      return absl::StrCat("exit status ", status);
    case Footer::SIGNAL:
      return absl::StrCat("killed by signal ", status);
    case Footer::EXEC:
      return "called exec; --follow all records the new program if it runs "
             "Python";
    case Footer::KILLED_OR_EXITED:
      return "killed, or ended without running exit handlers";
    default:
      return "unknown";
  }
}

std::string DescribeCommand(const Header& header) {
  std::string text =
      header.argv_size() == 0
          ? TerminalText(header.script())
          : absl::StrJoin(header.argv(), " ",
                          [](std::string* out, const std::string& argument) {
                            AppendTerminalText(argument, out);
                          });
  return text.empty() ? "not recorded" : text;
}

// Of sys.version only the number is shown, which ends at the first blank.
std::string DescribeStart(const Header& header) {
  const absl::Time start =
      absl::FromUnixNanos(static_cast<int64_t>(header.start_realtime_ns()));
  const absl::string_view version(header.python_version());
  return absl::StrCat(
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", start, absl::UTCTimeZone()),
      ", pid ", header.pid(), " on ", TerminalText(header.host()), ", ",
      TerminalText(header.python()), " ",
      TerminalText(version.substr(0, version.find(' '))),
      header.preloaded() ? " (tracer preloaded)" : "");
}

// A word with the patterns it was given, if any.
template <typename Globs>
void AddGlobs(absl::string_view name, const Globs& globs,
              std::vector<std::string>* parts) {
  if (globs.empty()) return;
  parts->push_back(absl::StrCat(
      name, " ", absl::StrJoin(globs, " ", [](std::string* out, const auto& g) {
        AppendTerminalText(g, out);
      })));
}

// The launcher's filters decide which events became rows.
std::string DescribeFilters(const Filters& filters) {
  std::vector<std::string> parts;
  if (filters.min_drss_bytes() > 0) {
    parts.push_back(absl::StrCat(
        "dRSS of ", HumanBytes(filters.min_drss_bytes()), " or more since the ",
        filters.drss_since_logged() ? "last logged event" : "event before"));
  }
  const std::string kinds = KindNames(filters);
  if (!kinds.empty()) parts.push_back(absl::StrCat("events ", kinds));
  AddGlobs("include", filters.include(), &parts);
  AddGlobs("exclude", filters.exclude(), &parts);
  AddGlobs("function", filters.function(), &parts);
  AddGlobs("thread", filters.thread(), &parts);
  if (EveryEventLogged(filters)) {
    parts.push_back("none: every event was logged");
  } else {
    parts.push_back(
        absl::StrCat(Counted(filters.context(), "event"), " of context"));
  }
  if (filters.paused()) parts.push_back("begun paused");
  return absl::StrJoin(parts, "; ");
}

std::string DescribeRows(const RunFacts& facts) {
  std::string text = absl::StrCat(
      Grouped(facts.Events()), "; in the file ", Counted(facts.rows, "row"),
      " (", Grouped(facts.rows - facts.context_rows), " logged, ",
      Grouped(facts.context_rows), " as context)");
  if (facts.Kept<Mark>().count > 0) {
    absl::StrAppend(&text, ", ", Counted(facts.Kept<Mark>().count, "mark"));
  }
  return text;
}

std::string DescribeLosses(const RunFacts& facts) {
  if (!facts.footer.has_value()) {
    if (facts.lost_rows == 0) return "not known: the file has no footer";
    return absl::StrCat("at least ", Counted(facts.lost_rows, "row"),
                        "; the file has no footer");
  }
  const uint64_t dropped = *facts.DroppedRows();
  const uint64_t unwritten = facts.footer->lost_on_write();
  if (dropped == 0 && unwritten == 0) return "none";
  return absl::StrCat(Counted(dropped, "row"), " on a full ring, ",
                      Counted(unwritten, "row"), " on failed writes");
}

// What other programs did to the file's name.
std::string DescribeOutputName(const Footer& footer) {
  return footer.output_name() == Footer::OUTPUT_DELETED
             ? "deleted while it was written"
             : "renamed or moved while it was written";
}

std::string DescribeRss(const RunFacts& facts) {
  if (!facts.highest.has_value()) return "no rows";
  std::string text;
  if (facts.first_rss_bytes != 0) {
    absl::StrAppend(&text, HumanBytes(facts.first_rss_bytes),
                    " when tracing began, ");
  }
  absl::StrAppend(&text, HumanBytes(facts.SeenBytes()), " highest at an event");
  if (facts.last.has_value()) {
    absl::StrAppend(&text, ", ", HumanBytes(facts.last->rss_bytes),
                    " at the last row");
  }
  return text;
}

// An event that filters left out has no row, but its RSS counts: it may be the
// highest.
std::string DescribeHighest(const RunFacts& facts) {
  if (!facts.highest.has_value()) return "no rows";
  const Row& highest = *facts.highest;
  std::string text =
      absl::StrCat(HumanBytes(highest.rss_bytes), " at event ", highest.number);
  absl::StrAppend(&text, ", ", HumanSeconds(highest.time_us),
                  highest.site == 0 ? ", a row that is lost" : "");
  if (facts.SeenBytes() > highest.rss_bytes) {
    absl::StrAppend(&text, "; ", HumanBytes(facts.SeenBytes()),
                    " at an event without a row");
  }
  return text;
}

std::string DescribePeak(const RunPeak& peak) {
  if (peak.rss_bytes == 0) return "not known";
  return absl::StrCat(HumanBytes(peak.rss_bytes), " at ",
                      HumanSeconds(peak.time_us));
}

// VmHWM may have been read before the peak, and then be lower.
std::string DescribeHwm(const RunFacts& facts, const RunPeak& peak) {
  if (facts.HwmBytes() == 0) return "not recorded";
  std::string text = HumanBytes(std::max(facts.HwmBytes(), peak.rss_bytes));
  // A program that died, or called exec, left no end.
  const bool is_of_the_end =
      facts.footer.has_value() && facts.footer->own_bytes() != 0;
  if (!is_of_the_end) text += ", as last sampled";
  if (facts.HasPeak()) {
    absl::StrAppend(&text, ", reached between events ",
                    facts.peak->after_number(), " and ",
                    facts.peak->before_number(), " (",
                    HumanSeconds(facts.peak->time_us()), ")");
  }
  return text;
}

// RssSourceText() takes a footer. The changes that were read replace that of
// the file, which may have none.
std::string DescribeSource(const RunFacts& facts) {
  constexpr size_t kMostReasonBytes = 480;
  Footer footer;
  if (facts.gauge_changes > 0) {
    *footer.mutable_gauge_change() = facts.last_gauge_change;
    footer.set_gauge_changes(static_cast<uint32_t>(facts.gauge_changes));
  }
  return RssSourceText(facts.header, footer, kMostReasonBytes);
}

std::string DescribeCpu(const RunFacts& facts) {
  const uint64_t used = facts.user_us + facts.system_us;
  if (used == 0) return "not recorded";
  std::string text = absl::StrCat(HumanSeconds(facts.user_us), " user, ",
                                  HumanSeconds(facts.system_us), " system");
  if (facts.DurationUs() > 0) {
    absl::StrAppendFormat(&text, ", %.0f %% of one core",
                          100.0 * static_cast<double>(used) /
                              static_cast<double>(facts.DurationUs()));
  }
  return text;
}

std::string DescribeGaps(const RunFacts& facts) {
  if (facts.gaps == 0) return "none";
  return absl::StrCat(
      facts.gaps, " (", HumanSeconds(facts.gap_us),
      "): the script's own profiler took over the events of a thread");
}

std::string DescribeClock(const RunFacts& facts) {
  if (facts.header.clock() == CLOCK_SOURCE_UNKNOWN) return "not recorded";
  std::string text =
      facts.header.clock() == TSC
          ? "CPU's counter, calibrated against CLOCK_MONOTONIC"
          : "CLOCK_MONOTONIC: the CPU's counter is not reliable here";
  if (facts.footer.has_value() && facts.footer->clock_steps_back() > 0) {
    absl::StrAppend(&text, "; it stepped back at ",
                    Grouped(facts.footer->clock_steps_back()),
                    " rows, by at most ",
                    facts.footer->worst_clock_step_back_ns(), " ns");
  }
  return text;
}

// Objects that profiling made the interpreter allocate.
std::string DescribeObjects(const RunFacts& facts) {
  const Footer& footer = *facts.footer;
  std::string text = absl::StrCat(
      HumanBytes(footer.frame_object_bytes()), " of frame objects and ",
      HumanBytes(footer.bound_object_bytes()), " of bound objects at most");
  const RunFacts::ObjectsMade made = facts.MadeObjects();
  if (made.frames + made.bound > 0) {
    absl::StrAppend(&text, " (", Grouped(made.frames), " and ",
                    Grouped(made.bound), " in all)");
  }
  absl::StrAppend(&text, ", ", HumanBytes(footer.line_array_bytes()),
                  " of line numbers");
  return text;
}

// Memory of the tracer, and objects that CPython makes only because a profiler
// is set.
std::string DescribeTracingItself(const RunFacts& facts) {
  const uint64_t own_bytes = facts.OwnBytes();
  if (own_bytes == 0) return "not recorded";
  std::string text = HumanBytes(own_bytes) + " resident";
  if (facts.footer.has_value()) {
    absl::StrAppend(&text, "; made by the interpreter because it is profiled: ",
                    DescribeObjects(facts));
    if (facts.footer->tables_emptied() > 0) {
      absl::StrAppend(&text, "; its tables were full and emptied ",
                      facts.footer->tables_emptied(), " times");
    }
  }
  return text;
}

std::string DescribePages(const RunFacts& facts) {
  if (facts.header.page_scan()) {
    return "by scan: charged by allocation, not by first touch";
  }
  const RunFacts::PageCounts pages = facts.Pages();
  std::string text = Grouped(pages.events);
  const uint32_t weight = facts.header.page_weight();
  if (weight > 1) {
    absl::StrAppend(&text, ", one page in ", Grouped(weight));
  }
  const uint32_t period = facts.header.page_period();
  if (period > 1) {
    absl::StrAppend(&text, ", at least 1 in ", Grouped(period),
                    " with its own stack");
  }
  absl::StrAppend(
      &text, "; ", Grouped(pages.inferred),
      " with an inferred stack; lost: ", Counted(pages.samples_lost, "event"),
      ", ", Counted(pages.stacks_lost, "stack"));
  if (facts.header.pages_user_only()) {
    absl::StrAppend(&text, "; faults inside system calls are not recorded");
  }
  return text;
}

std::string DescribeHeap(const RunFacts& facts) {
  const RunFacts::HeapCounts heap = facts.Heap();
  const bool sampled = facts.header.heap() == HEAP_SAMPLED;
  std::string text = absl::StrCat(
      sampled ? "sampled" : "all", facts.header.heap_native() ? ", native" : "",
      "; ", Counted(heap.allocations, "allocation"), ", ",
      Counted(heap.frees, "free"), "; lost: ", Counted(heap.lost, "event"));
  if (facts.Kept<HeapRates>().last.mean_bytes() != 0) {
    absl::StrAppend(
        &text, "; one sample in ",
        HumanBytes(
            static_cast<double>(facts.Kept<HeapRates>().last.mean_bytes())),
        facts.Kept<HeapRates>().last.adapted() ? ", as adapted last" : "");
  }
  return text;
}

void AddCalls(const RunFacts& facts, Descriptions* lines) {
  lines->emplace_back("events", DescribeRows(facts));
  lines->emplace_back("filters", DescribeFilters(facts.header.filters()));
  lines->emplace_back("losses", DescribeLosses(facts));
  lines->emplace_back("profiler gaps", DescribeGaps(facts));
  lines->emplace_back("RSS", DescribeRss(facts));
  lines->emplace_back("highest event", DescribeHighest(facts));
}

// The number of dumps of objects, and the last one.
std::string DescribeDumps(const RunFacts& facts) {
  const auto& dumps = facts.Kept<ObjectsDumped>();
  const ObjectsDumped& last = dumps.last;
  std::string text = absl::StrCat(
      Counted(dumps.count, "dump"), "; ", dumps.count > 1 ? "last " : "",
      TerminalText(last.file()), ": ", Counted(last.objects(), "object"), ", ",
      Counted(last.references(), "reference"), ", the program paused ",
      HumanSeconds(last.pause_us()));
  if (!last.problem().empty()) {
    absl::StrAppend(&text, " (", TerminalText(last.problem()), ")");
  }
  return text;
}

}  // namespace

// All five kinds are no filter.
std::string KindNames(const Filters& filters) {
  const int kinds = filters.kinds_size();
  if (kinds == 0 || kinds == 5) return "";
  return absl::StrJoin(filters.kinds(), ",", [](std::string* out, int kind) {
    absl::StrAppend(out,
                    absl::AsciiStrToLower(WhatName(static_cast<What>(kind))));
  });
}

// Lines that do not apply to the run are left out, except those whose absence
// would raise a question.
Descriptions DescribeRun(const RunFacts& facts, const RunPeak& peak) {
  Descriptions lines = {
      {"command", DescribeCommand(facts.header)},
      {"started", DescribeStart(facts.header)},
      {"ran", HumanSeconds(facts.DurationUs())},
      {"end", DescribeEnd(facts)},
      {"peak RSS", DescribePeak(peak)},
      {"VmHWM", DescribeHwm(facts, peak)},
  };
  if (facts.HasCalls()) {
    AddCalls(facts, &lines);
  } else {
    lines.emplace_back("events", "none: calls were not traced");
  }
  if (!facts.header.not_recorded().empty()) {
    lines.emplace_back("not recorded",
                       TerminalText(facts.header.not_recorded()));
  }
  if (facts.HasCalls()) lines.emplace_back("RSS source", DescribeSource(facts));
  lines.emplace_back("clock", DescribeClock(facts));
  lines.emplace_back("CPU", DescribeCpu(facts));
  lines.emplace_back("tracing itself", DescribeTracingItself(facts));
  if (facts.HasPages()) lines.emplace_back("page events", DescribePages(facts));
  if (facts.HasHeap()) lines.emplace_back("heap events", DescribeHeap(facts));
  if (facts.Kept<ObjectsDumped>().count > 0) {
    lines.emplace_back("objects", DescribeDumps(facts));
  }
  if (!facts.footer.has_value()) return lines;
  if (facts.footer->output_name() != Footer::OUTPUT_KEPT) {
    lines.emplace_back("run file", DescribeOutputName(*facts.footer));
  }
  if (facts.footer->rss_reads() > 0) {
    lines.emplace_back("RSS reads", RssReadsText(*facts.footer));
  }
  if (facts.footer->has_rss_verification()) {
    lines.emplace_back("RSS verified",
                       RssVerificationText(facts.footer->rss_verification()));
  }
  return lines;
}

}  // namespace pymemrun
