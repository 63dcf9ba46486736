#include "collector/pages/fault_looks.h"

#include <algorithm>
#include <utility>

#include "collector/process/monotonic_clock.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

// Faults no farther apart than this share a call: walking over the pages
// between them is faster than another call.
constexpr uint64_t kNearPages = 16;
// An instruction that wrote this many pages and found no zeros is known. From
// then on the kernel is asked about one of its pages in kAskOneIn.
constexpr uint64_t kKnownPages = 64;
constexpr uint64_t kAskOneIn = 16;
// Threads that take the first fault of a huge page at the same time.
constexpr size_t kMostUnderWay = 64;
// How long the answer for a fault is kept: its stack is known after
// PageMatcher::kPatienceNs, plus the time that the collector itself waits for a
// processor.
constexpr uint64_t kKeptNs = 3000000000;

}  // namespace

// Zero pages first: for these the question about a huge page is superfluous.
size_t FaultLooks::Look(size_t first, std::vector<PageSample>* samples) {
  AskAgain();
  for (size_t i = first; i < samples->size(); ++i) {
    PageSample& sample = (*samples)[i];
    sample.mapping = mappings_->NameAt(sample.address, sample.time_ns);
    sample.of_file = mappings_->IsFileAt(sample.address, sample.time_ns);
  }
  const size_t zeros = FindZeros(first, samples);
  for (size_t i = first; i < samples->size(); ++i) {
    PageSample& sample = (*samples)[i];
    if (sample.of_file || sample.zero == true) continue;
    sample.huge = LooksHuge(sample);
  }
  return zeros;
}

// One ioctl answers for a run of near faults, so samples are sorted by address
// first. Samples that surely wrote are left out.
size_t FaultLooks::FindZeros(size_t first, std::vector<PageSample>* samples) {
  order_.clear();
  for (size_t i = first; i < samples->size(); ++i) {
    const PageSample& sample = (*samples)[i];
    if (!sample.of_file && !SurelyWrites(sample)) order_.push_back(i);
  }
  const auto address = [samples](size_t i) { return (*samples)[i].address; };
  std::sort(order_.begin(), order_.end(),
            [&](size_t a, size_t b) { return address(a) < address(b); });
  size_t zeros = 0, begin = 0;
  for (size_t i = 1; i <= order_.size(); ++i) {
    const bool near =
        i < order_.size() &&
        address(order_[i]) - address(order_[i - 1]) <= kNearPages * page_bytes_;
    if (near) continue;
    zeros += FindZerosNear(begin, i, samples);
    begin = i;
  }
  return zeros;
}

// Asks about order_[first] to order_[end - 1], which are near each other. Both
// lists are sorted by address, so one pass joins them.
size_t FaultLooks::FindZerosNear(size_t first, size_t end,
                                 std::vector<PageSample>* samples) {
  if (first == order_.size()) return 0;
  regions_.clear();
  scan_->FindZeroPages((*samples)[order_[first]].address,
                       (*samples)[order_[end - 1]].address + 1, &regions_);
  size_t zeros = 0;
  auto region = regions_.begin();
  for (size_t i = first; i < end; ++i) {
    PageSample& sample = (*samples)[order_[i]];
    while (region != regions_.end() && region->end <= sample.address) ++region;
    if (region == regions_.end()) break;
    if (region->begin > sample.address) continue;
    sample.zero = (region->categories & kPageIsZeroPage) != 0;
    zeros += *sample.zero;
    // A page that is read first and written soon after has two faults. Then the
    // answer, a page of the program, does not show what the first instruction
    // did.
    const auto is_same = [&](size_t other) {
      return (*samples)[order_[other]].address / page_bytes_ ==
             sample.address / page_bytes_;
    };
    const bool twice =
        (i > first && is_same(i - 1)) || (i + 1 < end && is_same(i + 1));
    Habit& habit = HabitOf(sample);
    (*sample.zero ? habit.zeros : habit.writes) += *sample.zero || !twice;
  }
  return zeros;
}

