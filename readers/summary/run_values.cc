// SummaryValues(), see run_summary.h.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "format/summary/gauge_text.h"
#include "readers/summary/run_summary.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

using Values = std::vector<std::pair<std::string, Cell>>;

Cell Seconds(uint64_t time_us) { return static_cast<double>(time_us) / 1e6; }

// A name or a size that the file may leave out.
Cell Text(absl::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}
Cell Known(uint64_t value) { return value == 0 ? Cell() : Cell(value); }

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
       {"duration_s", Seconds(facts.DurationUs())}});
}

void AddEnd(const RunFacts& facts, Values* values) {
  const std::string end = facts.footer.has_value()
                              ? std::string(EndName(facts.footer->end()))
                              : "no footer";
  Cell status;
  if (facts.footer.has_value()) status = int64_t{facts.footer->exit_status()};
  values->insert(values->end(),
                 {{"end", end},
                  {"exit_status", end == "exit" ? status : Cell()},
                  {"signal", end == "signal" ? status : Cell()}});
}

void AddHighest(const RunFacts& facts, Values* values) {
  Cell bytes, event, time, what, file, line, function, thread;
  if (facts.highest.has_value()) {
    const Row& row = *facts.highest;
    bytes = row.rss_bytes;
    event = row.number;
    time = Seconds(row.time_us);
    if (row.site != 0) {
      const SourceLocation place = facts.index().Resolve(row.site);
      what = std::string(place.what);
      file = std::string(place.file);
      line = uint64_t{place.line};
      function = std::string(place.function);
      thread = std::string(facts.index().ThreadLabel(row.thread));
    }
  }
  values->insert(values->end(), {{"highest_rss_bytes", bytes},
                                 {"highest_rss_event", event},
                                 {"highest_rss_s", time},
                                 {"highest_rss_what", what},
                                 {"highest_rss_file", file},
                                 {"highest_rss_line", line},
                                 {"highest_rss_function", function},
                                 {"highest_rss_thread", thread}});
}

void AddMemory(const RunFacts& facts, Values* values) {
  const bool has_peak = facts.HasPeak();
  Cell last_bytes, after, before, time;
  if (facts.last.has_value()) last_bytes = facts.last->rss_bytes;
  if (has_peak) {
    after = uint64_t{facts.peak->after_number()};
    before = uint64_t{facts.peak->before_number()};
    time = Seconds(facts.peak->time_us());
  }
  values->insert(values->end(),
                 {{"first_rss_bytes", Known(facts.first_rss_bytes)},
                  {"last_rss_bytes", last_bytes},
                  {"highest_seen_rss_bytes", Known(facts.SeenBytes())},
                  {"vm_hwm_bytes", Known(facts.HwmBytes())},
                  {"peak_after_event", after},
                  {"peak_before_event", before},
                  {"peak_s", time}});
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
       {"dropped_rows", has_footer ? Cell(*facts.DroppedRows()) : Cell()},
       {"unwritten_rows",
        has_footer ? Cell(uint64_t{facts.footer->lost_on_write()}) : Cell()},
       {"profiler_gaps", facts.gaps},
       {"profiler_gap_s", Seconds(facts.gap_us)},
       {"profiler_gap_events", facts.gap_events},
       {"untraced_children",
        has_footer ? Cell(uint64_t{facts.footer->untraced_children()})
                   : Cell()}});
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
  Cell reads, events, agreeing, changing, staleness, error;
  if (facts.footer.has_value()) reads = Known(facts.footer->rss_reads());
  if (facts.footer.has_value() && facts.footer->has_rss_verification()) {
    const RssVerification& found = facts.footer->rss_verification();
    events = uint64_t{found.events()};
    agreeing = uint64_t{found.agreeing()};
    changing = uint64_t{found.changing()};
    staleness = static_cast<double>(found.worst_staleness_ns()) / 1e9;
    error = uint64_t{found.worst_error_bytes()};
  }
  values->insert(values->end(), {{"rss_reads", reads},
                                 {"verified_events", events},
                                 {"agreeing_events", agreeing},
                                 {"changing_events", changing},
                                 {"worst_staleness_s", staleness},
                                 {"worst_rss_error_bytes", error}});
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
  Cell frames, bound, lines, emptied, steps, frames_made, bound_made;
  if (facts.footer.has_value()) {
    frames = uint64_t{facts.footer->frame_object_bytes()};
    bound = uint64_t{facts.footer->bound_object_bytes()};
    lines = uint64_t{facts.footer->line_array_bytes()};
    steps = uint64_t{facts.footer->clock_steps_back()};
    emptied = uint64_t{facts.footer->tables_emptied()};
  }
  const RunFacts::ObjectsMade made = facts.MadeObjects();
  if (made.frames + made.bound > 0) {
    frames_made = made.frames;
    bound_made = made.bound;
  }
  values->insert(
      values->end(),
      {{"rss_source", std::string(RssSourceName(facts.header.rss_source()))},
       {"rss_source_reason", Text(facts.header.rss_source_reason())},
       {"rss_source_changes", facts.gauge_changes},
       {"statm_step_bytes", Known(facts.header.statm_step_bytes())},
       {"clock", ClockName(facts.header.clock())},
       {"clock_steps_back", steps},
       {"cpu_user_s", has_cpu ? Seconds(facts.user_us) : Cell()},
       {"cpu_system_s", has_cpu ? Seconds(facts.system_us) : Cell()},
       {"own_bytes", Known(facts.OwnBytes())},
       {"frame_object_bytes", frames},
       {"frame_objects_made", frames_made},
       {"bound_object_bytes", bound},
       {"bound_objects_made", bound_made},
       {"line_array_bytes", lines},
       {"tables_emptied", emptied}});
}

void AddPages(const RunFacts& facts, Values* values) {
  Cell events, inferred, samples, stacks;
  if (facts.HasPages()) {
    const RunFacts::PageCounts pages = facts.Pages();
    events = pages.events;
    inferred = pages.inferred;
    samples = pages.samples_lost;
    stacks = pages.stacks_lost;
  }
  values->insert(values->end(),
                 {{"page_events", events},
                  {"page_period", Known(facts.header.page_period())},
                  {"page_weight", Known(facts.header.page_weight())},
                  {"pages_inferred", inferred},
                  {"page_events_lost", samples},
                  {"page_stacks_lost", stacks}});
}

void AddHeap(const RunFacts& facts, Values* values) {
  Cell mode, allocations, frees, lost, native;
  if (facts.HasHeap()) {
    const RunFacts::HeapCounts heap = facts.Heap();
    mode = facts.header.heap() == HEAP_SAMPLED ? "sampled" : "all";
    allocations = heap.allocations;
    frees = heap.frees;
    lost = heap.lost;
    native = uint64_t{facts.header.heap_native()};
  }
  values->insert(
      values->end(),
      {{"heap", mode},
       {"heap_native", native},
       {"heap_allocations", allocations},
       {"heap_frees", frees},
       {"heap_events_lost", lost},
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

Values SummaryValues(const RunFacts& facts, const std::string& run_file,
                     uint64_t file_bytes) {
  Values values = {{"run_file", run_file}};
  AddProcess(facts, &values);
  AddEnd(facts, &values);
  AddHighest(facts, &values);
  AddMemory(facts, &values);
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
