#include "readers/replay/moments/most_alive.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "readers/replay/resident/find_peak.h"

namespace pymemrun {
namespace {

// Two moments count as equal if their live bytes differ by less than this, or
// by no more than the error of what came and went between them. Either is then
// a good example of the peak. Taking the highest of many estimates would
// overstate it.
constexpr double kSameBytes = 128 << 10;
// In standard errors: chance alone exceeds two of them in one of 20 cases.
constexpr double kErrors = 2;

double SameBytes(double variance) {
  return std::max(kSameBytes, kErrors * std::sqrt(variance));
}

// The last moment of a stretch, whose end is excluded; at least its first one.
uint64_t LastOf(const RssStretch& rss) {
  return std::max(rss.end_us, rss.begin_us + 1) - 1;
}

}  // namespace

MostAlive::MostAlive(const std::vector<RssStretch>& stretches, uint64_t at_us,
                     double enough_bytes)
    : HeapReplay(kEnd, /*to_end=*/false),
      at_us_(at_us),
      enough_bytes_(enough_bytes) {
  // Sums are enough: sources would take memory and time.
  mutable_model().SumUp();
  for (RssStretch rss : stretches) {
    // `at_us` gets a stretch of its own.
    for (const uint64_t cut_us : {at_us, at_us + 1}) {
      if (rss.begin_us >= cut_us || cut_us >= rss.end_us) continue;
      stretches_.push_back({rss, {}});
      stretches_.back().rss.end_us = cut_us;
      stretches_.back().rss.fell_bytes = 0;
      rss.begin_us = cut_us;
      rss.rose_bytes = 0;
    }
    stretches_.push_back({rss, {}});
  }
}

bool MostAlive::HoldsMoment(const RssStretch& rss) const {
  return rss.begin_us <= at_us_ && at_us_ <= LastOf(rss);
}

// Adds up pages of files at the scans around `at_us`. Scans count as evidence
// for stretches before, at and after it.
void MostAlive::OnResidency(const ResidencyView& seen) {
  if (!header().page_scan()) return;
  uint64_t bytes = 0;
  for (const ResidentRange& range : seen.ranges) {
    if (range.file_backed) bytes += range.pages * header().page_bytes();
  }
  if (seen.time_us == at_us_) {
    files_at_ = files_after_ = bytes;
    at_resident_.assign(seen.ranges.begin(), seen.ranges.end());
  } else if (is_scan_) {
    files_after_ = bytes;
  } else if (seen.time_us < at_us_) {
    files_before_ = bytes;
  }
  is_scan_ = seen.time_us == at_us_;
  knows_files_ = seen.time_us > at_us_;
  was_scanned_ |= is_scan_;
}

// Events come in the order of time, as stretches do: one pass over both.
bool MostAlive::OnHeap(const HeapEvent* events, size_t count) {
  const HeapEvent* const end = events + count;
  while (events != end && now_ < stretches_.size()) {
    const RssStretch& rss = stretches_[now_].rss;
    if (events->time_us > LastOf(rss)) {
      TakeLive(LastOf(rss));
      EndStretch();
    } else if (events->time_us < rss.begin_us) {
      // Between stretches only the result matters. Blocks that are allocated
      // and freed within this batch are left out, which skips nearly all
      // events.
      const HeapEvent* const before = events;
      events = std::find_if(events, end, [&rss](const HeapEvent& event) {
        return event.time_us >= rss.begin_us;
      });
      const auto& left = pairs_.LeaveOut(before, events - before);
      HeapReplay::OnHeap(left.data(), left.size());
      was_apart_ = true;
    } else {
      // Events of one microsecond are one moment: it ends with the last of
      // them.
      if (events->time_us > rss.begin_us) TakeLive(events->time_us - 1);
      HeapReplay::OnHeap(events, 1);
      TakeLive(events->time_us);
      ++events;
    }
  }
  // Scans may follow later events in the file.
  return now_ < stretches_.size() || (header().page_scan() && !knows_files_);
}

// Memory that came and went unseen may have replaced everything that was there
// before.
void MostAlive::TakeMoved() {
  const double variance = std::max(model().live().bytes_variance, 0.0);
  moved_variance_ += std::exchange(was_apart_, false)
                         ? variance + last_variance_
                         : std::fabs(variance - last_variance_);
  last_variance_ = variance;
}

// Among equal moments the last one is chosen: the pages that a block fills come
// after the block.
void MostAlive::TakeLive(uint64_t time_us) {
  double live_bytes = model().live().bytes;
  if (std::exchange(has_begun_, true)) {
    freed_bytes_ += std::max(last_bytes_ - live_bytes, 0.0);
    came_bytes_ += std::max(live_bytes - last_bytes_, 0.0);
  }
  last_bytes_ = live_bytes;
  // If RSS rose since, an earlier moment is not the peak, however much was
  // alive. Allocations must explain half of the rise before earlier moments are
  // ruled out.
  const auto rose_bytes = static_cast<double>(stretches_[now_].rss.rose_bytes);
  if (rose_bytes > 0 && came_bytes_ >= rose_bytes / 2 &&
      !std::exchange(has_risen_, true)) {
    rising_.clear();
  }
  TakeMoved();
  const double moved = moved_variance_;
  // Equal within the error of what moved since: the later moment wins.
  const double same =
      SameBytes(rising_.empty() ? 0 : moved - rising_.back().moved);
  if (rising_.empty() || live_bytes > rising_.back().live_bytes + same) {
    rising_.push_back({live_bytes, time_us, freed_bytes_, moved});
  } else if (live_bytes + same >= rising_.back().live_bytes) {
    live_bytes = std::max(live_bytes, rising_.back().live_bytes);
    rising_.back() = {live_bytes, time_us, freed_bytes_, moved};
  }
}

// If RSS fell, memory was freed after the peak. A large block allocated after
// that was not filled yet.
void MostAlive::EndStretch() {
  Stretch& now = stretches_[now_++];
  // Half of the fall must be freed after the chosen moment.
  const double after_bytes = static_cast<double>(now.rss.fell_bytes) / 2;
  const auto found =
      std::find_if(rising_.rbegin(), rising_.rend(), [&](const Most& one) {
        return freed_bytes_ - one.freed_bytes >= after_bytes;
      });
  now.most = found == rising_.rend() ? rising_.back() : *found;
  if (HoldsMoment(now.rss)) {
    at_bytes_ = now.most.live_bytes;
    for (const auto& [begin, part] : model().mappings().parts()) {
      at_mapped_.emplace_back(begin, part.end);
    }
  }
  rising_.clear();
  freed_bytes_ = came_bytes_ = 0;
  has_begun_ = has_risen_ = false;
}

void MostAlive::Finish() {
  while (now_ < stretches_.size()) {
    TakeLive(LastOf(stretches_[now_].rss));
    EndStretch();
  }
  at_bytes_ += MappedResident();
}

// Only the resident part counts: allocators reserve far more than they touch.
double MostAlive::MappedResident() const {
  const uint64_t page_bytes = std::max<uint64_t>(header().page_bytes(), 1);
  uint64_t pages = 0;
  auto mapped = at_mapped_.begin();
  for (const ResidentRange& range : at_resident_) {
    const uint64_t begin = range.page, end = begin + range.pages;
    const auto end_of = [&](const auto& part) {
      return part.second / page_bytes;
    };
    while (mapped != at_mapped_.end() && end_of(*mapped) <= begin) ++mapped;
    for (auto at = mapped;
         at != at_mapped_.end() && at->first / page_bytes < end; ++at) {
      pages +=
          std::min(end, end_of(*at)) - std::max(begin, at->first / page_bytes);
    }
  }
  return static_cast<double>(pages) * static_cast<double>(page_bytes);
}

// Live bytes and pages of files.
double MostAlive::KnownBytes(const Stretch& one) const {
  if (!was_scanned_) return one.most.live_bytes;
  const uint64_t file_bytes = HoldsMoment(one.rss)        ? files_at_
                              : one.rss.begin_us < at_us_ ? files_before_
                                                          : files_after_;
  return one.most.live_bytes + static_cast<double>(file_bytes);
}

// `at_us` is kept if as much was alive at it, as resident pages were best known
// then.
std::optional<uint64_t> MostAlive::Better() const {
  double known_bytes = 0, moved = 0;
  for (const Stretch& one : stretches_) {
    if (KnownBytes(one) <= known_bytes) continue;
    known_bytes = KnownBytes(one);
    moved = one.most.moved;
  }
  // Among stretches that are equal within the error, the one with the highest
  // RSS; the last one if these are equal, too.
  const Stretch* best = nullptr;
  for (const Stretch& one : stretches_) {
    const double same = SameBytes(std::fabs(one.most.moved - moved));
    const bool is_most = KnownBytes(one) + same >= known_bytes;
    if (HoldsMoment(one.rss) && (is_most || at_bytes_ >= enough_bytes_)) {
      return std::nullopt;
    }
    if (is_most && (best == nullptr || one.rss.bytes >= best->rss.bytes)) {
      best = &one;
    }
  }
  if (best == nullptr) return std::nullopt;
  return best->most.time_us;
}

}  // namespace pymemrun
