#include "readers/replay/resident/find_peak.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// Growth at one stack within this time counts as one growth.
constexpr uint64_t kOneGrowthUs = 5000;
// The most spans of growth that are kept, some 7 MiB: then pairs are merged.
constexpr size_t kMostGrowth = size_t{1} << 17;
// VmHWM and RSS are sums of counters that lag by some pages on each CPU: the
// usual difference.
constexpr uint64_t kBlurBytes = 1 << 20;
// Moments whose RSS is equal in this unit are one stretch.
constexpr uint64_t kStretchBytes = 64 << 10;
constexpr size_t kMaxHigh = 8192;

// Whether RSS cannot be distinguished from the peak; see kBlurBytes, for few
// CPUs.
bool IsHigh(uint64_t bytes, uint64_t peak_bytes) {
  return bytes + std::max(kBlurBytes / 2, peak_bytes / 100) >= peak_bytes;
}

// Whether the own line of the row's stack was in a call since the event before.
// Otherwise RSS grew in own code, on this line or an earlier one.
bool WasInCall(const Row& row, const RunIndex& index) {
  const uint32_t own = index.OwnStack(row.stack);
  if (own == 0) return true;
  switch (index.Resolve(row.site).kind) {
    case C_RETURN:
    case C_EXCEPT:
      return true;
    case CALL:
      return own != row.stack && own != index.ParentStack(row.stack);
    default:
      return own != row.stack;
  }
}

}  // namespace

// Where pages are scanned, rows are evidence of growth. Event numbers ascend
// over all threads, so RSS grew between the last event of any thread and this
// one.
bool PeakFinder::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Row& row = rows[i];
    finder_.OnRow(row);
    if (by_scan() && row.drss_bytes > 0 && row.stack != 0) {
      AddGrowth({.from_us = row_us_,
                 .to_us = row.time_us,
                 .bytes = static_cast<uint64_t>(row.drss_bytes),
                 .stack = row.stack,
                 .thread = row.thread,
                 .rss_bytes = row.rss_bytes,
                 .sure = WasInCall(row, index())});
    }
    row_us_ = std::max(row_us_, row.time_us);
  }
  return ResidentReplay::OnRows(rows, count);
}

// Used in runs without calls. A thread that allocates probably fills memory at
// that time. A thread that maps memory may not fill it, and without allocations
// the toucher is unknown. So the growth is spread over a short time around the
// allocation.
bool PeakFinder::OnHeap(const HeapEvent* events, size_t count) {
  finder_.OnHeap(events, count);
  if (!TellsGrowth()) return true;
  for (size_t i = 0; i < count; ++i) {
    const HeapEvent& event = events[i];
    // Mappings made by C code reserve addresses; they are no sign of touching.
    if (event.is_free || event.allocator >= HEAP_MMAP) continue;
    AddGrowth({event.time_us - std::min(event.time_us, kOneGrowthUs / 2),
               event.time_us + kOneGrowthUs / 2, event.size, event.stack,
               event.thread});
  }
  return true;
}

bool PeakFinder::OnPages(const PageEntry* entries, size_t count) {
  finder_.OnPages(entries, count);
  return ResidentReplay::OnPages(entries, count);
}

// Keeps the list sorted by time and free of overlaps: a span starts no earlier
// than the one before ends. Consecutive growth at one stack is joined.
void PeakFinder::AddGrowth(const SeenGrowth& growth) {
  const uint64_t before_us = growth_.empty() ? 0 : growth_.back().to_us;
  SeenGrowth one = growth;
  one.from_us = std::max(one.from_us, before_us);
  one.to_us = std::max(one.to_us, one.from_us + 1);
  if (!growth_.empty() && growth_.back().stack == one.stack &&
      growth_.back().thread == one.thread && growth_.back().sure == one.sure &&
      one.from_us <= before_us + kOneGrowthUs) {
    growth_.back().to_us = one.to_us;
    growth_.back().bytes += one.bytes;
    growth_.back().rss_bytes = one.rss_bytes;
    return;
  }
  if (growth_.size() >= kMostGrowth) {
    // The larger one of each pair is kept.
    for (size_t i = 0; 2 * i < growth_.size(); ++i) {
      const size_t other = std::min(2 * i + 1, growth_.size() - 1);
      growth_[i] = growth_[2 * i].bytes >= growth_[other].bytes
                       ? growth_[2 * i]
                       : growth_[other];
    }
    growth_.resize((growth_.size() + 1) / 2);
  }
  growth_.push_back(one);
}

