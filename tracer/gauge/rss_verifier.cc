#include "tracer/gauge/rss_verifier.h"

#include <errno.h>

#include "tracer/base/clock.h"
#include "tracer/base/statm.h"
#include "tracer/gauge/rss_signs.h"

namespace pymemrun {
namespace {

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

}  // namespace

// Notes by how much, and for how long, the gauge was behind statm.
void RssVerifier::Compare(HotState& hot, uint64_t stamp, uint32_t pages) {
  ControlPage* page = hot.page;
  Count(&page->verified_events);
  const uint32_t gauge = gauge_.figure_pages();
  const uint64_t reads = page->rss_reads.load(std::memory_order_relaxed);
  if (pages == gauge || reads != gauge_reads_) right_stamp_ = stamp;
  gauge_reads_ = reads;
  if (pages == gauge) return Count(&page->agreeing_events);
  if (RssMayHaveMoved(hot, 0)) Count(&page->changing_events);
  Raise(&page->worst_error_pages,
        pages > gauge ? pages - gauge : gauge - pages);
  // Stamps of two CPUs may be a little out of step.
  if (stamp > right_stamp_) {
    Raise(&page->worst_staleness_ns, Nanoseconds(hot, stamp - right_stamp_));
  }
}

// Its own time is added to the deadlines, so checking does not make the gauge
// look stale.
void RssVerifier::Check(HotState& hot, uint64_t stamp) {
  const int saved_errno = errno;
  const uint64_t begin = TimeStamp(hot.time_is_tsc);
  const uint32_t pages = Statm::Read();
  if (pages != 0) Compare(hot, stamp, pages);
  const uint64_t spent = TimeStamp(hot.time_is_tsc) - begin;
  if (hot.deadline != 0) hot.deadline += spent;
  right_stamp_ += spent;
  errno = saved_errno;
}

}  // namespace pymemrun
