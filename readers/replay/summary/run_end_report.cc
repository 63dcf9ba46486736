// EndReportOf(), see run_facts.h.
#include <algorithm>

#include "format/summary/end_report.h"
#include "readers/replay/summary/run_facts.h"

namespace pymemrun {
namespace {

// The values of a footer, as far as the stream has them.
Footer FooterFromStream(const RunFacts& facts) {
  Footer footer;
  footer.set_end(Footer::UNKNOWN);
  footer.set_end_us(facts.DurationUs());
  footer.set_events(facts.Events());
  footer.set_rows(facts.rows);
  footer.set_context_rows(facts.context_rows);
  footer.set_dropped(facts.lost_rows);
  footer.set_hwm_bytes(facts.HwmBytes());
  footer.set_user_us(facts.user_us);
  footer.set_system_us(facts.system_us);
  if (facts.highest.has_value()) {
    footer.set_max_rss_bytes(facts.highest->rss_bytes);
    footer.set_seen_max_rss_bytes(facts.highest->rss_bytes);
    footer.set_max_rss_number(facts.highest->number);
    footer.set_max_rss_site(facts.highest->site);
    footer.set_max_rss_thread(facts.highest->thread);
    footer.set_max_rss_us(facts.highest->time_us);
  }
  const RunFacts::PageCounts pages = facts.Pages();
  footer.set_page_events(pages.events);
  footer.set_pages_inferred(pages.inferred);
  footer.set_page_samples_lost(pages.samples_lost);
  footer.set_page_stacks_lost(pages.stacks_lost);
  const RunFacts::HeapCounts heap = facts.Heap();
  footer.set_heap_allocations(heap.allocations);
  footer.set_heap_frees(heap.frees);
  footer.set_heap_events_lost(heap.lost);
  if (facts.HasPeak()) *footer.mutable_peak() = *facts.peak;
  if (facts.gauge_changes > 0) {
    *footer.mutable_gauge_change() = facts.last_gauge_change;
    footer.set_gauge_changes(static_cast<uint32_t>(facts.gauge_changes));
  }
  return footer;
}

}  // namespace

std::string EndReportOf(const RunFacts& facts, const std::string& file_name,
                        uint64_t file_bytes) {
  EndReportInput input;
  input.header = facts.header;
  input.footer =
      facts.footer.has_value() ? *facts.footer : FooterFromStream(facts);
  input.has_footer = facts.footer.has_value();
  input.file_name = file_name;
  input.file_bytes = file_bytes;
  return EndReportText(input);
}

}  // namespace pymemrun
