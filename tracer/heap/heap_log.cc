#include "tracer/heap/heap_log.h"

#include "tracer/base/clock.h"
#include "tracer/code/current_stack.h"
#include "tracer/code/side_event.h"
#include "tracer/code/thread_registry.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {

namespace {

// An event and the state before it: thread, clock, size.
constexpr uint32_t kMaxSlots = 4;
// The time is written with every 16th event, and for blocks larger than kLarge.
constexpr uint32_t kClockEvents = 16;
constexpr size_t kLarge = 512;
// The free of a block of at least this size also states its time, because RSS
// falls.
constexpr size_t kLargeFree = size_t{64} << 10;
constexpr uintptr_t kMappedOffset = 16, kPageBytes = 4096;

// The thread has no id yet. Its first frame has the Thread object with its
// name, so events before that frame belong to no thread.
[[gnu::noinline, gnu::cold]] void DefineThread(HotState& hot) {
  const PymemrunFrame* frame = PymemrunTopFrame(PymemrunGilHolder());
  if (frame == nullptr && NativeThreadId() != hot.page->traced_pid) return;
  const HeapInside inside;
  hot.parts.threads->Define(hot, frame);
}

// Under the GIL there is one writer, so load and store are enough.
[[gnu::noinline, gnu::cold]] void Lost(HotState& hot) {
  hot.page->heap_dropped.store(
      hot.page->heap_dropped.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}

// Whether the ring has room for an event and its state. Defines the thread
// first if it has no id.
inline bool IsReady(HotState& hot) {
  if (__builtin_expect(t_thread_id == 0, 0)) DefineThread(hot);
  if (__builtin_expect(hot.head + kMaxSlots <= hot.limit, 1)) return true;
  hot.parts.threads->LookAtName(hot, TimeStamp(hot.time_is_tsc));
  if (ReserveSlots(hot, kMaxSlots)) return true;
  Lost(hot);
  return false;
}

// Says that the slots from here on are of this thread.
[[gnu::noinline]] uint64_t PutThread(HotState& hot, uint64_t at) {
  PutControl(hot, at, ControlKind::kThread, t_thread_id, 0, 0);
  hot.row_thread = t_thread_id;
  // The next row must not take this for its own thread's state.
  hot.current_thread = ~0u;
  return at + 1;
}

// Writes the full time stamp. Names of threads are looked at no more often than
// that.
uint64_t PutClock(HotState& hot, uint64_t at) {
  const uint64_t stamp = TimeStamp(hot.time_is_tsc);
  PutControl(hot, at, ControlKind::kClock, static_cast<uint32_t>(stamp),
             static_cast<uint32_t>(stamp >> 32), 0);
  hot.row_tsc = stamp;
  hot.heap_since_clock = 0;
  // A new name is a definition, which does not fit into the reserved slots. So
  // the next event looks at it.
  if (ThreadRegistry::IsNameOld(stamp)) ForceSlowPath(hot);
  return at + 1;
}

// Writes the state that must precede the event. REQUIRES: IsReady().
inline uint64_t PutState(HotState& hot, bool clock) {
  uint64_t at = hot.head;
  if (__builtin_expect(t_thread_id != hot.row_thread, 0)) {
    at = PutThread(hot, at);
  }
  if (clock || ++hot.heap_since_clock >= kClockEvents) at = PutClock(hot, at);
  return at;
}

inline void PutEvent(HotState& hot, uint64_t at, uint32_t what_and_stack,
                     uint32_t size, const void* address, uint32_t flags) {
  const uint64_t bits = reinterpret_cast<uintptr_t>(address);
  SlotAt(hot, at) =
      EventSlot{what_and_stack, size, static_cast<uint32_t>(bits),
                static_cast<uint32_t>(bits >> 32 & 0xffff) | flags};
  Publish(hot, at + 1);
}

// Whether the block has at least kLargeFree bytes. glibc keeps the size in the
// word before a block, and is about to read it itself. Only an address below
// the break, or at the offset of a block with its own mapping, is surely
// glibc's. From glibc 2.43 on such a mapping has its size without the head.
inline bool IsLargeFree(const HotState& hot, const void* address) {
  constexpr size_t kMapped = 2;
  const auto bits = reinterpret_cast<uintptr_t>(address);
  const uintptr_t offset = bits % kPageBytes;
  const bool may_be_mapped = offset == kMappedOffset;
  if (!may_be_mapped &&
      (bits >= reinterpret_cast<uintptr_t>(*hot.brk_word) ||
       offset < kMappedOffset)) {  // the word is another page's
    return false;
  }
  const size_t word = static_cast<const size_t*>(address)[-1];
  return word >= kLargeFree &&
         (bits < reinterpret_cast<uintptr_t>(*hot.brk_word) ||
          word % kPageBytes == kMapped ||
          (word + kMappedOffset) % kPageBytes == kMapped);
}

inline void PutFree(HotState& hot, const void* address, uint32_t flags) {
  if (!IsReady(hot)) return;
  const bool large = IsLargeFree(hot, address);
  PutEvent(hot, PutState(hot, large), kFreeWhat << kWhatShift, 0, address,
           flags);
}

// The next slot of the event ring, see HeapSlot. Acquire: pairs with the
// release of the producer.
uint64_t RingPosition() {
  const ControlPage* page = SideRing::page();
  return page != nullptr ? page->head.load(std::memory_order_acquire) : 0;
}

void FillFree(SideItem* item, const void* address, uint64_t position) {
  SideHeapEvent& head = item->head<SideHeapEvent>();
  head.flags = 0;
  head.detail = 0;
  head.time_ns = MonotonicNs();
  head.address = reinterpret_cast<uint64_t>(address);
  head.index = position;
}

}  // namespace

// The stack comes first: its definitions need room in the ring, too.
void HeapLog::Allocated(HotState& hot, PyThreadState* tstate,
                        const HeapBlock& block) {
  const uint32_t stack =
      hot.parts.stacks->Of(hot, PymemrunInnermostFrame(tstate));
  if (!IsReady(hot)) return;
  const bool large = block.size > kLarge;
  uint64_t at = PutState(hot, large);
  if (__builtin_expect(block.size >> 32 != 0, 0)) {
    PutControl(hot, at++, ControlKind::kHeapSize,
               static_cast<uint32_t>(block.size >> 32), 0, 0);
  }
  PutEvent(hot, at, kAllocWhat << kWhatShift | stack,
           static_cast<uint32_t>(block.size), block.address,
           static_cast<uint32_t>(block.kind) << kHeapAllocatorShift |
               (block.by_tracing ? kHeapTracing : 0));
}

void HeapLog::Fails(bool of_object) {
  HotState& hot = Hot();
  if (of_object && hot.page != nullptr) hot.parts.stacks->EventsMissed();
}

void HeapLog::Freeing(HotState& hot, const void* address) {
  PutFree(hot, address, 0);
}

void HeapLog::Reallocating(HotState& hot, const void* address) {
  PutFree(hot, address, kHeapTentative);
}

void HeapLog::Kept(HotState& hot, const void* address) {
  PutFree(hot, address, kHeapKept);
}

void HeapLog::StateClock(HotState& hot) { hot.heap_since_clock = kClockEvents; }

// Called after the allocation, so the ring position is at or behind that of an
// earlier free of this address.
bool HeapAside::Allocated(const HeapBlock& block) {
  SideHeapEvent event;
  event.kind = SideKind::kAlloc;
  event.flags = block.by_tracing ? kSideTracing : 0;
  event.detail = SideHead::Detail(0, block.kind);
  event.address = reinterpret_cast<uint64_t>(block.address);
  event.bytes = block.size;
  event.time_ns = MonotonicNs();
  event.index = RingPosition();
  return PutWithStack(event, block.caller);
}

void HeapAside::Freeing(const void* address) {
  const uint64_t position = RingPosition();
  SideItem item(SideKind::kFree, 0);
  if (!item.ok()) return;
  FillFree(&item, address, position);
  item.Commit();
}

HeapAsideFree::HeapAsideFree(const void* old) { Hold(SideKind::kFree, old); }

HeapAsideFree::HeapAsideFree(const void* start, size_t bytes, bool moves) {
  Hold(SideKind::kUnmap, start);
  if (!place_.ok()) return;
  SideHeapEvent& head = place_.head<SideHeapEvent>();
  head.flags = moves ? kSideMoves : 0;
  head.bytes = bytes;
}

void HeapAsideFree::Hold(SideKind kind, const void* old) {
  if (old == nullptr) return;
  const uint64_t position = RingPosition();
  place_.Reserve(kind, 0);
  if (place_.ok()) FillFree(&place_, old, position);
}

void HeapAsideFree::Freed() {
  done_ = true;
  if (place_.ok()) place_.Commit();
}

// The call failed: the reserved item becomes one that carries nothing.
HeapAsideFree::~HeapAsideFree() {
  if (!place_.ok() || done_) return;
  place_.head().kind = SideKind::kNothing;
  place_.head().flags = 0;
  place_.Commit();
}

}  // namespace pymemrun
