#include "collector/heap/heap_collector.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "collector/definitions/native_thread.h"
#include "collector/process/monotonic_clock.h"
#include "format/limits.h"

#ifndef MADV_POPULATE_WRITE  // Linux has it since 5.14
#define MADV_POPULATE_WRITE 23
#endif

namespace pymemrun {
namespace {

// A batch ends at this many entries, or at half the size of the largest record
// that readers accept.
constexpr size_t kMaxEntries = kMaxBatchEntries / 8;
constexpr size_t kMaxStatedBytes = kMaxKnownRecordBytes / 2;
// Most events that wait for a slot. Beyond that they do not wait: a program
// that overwrites the ring may have named a slot that never comes.
constexpr size_t kMostWaiting = 1u << 20;

uint64_t AddressOf(const HeapSlot& slot) {
  return Wide(slot.address_low, slot.address_high & 0xffff);
}

bool IsFree(const HeapSlot& slot) {
  return slot.what_and_stack >> kWhatShift == kFreeWhat;
}

// The address of the code that called malloc, which stands behind the frames.
// 0: it is not known.
uint64_t CallerOf(const SideItemView& item) {
  uint64_t caller = 0;
  if ((item.flags & kSideCaller) != 0) {
    std::memcpy(&caller, item.payload.end() - sizeof(caller), sizeof(caller));
  }
  return caller;
}

// An unknown number counts as the object domain.
uint32_t AllocatorOf(uint32_t kind) {
  constexpr uint32_t kObj = HEAP_OBJ;
  return kind <= static_cast<uint32_t>(HeapAllocator_MAX) ? kind : kObj;
}

}  // namespace

HeapCollector::HeapCollector(const Options& options) : options_(options) {
  options.side->Subscribe(this,
                          {SideKind::kAlloc, SideKind::kFree, SideKind::kUnmap,
                           SideKind::kHeapRates, SideKind::kFinalize});
  if (options.takes_forks) options.side->Subscribe(this, {SideKind::kFork});
}

void* HeapCollector::operator new(size_t bytes) {
  void* const memory = ::operator new(bytes);
  // A fault for each page would take several times as long.
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory) & ~(page - 1);
  madvise(reinterpret_cast<void*>(begin),
          reinterpret_cast<uintptr_t>(memory) + bytes - begin,
          MADV_POPULATE_WRITE);
  return memory;
}

void HeapCollector::operator delete(void* memory) { ::operator delete(memory); }

void HeapCollector::Describe(uint64_t) { WriteRatesIfAny(*options_.rates); }

void HeapCollector::WriteRatesIfAny(const HeapRates& rates) {
  if (rates.mean_bytes() != 0 || rates.classes_size() != 0) WriteRates(rates);
}

void HeapCollector::NoSlotsBefore(uint64_t now_ns) {
  slot_us_ = std::max(slot_us_, options_.clock->MicrosOfMonotonic(now_ns));
}

// Decides the pending free of a realloc: the next slot says whether the realloc
// succeeded. Returns whether the slot says only that.
bool HeapCollector::SettleRealloc(const HeapSlot& slot) {
  if (tentative_.address == 0) return false;
  const bool failed = (slot.address_high & kHeapKept) != 0;
  if (!failed) Add(tentative_);
  tentative_.address = 0;
  return failed;
}

// A direct-mapped cache before the table of definitions: nearly every
// allocation has one of the last stacks.
inline uint32_t HeapCollector::StackOfSlot(const HeapSlot& slot) {
  const uint32_t raw = slot.what_and_stack & kIdMask;
  const KnownStack& known = known_stacks_[raw & (kKnownStacks - 1)];
  const bool is_known =
      known.raw == raw && raw != 0 && (slot.address_high & kHeapTracing) == 0;
  return ABSL_PREDICT_TRUE(is_known) ? known.id : FindStack(slot);
}

uint32_t HeapCollector::FindStack(const HeapSlot& slot) {
  SideStacks* const stacks = options_.side->stacks();
  if ((slot.address_high & kHeapTracing) != 0) {
    return stacks->Special(SpecialStack::kTracing);
  }
  const uint32_t raw = slot.what_and_stack & kIdMask;
  if (raw == 0) return stacks->Special(SpecialStack::kInterpreter);
  const uint32_t id = options_.definitions->Stack(raw);
  if (id == 0) return stacks->Special(SpecialStack::kUnknown);
  known_stacks_[raw & (kKnownStacks - 1)] = {raw, id};
  return id;
}

