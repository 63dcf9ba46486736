#include "readers/resident/find_peak.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// What one stack did within so much time is one growth.
constexpr uint64_t kOneGrowthUs = 5000;
constexpr size_t kMostGrowth = size_t{1} << 17;

}  // namespace

// Numbers of events rise over all threads: what grew did so since the last one.
bool PeakFinder::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Row& row = rows[i];
    finder_.OnRow(row);
    if (by_scan() && row.drss_bytes > 0 && row.stack != 0) {
      AddGrowth({row_us_, row.time_us, static_cast<uint64_t>(row.drss_bytes),
                 row.stack, row.thread});
    }
    row_us_ = std::max(row_us_, row.time_us);
  }
  return ResidentReplay::OnRows(rows, count);
}

// Without calls: who allocates may be who fills memory at that time. Who maps
// it need not be, and when nothing is allocated nobody knows.
bool PeakFinder::OnHeap(const HeapEvent* events, size_t count) {
  finder_.OnHeap(events, count);
  if (!TellsGrowth()) return true;
  for (size_t i = 0; i < count; ++i) {
    const HeapEvent& event = events[i];
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

void PeakFinder::AddGrowth(const SeenGrowth& growth) {
  const uint64_t before_us = growth_.empty() ? 0 : growth_.back().to_us;
  SeenGrowth one = growth;
  one.from_us = std::max(one.from_us, before_us);
  one.to_us = std::max(one.to_us, one.from_us + 1);
  if (!growth_.empty() && growth_.back().stack == one.stack &&
      growth_.back().thread == one.thread &&
      one.from_us <= before_us + kOneGrowthUs) {
    growth_.back().to_us = one.to_us;
    growth_.back().bytes += one.bytes;
    return;
  }
  if (growth_.size() >= kMostGrowth) {
    // Of each two the larger one stays.
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

std::unique_ptr<PeakFinder> FindPeak(RereadFile* file) {
  auto finder = PeakFinder::Read<PeakFinder>(ReadingOf(file));
  if (finder == nullptr || !finder->NeedsWaits()) return finder;
  WaitReader waits;
  if (!file->Read(&waits)) return nullptr;
  finder->KnowWaits(waits.waits());
  return finder;
}

bool SayNoPageEvents(const ResidentReplay& replay, const RereadFile& file,
                     const Console& console) {
  if (replay.has_page_events()) return false;
  const bool whole = file.whole();
  console.Say(absl::StrCat(
      file.shown_name(),
      whole ? ": has no page events: the run was not made with --trace pages"
            : ": no page events in what could be read"));
  return true;
}

}  // namespace pymemrun