// Asked when the stack is known. If the memory is gone by then, the habit of
// the instruction decides.
bool FaultLooks::IsZero(const PageSample& sample) {
  if (sample.of_file) return false;
  if (sample.zero.has_value()) return *sample.zero;
  if (SurelyWrites(sample)) return false;
  regions_.clear();
  scan_->FindZeroPages(sample.address, sample.address + 1, &regions_);
  if (!regions_.empty()) {
    return (regions_.front().categories & kPageIsZeroPage) != 0;
  }
  const Habit& habit = HabitOf(sample);
  return habit.zeros > 0 && habit.writes == 0;
}

// A direct-mapped table: another instruction with the same hash takes the
// place.
FaultLooks::Habit& FaultLooks::HabitOf(const PageSample& sample) {
  Habit& habit = habits_[sample.instruction % habits_.size()];
  if (habit.instruction != sample.instruction) {
    habit = {};
    habit.instruction = sample.instruction;
  }
  return habit;
}

// An instruction usually either reads or writes. So an instruction that never
// found zeros is asked about only now and then. A system call that faults for
// the program may do both.
bool FaultLooks::SurelyWrites(const PageSample& sample) {
  if (sample.instruction >= kKernelHalf) return false;
  Habit& habit = HabitOf(sample);
  if (habit.zeros > 0 || habit.writes < kKnownPages) return false;
  return ++habit.not_asked % kAskOneIn != 0;
}

// A range with more blocks than the table voids the whole table, so the cost is
// bounded for any range.
void FaultLooks::Left(uint64_t address, uint64_t bytes) {
  for (UnderWay& fault : under_way_) {
    if (fault.address - address < bytes) fault.until_ns = 0;
  }
  const uint64_t huge_bytes = HugePageBytes(page_bytes_);
  const uint64_t first = address / huge_bytes;
  const uint64_t last = (address + bytes) / huge_bytes;
  if (last - first >= asked_blocks_.size()) return asked_blocks_.fill(0);
  for (uint64_t block = first; block <= last; ++block) {
    uint64_t& asked = asked_blocks_[block % asked_blocks_.size()];
    if (asked == block) asked = 0;
  }
}

// Asks once for each place of a huge page, because only the first fault there
// can bring a huge page; again after the pages were released or replaced.
// nullopt: the kernel was not asked, or the fault is still running.
absl::optional<bool> FaultLooks::LooksHuge(const PageSample& sample) {
  const uint64_t block = sample.address / HugePageBytes(page_bytes_);
  uint64_t& asked = asked_blocks_[block % asked_blocks_.size()];
  if (std::exchange(asked, block) == block) return absl::nullopt;
  const absl::optional<bool> huge = scan_->IsHuge(sample.address);
  if (!huge.has_value() && under_way_.size() < kMostUnderWay) {
    under_way_.push_back({sample.time_ns, sample.address,
                          MonotonicNs() + kLongestFaultNs, absl::nullopt});
  }
  return huge;
}

// Asks before the stacks are known, because the memory may be released by then.
void FaultLooks::AskAgain() {
  if (under_way_.empty()) return;
  const uint64_t now_ns = MonotonicNs();
  std::erase_if(under_way_, [now_ns](const UnderWay& fault) {
    return fault.time_ns + kKeptNs < now_ns;
  });
  for (UnderWay& fault : under_way_) {
    if (fault.huge.has_value() || now_ns >= fault.until_ns) continue;
    fault.huge = scan_->IsHuge(fault.address);
  }
}

absl::optional<bool> FaultLooks::IsHuge(const PageSample& sample) {
  absl::optional<bool> huge = sample.huge;
  std::erase_if(under_way_, [&](const UnderWay& fault) {
    if (fault.time_ns != sample.time_ns || fault.address != sample.address) {
      return false;
    }
    if (!huge.has_value()) huge = fault.huge;
    return true;
  });
  return huge.has_value() ? huge : scan_->IsHuge(sample.address);
}

}  // namespace pymemrun
