#include "readers/task_steps/heap_times.h"

#include <algorithm>

namespace pymemrun {
namespace {

constexpr uint64_t kMostSlots = UINT32_MAX;  // some six days
constexpr uint64_t kSlotUs = 128;

uint32_t SlotOf(uint64_t time_us) {
  return static_cast<uint32_t>(std::min(time_us / kSlotUs, kMostSlots));
}

}  // namespace

bool HeapTimes::OnHeap(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (events[i].is_free) continue;
    const uint32_t thread = index().FirstThread(events[i].thread);
    if (thread >= slots_.size()) slots_.resize(thread + 1);
    std::vector<uint32_t>& slots = slots_[thread];
    const uint32_t slot = SlotOf(events[i].time_us);
    if (slots.empty() || slots.back() != slot) slots.push_back(slot);
  }
  return true;
}

void HeapTimes::Finish() {
  for (std::vector<uint32_t>& slots : slots_) {
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  }
}

bool HeapTimes::Any(uint32_t thread, uint64_t begin_us, uint64_t end_us) const {
  if (thread >= slots_.size()) return false;
  const std::vector<uint32_t>& slots = slots_[thread];
  const auto found =
      std::lower_bound(slots.begin(), slots.end(), SlotOf(begin_us));
  return found != slots.end() && *found <= SlotOf(end_us);
}

}  // namespace pymemrun
