// SummaryValues(), see run_summary.h.
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "format/summary/gauge_text.h"
#include "readers/replay/summary/run_summary.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

using Values = std::vector<std::pair<std::string, Cell>>;

Cell Seconds(uint64_t time_us) { return static_cast<double>(time_us) / 1e6; }

// A name or a size; empty if the file leaves it out.
Cell Text(absl::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}
Cell Known(uint64_t value) { return value == 0 ? Cell() : Cell(value); }
// The value, or an unknown cell.
Cell If(bool known, Cell value) { return known ? std::move(value) : Cell(); }

const Footer& FooterOf(const RunFacts& facts) {
  return facts.footer.has_value() ? *facts.footer : Footer::default_instance();
}

// Each Add...() function appends its values whatever was recorded, so that all
// runs have the same columns.
void AddProcess(const RunFacts& facts, Values* values) {
  const Header& header = facts.header;
  const absl::string_view version(header.python_version());
  const absl::Time start =
      absl::FromUnixNanos(static_cast<int64_t>(header.start_realtime_ns()));
  values->insert(
      values->end(),
      {{"command",
        Text(header.argv_size() > 0 ? absl::StrJoin(header.argv(), " ")
                                    : header.script())},
       {"started",
        absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", start, absl::UTCTimeZone())},
       {"pid", uint64_t{header.pid()}},
       {"host", Text(header.host())},
       {"python", Text(header.python())},
       {"python_version", Text(version.substr(0, version.find(' ')))},
       {"delivery", header.preloaded() ? "preload" : "embed"},
       {"not_recorded", Text(header.not_recorded())},
       {"duration_s", Seconds(facts.DurationUs())}});
}

// The footer has one number, which is a status or a signal.
void AddEnd(const RunFacts& facts, Values* values) {
  const std::string end = facts.footer.has_value()
                              ? std::string(EndName(facts.footer->end()))
                              : "no footer";
  const int64_t status = FooterOf(facts).exit_status();
  values->insert(values->end(), {{"end", end},
                                 {"exit_status", If(end == "exit", status)},
                                 {"signal", If(end == "signal", status)}});
}

// A row without a site was lost: only its sizes are known.
void AddHighest(const RunFacts& facts, Values* values) {
  const bool known = facts.highest.has_value();
  const Row row = facts.highest.value_or(Row());
  const bool placed = row.site != 0;
  const SourceLocation place = facts.index().Resolve(row.site);
  const std::string thread(facts.index().LatestThreadLabel(row.thread));
  values->insert(
      values->end(),
      {{"highest_rss_bytes", If(known, row.rss_bytes)},
       {"highest_rss_event", If(known, row.number)},
       {"highest_rss_s", If(known, Seconds(row.time_us))},
       {"highest_rss_what", If(placed, std::string(place.what))},
       {"highest_rss_file", If(placed, std::string(place.file))},
       {"highest_rss_line", If(placed, uint64_t{place.line})},
       {"highest_rss_function", If(placed, std::string(place.function))},
       {"highest_rss_thread", If(placed, thread)}});
}

// VmHWM may have been read before the peak, as in DescribeHwm().
void AddMemory(const RunFacts& facts, const RunPeak& run_peak, Values* values) {
  const uint64_t hwm_bytes = facts.HwmBytes();
  const bool has_peak = facts.HasPeak();
  const Peak peak = facts.peak.value_or(Peak());
  const Row last = facts.last.value_or(Row());
  values->insert(
      values->end(),
      {{"first_rss_bytes", Known(facts.first_rss_bytes)},
       {"last_rss_bytes", If(facts.last.has_value(), last.rss_bytes)},
       {"highest_seen_rss_bytes", Known(facts.SeenBytes())},
       {"vm_hwm_bytes",
        If(hwm_bytes != 0, std::max(hwm_bytes, run_peak.rss_bytes))},
       {"peak_after_event", If(has_peak, peak.after_number())},
       {"peak_before_event", If(has_peak, peak.before_number())},
       {"peak_s", If(has_peak, Seconds(peak.time_us()))}});
}

void AddCounts(const RunFacts& facts, Values* values) {
  const bool has_footer = facts.footer.has_value();
  values->insert(
      values->end(),
      {{"events", facts.Events()},
       {"rows", facts.rows},
       {"logged_rows", facts.rows - facts.context_rows},
       {"context_rows", facts.context_rows},
       {"marks", facts.Kept<Mark>().count},
       {"dropped_rows", If(has_footer, facts.DroppedRows().value_or(0))},
       {"unwritten_rows", If(has_footer, FooterOf(facts).lost_on_write())},
       {"profiler_gaps", facts.gaps},
       {"profiler_gap_s", Seconds(facts.gap_us)},
       {"profiler_gap_events", facts.gap_events},
       {"untraced_children",
        If(has_footer, uint64_t{FooterOf(facts).untraced_children()})}});
}

template <typename Globs>
Cell Joined(const Globs& globs) {
  return Text(absl::StrJoin(globs, " "));
}

void AddFilters(const Filters& filters, Values* values) {
  values->insert(
      values->end(),
      {{"min_drss_bytes", uint64_t{filters.min_drss_bytes()}},
       {"drss_since", filters.drss_since_logged() ? "logged" : "previous"},
       {"context_events", uint64_t{filters.context()}},
       {"filter_events", Text(KindNames(filters))},
       {"filter_include", Joined(filters.include())},
       {"filter_exclude", Joined(filters.exclude())},
       {"filter_function", Joined(filters.function())},
       {"filter_thread", Joined(filters.thread())},
       {"begun", filters.paused() ? "paused" : "tracing"}});
}

void AddVerification(const RunFacts& facts, Values* values) {
  const bool known = FooterOf(facts).has_rss_verification();
  const RssVerification& found = FooterOf(facts).rss_verification();
  const double staleness =
      static_cast<double>(found.worst_staleness_ns()) / 1e9;
  values->insert(
      values->end(),
      {{"rss_reads", Known(FooterOf(facts).rss_reads())},
       {"verified_events", If(known, found.events())},
       {"agreeing_events", If(known, found.agreeing())},
       {"changing_events", If(known, found.changing())},
       {"worst_staleness_s", If(known, staleness)},
       {"worst_rss_error_bytes", If(known, found.worst_error_bytes())}});
}

Cell ClockName(ClockSource clock) {
  switch (clock) {
    case TSC:
      return "tsc";
    case MONOTONIC:
      return "monotonic";
    default:
      return Cell();
  }
}

void AddTracing(const RunFacts& facts, Values* values) {
  const bool has_cpu = facts.user_us + facts.system_us > 0;
  const bool ended = facts.footer.has_value();
  const Footer& footer = FooterOf(facts);
  const RunFacts::ObjectsMade made = facts.MadeObjects();
  const bool any_made = made.frames + made.bound > 0;
  values->insert(
      values->end(),
      {{"rss_source", std::string(RssSourceName(facts.header.rss_source()))},
       {"rss_source_reason", Text(facts.header.rss_source_reason())},
       {"rss_source_changes", facts.gauge_changes},
       {"statm_step_bytes", Known(facts.header.statm_step_bytes())},
       {"clock", ClockName(facts.header.clock())},
       {"clock_steps_back", If(ended, footer.clock_steps_back())},
       {"cpu_user_s", If(has_cpu, Seconds(facts.user_us))},
       {"cpu_system_s", If(has_cpu, Seconds(facts.system_us))},
       {"own_bytes", Known(facts.OwnBytes())},
       {"frame_object_bytes", If(ended, footer.frame_object_bytes())},
       {"frame_objects_made", If(any_made, made.frames)},
       {"bound_object_bytes", If(ended, footer.bound_object_bytes())},
       {"bound_objects_made", If(any_made, made.bound)},
       {"line_array_bytes", If(ended, footer.line_array_bytes())},
       {"tables_emptied", If(ended, uint64_t{footer.tables_emptied()})}});
}

void AddPages(const RunFacts& facts, Values* values) {
  const bool known = facts.HasPages();
  const RunFacts::PageCounts pages = facts.Pages();
  const Header& header = facts.header;
  values->insert(
      values->end(),
      {{"page_source", If(known, header.page_scan() ? "scan" : "faults")},
       {"page_events", If(known && !header.page_scan(), pages.events)},
       {"page_period", Known(facts.header.page_period())},
       {"page_weight", Known(facts.header.page_weight())},
       {"pages_inferred", If(known, pages.inferred)},
       {"page_events_lost", If(known, pages.samples_lost)},
       {"page_stacks_lost", If(known, pages.stacks_lost)}});
}

void AddHeap(const RunFacts& facts, Values* values) {
  const bool known = facts.HasHeap();
  const RunFacts::HeapCounts heap = facts.Heap();
  const Header& header = facts.header;
  values->insert(
      values->end(),
      {{"heap", If(known, header.heap() == HEAP_SAMPLED ? "sampled" : "all")},
       {"heap_native", If(known, uint64_t{header.heap_native()})},
       {"heap_allocations", If(known, heap.allocations)},
       {"heap_frees", If(known, heap.frees)},
       {"heap_events_lost", If(known, heap.lost)},
       {"heap_mean_bytes", Known(facts.Kept<HeapRates>().last.mean_bytes())}});
}

}  // namespace

absl::string_view EndName(Footer::End end) {
  switch (end) {
    case Footer::EXIT:
      return "exit";
    case Footer::SIGNAL:
      return "signal";
    case Footer::EXEC:
      return "exec";
    case Footer::KILLED_OR_EXITED:
      return "killed or exited";
    default:
      return "unknown";
  }
}

// The peak precedes all other sizes: programs take the first size as the main
// one.
Values SummaryValues(const RunFacts& facts, const std::string& run_file,
                     uint64_t file_bytes, const RunPeak& peak) {
  Values values = {{"run_file", run_file}};
  AddProcess(facts, &values);
  AddEnd(facts, &values);
  values.emplace_back("peak_rss_bytes", Known(peak.rss_bytes));
  values.emplace_back("peak_rss_s",
                      If(peak.rss_bytes != 0, Seconds(peak.time_us)));
  AddHighest(facts, &values);
  AddMemory(facts, peak, &values);
  AddCounts(facts, &values);
  AddFilters(facts.header.filters(), &values);
  AddTracing(facts, &values);
  AddVerification(facts, &values);
  AddPages(facts, &values);
  AddHeap(facts, &values);
  values.emplace_back("run_file_bytes", file_bytes);
  return values;
}

}  // namespace pymemrun
