#include "readers/replay/summary/run_facts.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pymemrun {

// Profile events have five kinds: calls and returns of Python and of C
// functions, and exceptions of the latter.
bool EveryEventLogged(const Filters& filters) {
  return filters.min_drss_bytes() == 0 &&
         (filters.kinds_size() == 0 || filters.kinds_size() == 5) &&
         filters.include_size() == 0 && filters.exclude_size() == 0 &&
         filters.function_size() == 0 && filters.thread_size() == 0;
}

namespace {

bool Considers(const Filters& filters, What kind) {
  return filters.kinds_size() == 0 ||
         std::find(filters.kinds().begin(), filters.kinds().end(), kind) !=
             filters.kinds().end();
}

}  // namespace

bool CallsLoggedWhole(const Filters& filters) {
  return filters.min_drss_bytes() == 0 && Considers(filters, CALL) &&
         Considers(filters, RETURN);
}

bool OnlyCCallsLoggedWhole(const Filters& filters) {
  // If Python calls are logged too, these are paired instead.
  return filters.min_drss_bytes() == 0 && !CallsLoggedWhole(filters) &&
         Considers(filters, C_CALL) && Considers(filters, C_RETURN);
}

void RunFacts::OnHeader(const Header& found) {
  header = found;
  first_rss_bytes = found.first_rss_bytes();
  profile_.SetHeader(found);
}

// Constant memory: each row is summed up and dropped.
bool RunFacts::OnRows(const Row* batch, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Row& row = batch[i];
    context_rows += row.context;
    // The first of equal rows.
    if (!highest.has_value() || row.rss_bytes > highest->rss_bytes) {
      highest = row;
    }
    profile_.Add(row, index());
  }
  if (count == 0) return true;
  rows += count;
  last = batch[count - 1];
  last_us_ = std::max(last_us_, last->time_us);
  return true;
}

void RunFacts::OnProfilerGap(const ProfilerGap& gap) {
  ++gaps;
  if (gap.to_us() > gap.from_us()) gap_us += gap.to_us() - gap.from_us();
  if (gap.to_number() > gap.from_number()) {
    gap_events += gap.to_number() - gap.from_number();
  }
}

void RunFacts::OnLoss(const Loss& loss) { lost_rows += loss.rows(); }

void RunFacts::OnProcess(const ProcessSample& sample) {
  user_us = sample.user_us();
  system_us = sample.system_us();
  sampled_hwm_bytes_ = std::max(sampled_hwm_bytes_, sample.hwm_bytes());
  last_us_ = std::max(last_us_, sample.time_us());
}

void RunFacts::OnPeak(const Peak& found) {
  if (peak.has_value() && found.hwm_bytes() <= peak->hwm_bytes()) return;
  peak = found;
}

void RunFacts::OnGauge(const GaugeChange& change) {
  ++gauge_changes;
  last_gauge_change = change;
}

void RunFacts::OnPause(const Pause& pause) {
  // Tracing started paused: RSS counts from the end of the pause.
  if (pause.next_number() == 0 && pause.to_rss_bytes() > 0) {
    first_rss_bytes = pause.to_rss_bytes();
  }
  has_pauses = true;
  profile_.Add(pause);
}

// Counts faults only: other entries are calls.
bool RunFacts::OnPages(const PageEntry* entries, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    last_us_ = std::max(last_us_, entries[i].time_us);
    if (entries[i].action != PAGE_CAME) continue;
    ++pages_.events;
    pages_.inferred += entries[i].inferred;
  }
  return true;
}

void RunFacts::OnPageLoss(const PageLoss& loss) {
  pages_.samples_lost += loss.samples();
  pages_.stacks_lost += loss.stacks();
}

RunFacts::PageCounts RunFacts::Pages() const {
  if (!footer.has_value()) return pages_;
  return {footer->page_events(), footer->pages_inferred(),
          footer->page_samples_lost(), footer->page_stacks_lost()};
}

bool RunFacts::HasCalls() const { return !header.calls_off() || Events() > 0; }

bool RunFacts::HasPages() const {
  return header.page_period() > 0 || header.page_scan() || pages_.events > 0;
}

void RunFacts::OnHeapBatch(const HeapBatchFacts& facts) {
  heap_.frees += facts.frees;
  heap_.allocations += facts.allocations;
  last_us_ = std::max(last_us_, facts.last_us);
}

RunFacts::HeapCounts RunFacts::Heap() const {
  if (!footer.has_value()) return heap_;
  return {footer->heap_allocations(), footer->heap_frees(),
          footer->heap_events_lost()};
}

bool RunFacts::HasHeap() const {
  return header.heap() != HEAP_OFF || heap_.allocations + heap_.frees > 0;
}

