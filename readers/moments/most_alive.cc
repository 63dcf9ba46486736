#include "readers/moments/most_alive.h"

#include <algorithm>

#include "readers/resident/find_peak.h"

namespace pymemrun {
namespace {

// Two moments are equal where what was alive differs by less: the one is as
// good an example of the peak as the other.
constexpr uint64_t kSameBytes = 128 << 10;

uint64_t LastOf(const RssStretch& rss) {
  return std::max(rss.end_us, rss.begin_us + 1) - 1;
}

}  // namespace

MostAlive::MostAlive(const std::vector<RssStretch>& stretches, uint64_t at_us)
    : HeapReplay(kEnd, /*to_end=*/false), at_us_(at_us) {
  for (RssStretch rss : stretches) {
    // That moment for itself.
    for (const uint64_t cut_us : {at_us, at_us + 1}) {
      if (rss.begin_us >= cut_us || cut_us >= rss.end_us) continue;
      stretches_.push_back({rss, {}});
      stretches_.back().rss.end_us = cut_us;
      stretches_.back().rss.fell_bytes = 0;
      rss.begin_us = cut_us;
    }
    stretches_.push_back({rss, {}});
  }
}

bool MostAlive::OnHeap(const HeapEvent* events, size_t count) {
  const HeapEvent* const end = events + count;
  while (events != end && now_ < stretches_.size()) {
    const RssStretch& rss = stretches_[now_].rss;
    if (events->time_us > LastOf(rss)) {
      TakeLive(LastOf(rss));
      EndStretch();
    } else if (events->time_us < rss.begin_us) {
      const HeapEvent* const before = events;
      events = std::find_if(events, end, [&rss](const HeapEvent& event) {
        return event.time_us >= rss.begin_us;
      });
      HeapReplay::OnHeap(before, events - before);
    } else {
      if (events->time_us > rss.begin_us) TakeLive(events->time_us - 1);
      HeapReplay::OnHeap(events, 1);
      TakeLive(events->time_us);
      ++events;
    }
  }
  return now_ < stretches_.size();
}

// Of equal moments the last one: pages that a block fills come after it.
void MostAlive::TakeLive(uint64_t time_us) {
  double live_bytes = model().live().bytes;
  if (!rising_.empty()) {
    freed_bytes_ += std::max(last_bytes_ - live_bytes, 0.0);
  }
  last_bytes_ = live_bytes;
  if (rising_.empty() || live_bytes > rising_.back().live_bytes + kSameBytes) {
    rising_.push_back({live_bytes, time_us, freed_bytes_});
  } else if (live_bytes + kSameBytes >= rising_.back().live_bytes) {
    live_bytes = std::max(live_bytes, rising_.back().live_bytes);
    rising_.back() = {live_bytes, time_us, freed_bytes_};
  }
}

// Where RSS fell, memory was freed after the peak. A large block that came only
// after that was not filled yet.
void MostAlive::EndStretch() {
  Stretch& now = stretches_[now_++];
  const double after_bytes = static_cast<double>(now.rss.fell_bytes) / 2;
  const auto found =
      std::find_if(rising_.rbegin(), rising_.rend(), [&](const Most& one) {
        return freed_bytes_ - one.freed_bytes >= after_bytes;
      });
  now.most = found == rising_.rend() ? rising_.back() : *found;
  rising_.clear();
  freed_bytes_ = 0;
}

void MostAlive::Finish() {
  while (now_ < stretches_.size()) {
    TakeLive(LastOf(stretches_[now_].rss));
    EndStretch();
  }
}

// That moment stays where as much was alive: what is resident was best known.
std::optional<uint64_t> MostAlive::Better() const {
  double live_bytes = 0;
  for (const Stretch& one : stretches_) {
    live_bytes = std::max(live_bytes, one.most.live_bytes);
  }
  const Stretch* best = nullptr;
  for (const Stretch& one : stretches_) {
    if (one.most.live_bytes + kSameBytes < live_bytes) continue;
    if (one.rss.begin_us <= at_us_ && at_us_ <= LastOf(one.rss)) {
      return std::nullopt;
    }
    if (best == nullptr || one.rss.bytes >= best->rss.bytes) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  return best->most.time_us;
}

}  // namespace pymemrun