ReadRun OneByOne(std::function<bool(ReplayVisitor*)> read) {
  return [read = std::move(read)](absl::Span<ReplayVisitor* const> visitors) {
    return std::all_of(visitors.begin(), visitors.end(), read);
  };
}

ReadRun ReadingOf(RereadFile* file) {
  return [file](absl::Span<ReplayVisitor* const> visitors) {
    return file->Read(visitors);
  };
}

// Up to three readings: for the peak, again if hindsight changes what was
// resident, and for the waits of libraries' threads.
std::unique_ptr<PeakFinder> FindPeak(RereadFile* file) {
  auto finder = PeakFinder::Read<PeakFinder>(ReadingOf(file));
  if (finder == nullptr || !finder->NeedsWaits()) return finder;
  WaitReader waits;
  if (!file->Read(&waits)) return nullptr;
  finder->KnowWaits(waits.waits());
  return finder;
}

// Within 1 %: moments that near to the peak are equally good.
bool PeakFinder::IsAlmost(uint64_t bytes, uint64_t peak_bytes) {
  return bytes >= peak_bytes - peak_bytes / 100;
}

// Until `time_us` the model is as it is now: RSS was that high from now_us()
// on.
void PeakFinder::OnTime(uint64_t time_us) {
  const uint64_t rss = model().RssBytes();
  if (IsHigh(rss, std::max(high_bytes_, peak_bytes_))) AddHigh(time_us, rss);
  if (rss <= high_bytes_) return;
  high_bytes_ = rss;
  high_us_ = now_us();
  high_known_bytes_ = KnownNow();
}

// From now_us() to `end_us`.
void PeakFinder::AddHigh(uint64_t end_us, uint64_t rss_bytes) {
  if (!high_.empty() && high_.back().end_us == now_us() &&
      high_.back().bytes / kStretchBytes == rss_bytes / kStretchBytes) {
    high_.back().end_us = end_us;
    high_.back().bytes = std::max(high_.back().bytes, rss_bytes);
    return;
  }
  if (high_.size() >= kMaxHigh) KeepHigh();
  high_.push_back({now_us(), end_us, rss_bytes});
}

// Keeps at most half of them: every other one if RSS goes up and down all the
// time.
void PeakFinder::KeepHigh() {
  const uint64_t most = std::max(high_bytes_, peak_bytes_);
  high_.erase(std::remove_if(high_.begin(), high_.end(),
                             [most](const RssStretch& one) {
                               return !IsHigh(one.bytes, most);
                             }),
              high_.end());
  if (high_.size() < kMaxHigh / 2) return;
  for (size_t i = 0; 2 * i < high_.size(); ++i) high_[i] = high_[2 * i];
  high_.resize((high_.size() + 1) / 2);
}

// VmHWM bounds RSS in all the time since it was last read. So the highest
// moment of that time is decided here, not at each event.
void PeakFinder::OnReading(uint64_t, uint64_t hwm_bytes) {
  OnTime(now_us());
  // The kernel was asked what is resident, and VmHWM was not read.
  if (hwm_bytes == 0) return RememberWhatIsKnown();
  RaiseTo(hwm_bytes);
  Take(hwm_bytes);
  gone_.clear();
}

// RSS minus what is unattributed, in either direction.
uint64_t PeakFinder::KnownNow() const {
  const uint64_t rss = model().RssBytes();
  const auto unknown =
      static_cast<uint64_t>(std::abs(model().UnattributedBytes()));
  return rss - std::min(rss, unknown);
}

// The kernel has just reported what is resident.
void PeakFinder::RememberWhatIsKnown() {
  const uint64_t rss = model().RssBytes(), known = KnownNow();
  // RSS as estimated from events since statm may be too high.
  const uint64_t most = std::max({peak_bytes_, asked_bytes_, rss});
  if (!IsAlmost(rss, most)) return;
  if (IsAlmost(asked_bytes_, most) && known <= known_bytes_) return;
  known_us_ = now_us();
  asked_bytes_ = rss;
  known_bytes_ = known;
}

// Since the last reading RSS was as high as it was seen, but at most
// `most_bytes`.
void PeakFinder::Take(uint64_t most_bytes) {
  const uint64_t bytes = std::min(high_bytes_, most_bytes);
  if (bytes > peak_bytes_) {
    peak_bytes_ = bytes;
    peak_us_ = high_us_;
    // RSS was overestimated, and it is unknown by which pages.
    peak_known_bytes_ =
        high_known_bytes_ - std::min(high_known_bytes_, high_bytes_ - bytes);
    peak_unseen_ = false;
  }
  high_bytes_ = 0;
  for (auto high = high_.rbegin();
       high != high_.rend() && high->end_us >= taken_us_; ++high) {
    high->bytes = std::min(high->bytes, most_bytes);
  }
  taken_us_ = now_us();
}