// The footer's figures replace those of the stream where both exist, as the
// stream may lack lost rows.
void RunFacts::OnFooter(const Footer& found) {
  footer = found;
  if (found.user_us() + found.system_us() > 0) {
    user_us = found.user_us();
    system_us = found.system_us();
  }
  if (found.has_peak()) OnPeak(found.peak());
  // If the row with the highest RSS was lost, only the footer has it.
  if (highest.has_value() && found.max_rss_bytes() <= highest->rss_bytes)
    return;
  // No row, in the file or lost, had a known RSS.
  if (found.max_rss_bytes() == 0) return;
  highest.emplace();
  highest->number = found.max_rss_number();
  highest->time_us = found.max_rss_us();
  highest->rss_bytes = found.max_rss_bytes();
  highest->site = found.max_rss_site();
  highest->thread = found.max_rss_thread();
}

void RunFacts::OnDamage(const StreamReader::Damage&) {
  // The first damage is after the last known moment.
  if (damages++ == 0) damaged_us = last_us_;
}

void RunFacts::AddTo(ProfileTable* table) const {
  table->Add(profile_, index());
  if (table->of() == Attribution::kCaused) return;
  table->AddUnseen(UnseenBytes());
}

int64_t RunFacts::UnseenBytes() const {
  // Without a footer the profile takes RSS of the last row.
  return profile_.UnseenBytes(footer.has_value() ? footer->last_rss_bytes()
                                                 : 0);
}

uint64_t RunFacts::Events() const {
  if (footer.has_value()) return footer->events();
  // Event numbers start at 0.
  return last.has_value() ? last->number + 1 : 0;
}

uint64_t RunFacts::DurationUs() const {
  return footer.has_value() ? footer->end_us() : last_us_;
}

uint64_t RunFacts::HwmBytes() const {
  uint64_t bytes = sampled_hwm_bytes_;
  if (footer.has_value()) bytes = std::max(bytes, footer->hwm_bytes());
  return bytes;
}

uint64_t RunFacts::LastRssBytes() const {
  return footer.has_value() && HasCalls() ? footer->last_rss_bytes() : 0;
}

std::optional<uint64_t> RunFacts::DroppedRows() const {
  if (!footer.has_value()) return std::nullopt;
  // Loss records include rows that could not be written.
  const uint64_t unwritten = std::min(lost_rows, footer->lost_on_write());
  // Rows dropped by the ring are not recorded one by one: the larger count
  // holds.
  return std::max(lost_rows - unwritten, footer->dropped());
}

uint64_t RunFacts::SeenBytes() const {
  const uint64_t bytes = highest.has_value() ? highest->rss_bytes : 0;
  if (!footer.has_value()) return bytes;
  return std::max(
      {bytes, footer->max_rss_bytes(), footer->seen_max_rss_bytes()});
}

bool RunFacts::HasPeak() const {
  return peak.has_value() && peak->hwm_bytes() > SeenBytes();
}

uint64_t RunFacts::OwnBytes() const {
  return footer.has_value() && footer->own_bytes() != 0 ? footer->own_bytes()
                                                        : header.own_bytes();
}

uint64_t RunFacts::TracingBytes() const {
  if (!footer.has_value()) return OwnBytes();
  return OwnBytes() + footer->line_array_bytes() +
         footer->frame_object_bytes() + footer->bound_object_bytes();
}

RunFacts::ObjectsMade RunFacts::MadeObjects() const {
  ObjectsMade made;
  // If some events were not logged, the number of objects is unknown.
  if (!EveryEventLogged(header.filters())) return made;
  for (uint32_t site = 1; site <= index().sites(); ++site) {
    if (!index().MakesObject(site)) continue;
    const bool is_frame = index().Resolve(site).kind == CALL;
    (is_frame ? made.frames : made.bound) += profile_.RowsSeenAt(site);
  }
  return made;
}

std::string EndText(const RunFacts& facts) {
  if (!facts.footer.has_value()) return "no end in the file";
  const Footer& footer = *facts.footer;
  switch (footer.end()) {
    case Footer::EXIT:
      return absl::StrCat("exit ", footer.exit_status());
    case Footer::SIGNAL:
      return absl::StrCat("signal ", footer.exit_status());
    case Footer::EXEC:
      return "became another program";
    default:
      return "killed";
  }
}

std::string RecordedText(const RunFacts& facts, bool has_pages) {
  const Header& header = facts.header;
  std::vector<std::string> recorded;
  if (facts.HasCalls()) recorded.push_back("calls");
  if (has_pages) {
    recorded.push_back(header.page_scan() ? "pages by scan" : "pages");
  }
  if (facts.HasHeap()) {
    recorded.push_back(
        absl::StrCat("heap", header.heap() == HEAP_SAMPLED ? " sampled" : "",
                     header.heap_native() ? " (C code too)" : ""));
  }
  if (facts.Kept<CounterPlan>().count > 0) recorded.push_back("counters");
  return absl::StrJoin(recorded, ", ");
}

}  // namespace pymemrun
