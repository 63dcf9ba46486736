#include "tracer/rss_verifier.h"

#include <errno.h>

#include "tracer/clock.h"
#include "tracer/rss_gauge.h"
#include "tracer/statm.h"

namespace pymemrun {
namespace {

// Stamp of the last event at which the gauge was right, or read; moved on with
// the deadline. The gauge reads at its first event.
uint64_t g_right_stamp = 0;
uint64_t g_gauge_reads = 0;

void Count(std::atomic<uint64_t>* counter) {
  counter->store(counter->load(std::memory_order_relaxed) + 1,
                 std::memory_order_relaxed);
}

void Raise(std::atomic<uint64_t>* worst, uint64_t value) {
  if (value > worst->load(std::memory_order_relaxed)) {
    worst->store(value, std::memory_order_relaxed);
  }
}

uint64_t Nanoseconds(const HotState& hot, uint64_t ticks) {
  return static_cast<uint64_t>(static_cast<double>(ticks) *
                               static_cast<double>(kStalenessNs) /
                               static_cast<double>(hot.staleness));
}

void Compare(HotState& hot, uint64_t stamp, uint32_t pages) {
  ControlPage* page = hot.page;
  Count(&page->verified_events);
  const uint32_t gauge = RssGauge::figure_pages();
  const uint64_t reads = page->rss_reads.load(std::memory_order_relaxed);
  if (pages == gauge || reads != g_gauge_reads) g_right_stamp = stamp;
  g_gauge_reads = reads;
  if (pages == gauge) return Count(&page->agreeing_events);
  if (RssMayHaveMoved(hot, 0)) Count(&page->changing_events);
  Raise(&page->worst_error_pages,
        pages > gauge ? pages - gauge : gauge - pages);
  // Stamps of two CPUs may be a little out of step.
  if (stamp > g_right_stamp) {
    Raise(&page->worst_staleness_ns, Nanoseconds(hot, stamp - g_right_stamp));
  }
}

}  // namespace

void RssVerifier::Check(HotState& hot, uint64_t stamp) {
  const int saved_errno = errno;
  const uint64_t begin = TimeStamp(hot.time_is_tsc);
  const uint32_t pages = Statm::Read();
  if (pages != 0) Compare(hot, stamp, pages);
  const uint64_t spent = TimeStamp(hot.time_is_tsc) - begin;
  if (hot.deadline != 0) hot.deadline += spent;
  g_right_stamp += spent;
  errno = saved_errno;
}

}  // namespace pymemrun