inline void HeapCollector::AddAllocation(const HeapSlot& slot,
                                         uint32_t size_high) {
  ++allocations_;
  encoder_.AddAllocation(AddressOf(slot), Wide(slot.size, size_high),
                         StackOfSlot(slot),
                         AllocatorOf(slot.address_high >> kHeapAllocatorShift &
                                     kHeapAllocatorMask));
  if (IsToLook()) Look();
}

// The fast loop. It takes allocations, and frees that belong to no realloc.
// Returns the first slot of another kind, or `end`.
const EventSlot* HeapCollector::TakePlain(const EventSlot* slot,
                                          const EventSlot* end) {
  for (; slot != end; ++slot) {
    HeapSlot heap;
    std::memcpy(&heap, slot, sizeof(heap));
    if (!IsFree(heap)) {
      AddAllocation(heap, 0);
    } else if (ABSL_PREDICT_TRUE(
                   (heap.address_high & (kHeapTentative | kHeapKept)) == 0)) {
      ++frees_;
      encoder_.AddFree(AddressOf(heap));
      if (IsToLook()) Look();
    } else {
      break;
    }
  }
  return slot;
}

// Takes a slot that needs more state: a part of a realloc, or an allocation
// with a high half of its size.
void HeapCollector::TakeOne(const EventSlot& slot, Run* run) {
  HeapSlot heap;
  std::memcpy(&heap, &slot, sizeof(heap));
  if (SettleRealloc(heap)) return;
  if (IsFree(heap)) {
    HeapEvent free;
    free.time_us = slot_us_;
    free.address = AddressOf(heap);
    free.thread = run->thread;
    free.is_free = true;
    if ((heap.address_high & kHeapTentative) != 0) {
      tentative_ = free;
    } else if ((heap.address_high & kHeapKept) == 0) {
      Add(free);
    }
    return;
  }
  encoder_.SetState(slot_us_, run->thread, 0);
  AddAllocation(heap, run->size_high);
  run->size_high = 0;
}

// Alternates: items of the side ring up to a slot, then slots up to the next
// such place. Times never decrease, so a late item gets the time of slots
// before it.
uint32_t HeapCollector::TakeSlots(Run run) {
  const RingMerger& merger = *options_.merger;
  slot_us_ = std::max(slot_us_, options_.clock->Micros(run.stamp));
  const EventSlot* slot = run.begin;
  while (slot != run.end) {
    const uint64_t index = run.index + static_cast<uint64_t>(slot - run.begin);
    if (index >= merger.first_index()) GiveOutUpTo(index);
    const auto left = static_cast<uint64_t>(run.end - slot);
    const EventSlot* const end =
        slot + std::min(left, merger.first_index() - index);
    if (tentative_.address == 0 && run.size_high == 0) {
      encoder_.SetState(slot_us_, run.thread, 0);
      slot = TakePlain(slot, end);
    }
    if (slot != end) TakeOne(*slot++, &run);
  }
  return run.size_high;
}

void HeapCollector::TakeRates(const SideItemView& item) {
  GiveOutUpTo(~uint64_t{0});  // these were sampled at the previous rates
  HeapRates rates;
  rates.set_time_us(options_.clock->MicrosOfMonotonic(item.time_ns));
  rates.set_mean_bytes(item.As<SideHeapRates>().mean_bytes);
  rates.set_adapted((item.flags & kSideAdapted) != 0);
  const size_t count = std::min<size_t>(
      item.detail, item.payload.size() / sizeof(SideHeapClass));
  for (size_t i = 0; i < count; ++i) {
    SideHeapClass read;
    std::memcpy(&read, item.payload.data() + i * sizeof(read), sizeof(read));
    HeapClass* const written = rates.add_classes();
    written->set_below_bytes(read.below_bytes);
    written->set_probability(read.probability);
  }
  WriteRatesIfAny(rates);
}

void HeapCollector::WriteFork(const SideItemView& item) {
  Record record;
  Fork* const fork = record.mutable_fork();
  fork->set_time_us(options_.clock->MicrosOfMonotonic(item.time_ns));
  fork->set_child_pid(static_cast<uint32_t>(item.As<SideFork>().child));
  options_.out->Write(record);
}

HeapEvent HeapCollector::EventOf(const SideItemView& item, uint32_t stack) {
  HeapEvent event;
  event.time_us = options_.clock->MicrosOfMonotonic(item.time_ns);
  const auto said = item.As<SideHeapEvent>();
  event.address = said.address;
  event.is_free = item.kind != SideKind::kAlloc;
  if (item.kind == SideKind::kUnmap) {
    event.size = said.bytes;
    event.free_of = (item.flags & kSideMoves) != 0 ? HeapFreeOf::kMovedRange
                                                   : HeapFreeOf::kRange;
  }
  if (event.is_free) return event;
  event.size = said.bytes;
  event.stack = stack;
  event.allocator = static_cast<HeapAllocator>(AllocatorOf(said.what()));
  const uint64_t caller = CallerOf(item);
  if (caller != 0) {
    event.code = options_.side->mappings()->CodeAt(caller, MonotonicNs());
  }
  return event;
}

