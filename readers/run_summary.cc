#include "readers/run_summary.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "format/gauge_text.h"
#include "format/report_text.h"
#include "format/terminal_text.h"

namespace pymemrun {
namespace {

std::string DescribeEnd(const RunFacts& facts) {
  if (!facts.footer.has_value()) {
    return "not seen: the file has no footer; the run did not end cleanly, or "
           "still goes on";
  }
  const int status = facts.footer->exit_status();
  switch (facts.footer->end()) {
    case Footer::EXIT:
      return absl::StrCat("exit status ", status);
    case Footer::SIGNAL:
      return absl::StrCat("killed by signal ", status);
    case Footer::EXEC:
      return "became another program (exec)";
    case Footer::KILLED_OR_EXITED:
      return "killed, or left without running exit handlers";
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

std::string DescribeStart(const Header& header) {
  const absl::Time start =
      absl::FromUnixNanos(static_cast<int64_t>(header.start_realtime_ns()));
  const absl::string_view version(header.python_version());
  return absl::StrCat(
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", start, absl::UTCTimeZone()),
      ", pid ", header.pid(), " on ", TerminalText(header.host()), ", ",
      TerminalText(header.python()), " ",
      TerminalText(version.substr(0, version.find(' '))));
}

std::string DescribeRows(const RunFacts& facts) {
  std::string text = absl::StrCat(
      Grouped(facts.Events()), "; in the file ", Counted(facts.rows, "row"),
      " (", Grouped(facts.rows - facts.context_rows), " logged, ",
      Grouped(facts.context_rows), " as context)");
  if (facts.marks > 0) {
    absl::StrAppend(&text, ", ", Counted(facts.marks, "mark"));
  }
  return text;
}

std::string DescribeLosses(const RunFacts& facts) {
  const uint64_t dropped = facts.DroppedRows();
  const uint64_t unwritten =
      facts.footer.has_value() ? facts.footer->lost_on_write() : 0;
  if (dropped == 0 && unwritten == 0) return "none";
  return absl::StrCat(Counted(dropped, "row"), " on a full ring, ",
                      Counted(unwritten, "row"), " on failed writes");
}

std::string DescribeRss(const RunFacts& facts) {
  if (!facts.highest.has_value()) return "no rows";
  std::string text;
  if (facts.first_rss_bytes != 0) {
    absl::StrAppend(&text, HumanBytes(facts.first_rss_bytes),
                    " when tracing began, ");
  }
  const Row& highest = *facts.highest;
  absl::StrAppend(&text, HumanBytes(highest.rss_bytes), " highest, ",
                  HumanBytes(facts.last->rss_bytes), " at the last row");
  return text;
}

std::string DescribeHighest(const RunFacts& facts) {
  if (!facts.highest.has_value()) return "no rows";
  const Row& highest = *facts.highest;
  const Place place = facts.index().Resolve(highest.site);
  return absl::StrCat(HumanBytes(highest.rss_bytes), " at event ",
                      highest.number, " (", place.what, "), ",
                      HumanSeconds(highest.time_us), ", ",
                      TerminalText(place.file), ":", place.line, " ",
                      TerminalText(place.function), ", ",
                      TerminalText(facts.index().ThreadLabel(highest.thread)));
}

std::string DescribeHwm(const RunFacts& facts) {
  if (facts.HwmBytes() == 0) return "not recorded";
  std::string text = HumanBytes(facts.HwmBytes());
  if (facts.HasPeak()) {
    absl::StrAppend(&text, ", reached between events ",
                    facts.peak->after_number(), " and ",
                    facts.peak->before_number(), " (",
                    HumanSeconds(facts.peak->time_us()), ")");
  }
  return text;
}

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
  return absl::StrCat(facts.gaps, " (", HumanSeconds(facts.gap_us),
                      "): the script's own profiler had the events of a "
                      "thread");
}

std::string DescribeClock(const RunFacts& facts) {
  if (facts.header.clock() == CLOCK_SOURCE_UNKNOWN) return "not recorded";
  std::string text = facts.header.clock() == TSC
                         ? "TSC, calibrated against CLOCK_MONOTONIC"
                         : "CLOCK_MONOTONIC: the TSC is not to be trusted here";
  if (facts.footer.has_value() && facts.footer->clock_steps_back() > 0) {
    absl::StrAppend(&text, "; below the row before at ",
                    Grouped(facts.footer->clock_steps_back()),
                    " rows, by at most ",
                    facts.footer->worst_clock_step_back_ns(), " ns");
  }
  return text;
}

// What profiling made the interpreter allocate.
std::string DescribeObjects(const RunFacts& facts) {
  const Footer& footer = *facts.footer;
  std::string text = absl::StrCat(HumanBytes(footer.frame_object_bytes()),
                                  " of frame objects and ",
                                  HumanBytes(footer.bound_object_bytes()),
                                  " of bound objects at most at a time");
  const RunFacts::ObjectsMade made = facts.MadeObjects();
  if (made.frames + made.bound > 0) {
    absl::StrAppend(&text, " (", Grouped(made.frames), " and ",
                    Grouped(made.bound), " in all)");
  }
  absl::StrAppend(&text, ", ", HumanBytes(footer.line_array_bytes()),
                  " of line numbers");
  return text;
}

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

}  // namespace

std::vector<std::pair<std::string, std::string>> DescribeRun(
    const RunFacts& facts) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"command", DescribeCommand(facts.header)},
      {"started", DescribeStart(facts.header)},
      {"ran", HumanSeconds(facts.DurationUs())},
      {"end", DescribeEnd(facts)},
      {"events", DescribeRows(facts)},
      {"losses", DescribeLosses(facts)},
      {"profiler gaps", DescribeGaps(facts)},
      {"RSS", DescribeRss(facts)},
      {"highest RSS", DescribeHighest(facts)},
      {"VmHWM", DescribeHwm(facts)},
      {"RSS source", DescribeSource(facts)},
      {"clock", DescribeClock(facts)},
      {"CPU", DescribeCpu(facts)},
      {"tracing itself", DescribeTracingItself(facts)},
  };
  if (!facts.footer.has_value()) return lines;
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