// VmHWM was read. If it has risen, RSS was that high since the last reading.
void PeakFinder::RaiseTo(uint64_t hwm_bytes) {
  // The first reading of VmHWM may be from before tracing.
  const bool risen = last_hwm_bytes_ != 0 && hwm_bytes > last_hwm_bytes_;
  last_hwm_bytes_ = hwm_bytes;
  // A peak slightly above a moment that was seen counts as that moment.
  const uint64_t seen_bytes = std::max(high_bytes_, peak_bytes_);
  if (!risen || hwm_bytes <= seen_bytes + kBlurBytes ||
      IsAlmost(seen_bytes, hwm_bytes)) {
    return;
  }
  InferHugePages(seen_bytes, hwm_bytes);
  peak_bytes_ = hwm_bytes;
  peak_us_ = high_us_;
  peak_unseen_ = true;
}

// Remembers RSS with and without the pages that a huge page would have had:
// InferHugePages() decides when VmHWM is known.
void PeakFinder::OnGone(std::vector<LateArrival> blocks) {
  GoneBlocks gone = {{}, kEnd, now_us(), model().RssBytes(), 0};
  for (const LateArrival& block : blocks) {
    gone.from_us = std::min(gone.from_us, block.time_us);
    gone.more_bytes += (block.end - block.begin - 1) * model().page_bytes();
  }
  gone.blocks = std::move(blocks);
  gone_.push_back(std::move(gone));
}

// A fault may bring a huge page, but only one of its pages is recorded. If the
// memory was released before the kernel was asked, it is unknown whether the
// page was huge. But if VmHWM has risen, and no other known pages explain it,
// it was.
void PeakFinder::InferHugePages(uint64_t seen_bytes, uint64_t hwm_bytes) {
  uint64_t to_us = 0, together_bytes = 0;
  for (const GoneBlocks& gone : gone_) {
    // Blocks that were there at the same time add up.
    if (gone.from_us >= to_us) together_bytes = 0;
    const uint64_t more_bytes = together_bytes + gone.more_bytes;
    const uint64_t rss_bytes = gone.rss_bytes + more_bytes;
    if (rss_bytes <= seen_bytes || rss_bytes > hwm_bytes + kBlurBytes) continue;
    for (const LateArrival& block : gone.blocks) AddToHindsight(block);
    together_bytes = more_bytes;
    to_us = gone.to_us;
  }
}

// The waits are known only when the whole run was read. Growth in a library's
// thread is sure: the line that waits for it is known.
std::shared_ptr<const std::vector<SeenGrowth>> PeakFinder::GrowthWithWaits()
    const {
  auto growth = std::make_shared<std::vector<SeenGrowth>>(growth_);
  WaitCursor waits(waits_);
  for (SeenGrowth& one : *growth) {
    one.waits = waits.At(one.to_us, one.thread, one.stack, 0);
    one.own = index().OwnStack(one.waits != 0 ? one.waits : one.stack);
    one.imports = index().Imports(one.stack);
    one.sure |= one.waits != 0;
  }
  return growth;
}

// VmHWM is passed on only if no events explain it. Otherwise the next reading
// finds the same peak by itself.
Hindsight PeakFinder::hindsight() const {
  Hindsight hindsight = ResidentReplay::hindsight();
  hindsight.waits = waits_;
  hindsight.growth = GrowthWithWaits();
  if (peak_unseen_) {
    hindsight.peak_rss_bytes = peak_bytes_;
    hindsight.peak_us = peak_us_;
  }
  return hindsight;
}

void PeakFinder::Finish() {
  ResidentReplay::Finish();
  waits_ = finder_.Take();
  // The end of the run counts as a reading.
  OnTime(now_us());
  RaiseTo(highest_read());
  Take(kEnd);
  KeepHigh();
  // A moment at which the kernel was asked is preferred, if it is as high and
  // more of it was known.
  if (asked_bytes_ == 0 || !IsAlmost(asked_bytes_, peak_bytes_)) return;
  if (!peak_unseen_ && peak_known_bytes_ > known_bytes_) return;
  peak_bytes_ = asked_bytes_;
  peak_us_ = known_us_;
  peak_unseen_ = false;
}

}  // namespace pymemrun