void HeapCollector::TakeItem(const SideItemView& item, uint32_t stack) {
  if (item.kind == SideKind::kHeapRates) return TakeRates(item);
  if (item.kind == SideKind::kFork) return WriteFork(item);
  if (options_.merger->waiting() >= kMostWaiting) GiveOutFirst();
  options_.merger->Add({item.As<SideHeapEvent>().index, item.time_ns,
                        item.thread, item.kind, EventOf(item, stack)});
}

void HeapCollector::GiveOutFirst() {
  const WaitingEvent first = options_.merger->TakeFirst();
  if (first.kind == SideKind::kFinalize) {
    finalize_events_ = allocations_ + frees_;
    return;
  }
  HeapEvent event = first.event;
  event.thread = NativeThreadId(options_.pid, first.native_thread,
                                event.time_us, options_.definitions);
  // Another thread has the address by now. So the realloc has freed it,
  // although its second slot is not here yet.
  if (tentative_.address != 0 && tentative_.address == event.address) {
    Add(tentative_);
    tentative_.address = 0;
  }
  Add(event);
}

void HeapCollector::GiveOutUpTo(uint64_t index) {
  const RingMerger& merger = *options_.merger;
  while (merger.waiting() > 0 && merger.first().index <= index) GiveOutFirst();
}

// A new thread of Python allocates before it has its name.
bool HeapCollector::IsNamed(const WaitingEvent& waiting,
                            uint64_t looked_ns) const {
  return options_.merger->waiting() > kMostHeldBack ||
         HasItsName(options_.pid, waiting.native_thread, waiting.time_ns,
                    looked_ns, *options_.definitions);
}

void HeapCollector::EndRound(uint64_t index, uint64_t looked_ns) {
  const RingMerger& merger = *options_.merger;
  if (merger.waiting() == 0) return;
  if (merger.merges()) return GiveOutUpTo(index);
  // The name may be in the event ring by now, because the collector was
  // delayed.
  while (merger.waiting() > 0 && IsNamed(merger.first(), looked_ns)) {
    GiveOutFirst();
  }
}

void HeapCollector::Add(const HeapEvent& event) {
  ++(event.is_free ? frees_ : allocations_);
  encoder_.Add(event);
  if (IsToLook()) Look();
}

// Called once for kLookEach entries, so that the hot loops compare one number.
void HeapCollector::Look() {
  if (encoder_.entries() >= kMaxEntries ||
      encoder_.max_stated_bytes() >= kMaxStatedBytes) {
    return WriteBatch();
  }
  look_at_ = encoder_.entries() + kLookEach;
}

void HeapCollector::WriteBatch() {
  if (encoder_.entries() == 0) return;
  const RowCounts holds = {.heap_events = encoder_.entries()};
  Record record;
  encoder_.Take(record.mutable_heap());
  look_at_ = kLookEach;
  options_.out->Write(record.SerializeAsString(), holds);
}

void HeapCollector::WriteRates(const HeapRates& rates) {
  WriteBatch();
  rates_ = rates;
  Record record;
  *record.mutable_heap_rates() = rates;
  options_.out->Write(record);
}

void HeapCollector::EndBatch(uint64_t now_ns) {
  WriteBatch();
  const uint64_t all_lost = lost();
  if (all_lost <= written_lost_) return;
  Record record;
  HeapLoss* const loss = record.mutable_heap_loss();
  loss->set_time_us(options_.clock->MicrosOfMonotonic(now_ns));
  loss->set_events(all_lost - written_lost_);
  written_lost_ = all_lost;
  options_.out->Write(record);
}

void HeapCollector::Finish(uint64_t now_ns, bool) {
  GiveOutUpTo(~uint64_t{0});
  EndBatch(now_ns);
}

uint64_t HeapCollector::lost() const {
  return options_.page->heap_dropped.load(std::memory_order_relaxed) +
         options_.side->lost(SideParty::kHeap);
}

void HeapCollector::AddToFooter(Footer* footer) const {
  footer->set_heap_allocations(allocations_);
  footer->set_heap_frees(frees_);
  footer->set_heap_events_lost(written_lost_);
  if (finalize_events_.has_value()) {
    footer->set_finalize_heap_events(*finalize_events_);
  }
}

}  // namespace pymemrun
