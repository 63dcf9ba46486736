#include "tracer/ring/side_ring.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/ring/ring_wait.h"

namespace pymemrun {
namespace {

// Number of items that this thread has begun and not committed. A signal
// handler may interrupt an item of its own thread. It must not wait for room
// then: the collector waits for the interrupted item, so neither would
// continue. t_items_open == 1 in MayWait() means: only the new item.
constinit thread_local uint32_t t_items_open = 0;

constinit thread_local uint32_t t_native_id = 0;

// kNothing carries no data, so its loss is not counted.
void CountDropped(ControlPage* page, SideKind kind) {
  if (kind == SideKind::kNothing) return;
  page->side_dropped[static_cast<uint32_t>(PartyOf(kind))].fetch_add(
      1, std::memory_order_relaxed);
}

bool MayWait(const ControlPage& page, const std::atomic<bool>& gave_up) {
  return page.on_full == OnFull::kBlock && t_items_open == 1 &&
         !gave_up.load(std::memory_order_relaxed);
}

// Returns whether there is room up to `end`, at once or after a wait.
bool MakeRoom(ControlPage* page, uint64_t end, std::atomic<bool>* gave_up) {
  const RingRoom room = {&ReplyOf(page).side_tail, SideCells(*page)};
  if (end <= room.FreeUpTo()) {
    gave_up->store(false, std::memory_order_relaxed);
    return true;
  }
  if (!MayWait(*page, *gave_up)) return false;
  page->side_stalls.fetch_add(1, std::memory_order_relaxed);
  const bool made = WaitForRoom(page, room, end) == RingWait::kRoom;
  if (!made) gave_up->store(true, std::memory_order_relaxed);
  return made;
}

}  // namespace

constinit SideRing::State SideRing::g_state = {};

bool SideRing::Open(ControlPage* page) {
  if (madvise(&g_state, sizeof(g_state), MADV_WIPEONFORK) != 0) return false;
  g_state.cells = reinterpret_cast<SideContinued*>(
      reinterpret_cast<char*>(page) + SideRingOffset(*page));
  g_state.mask = SideCells(*page) - 1;
  g_state.page.store(page, std::memory_order_release);
  return true;
}

void SideRing::Close() {
  g_state.page.store(nullptr, std::memory_order_release);
}

void SideRing::ForgetThread() { t_items_open = t_native_id = 0; }

uint32_t NativeThreadId() {
  if (t_native_id == 0) {
    t_native_id = static_cast<uint32_t>(syscall(SYS_gettid));
  }
  return t_native_id;
}

void SideItem::Reserve(SideKind kind, size_t payload_bytes) {
  page_ = SideRing::page();
  if (page_ == nullptr) return;
  ++t_items_open;
  const uint32_t cells = static_cast<uint32_t>(
      1 + (payload_bytes + kSidePayloadBytes - 1) / kSidePayloadBytes);
  // Relaxed is enough for side_head: it only divides cells among producers. The
  // contents are ordered by each cell's sequence.
  //
  // Room is checked before the exchange, so cells are never reserved over
  // unread ones. If another producer was faster, `index` has its new value, and
  // the check is repeated.
  uint64_t index = page_->side_head.load(std::memory_order_relaxed);
  do {
    if (!MakeRoom(page_, index + cells, &SideRing::g_state.gave_up)) {
      CountDropped(page_, kind);
      return;
    }
  } while (!page_->side_head.compare_exchange_weak(index, index + cells,
                                                   std::memory_order_relaxed));
  index_ = index;
  cells_ = cells;
  // Marks the item as begun before the caller fills it: if this thread dies
  // now, the collector knows what was lost, and does not wait for it.
  SideContinued& cell = CellAt(0);
  SideHead& begun = reinterpret_cast<SideHead&>(cell);
  begun.kind = kind;
  begun.thread = NativeThreadId();
  cell.sequence.store((index + 1) | kSideBegun, std::memory_order_release);
  const uint64_t used =
      index + cells - ReplyOf(page_).side_tail.load(std::memory_order_relaxed);
  // The collector looks by itself every few milliseconds. It is woken early
  // when a quarter of the ring is used.
  if (used > SideRing::g_state.mask / 4) WakeCollector(page_);
}

SideItem::~SideItem() {
  if (page_ != nullptr) --t_items_open;
}

SideContinued& SideItem::CellAt(uint32_t i) {
  return SideRing::g_state.cells[(index_ + i) & SideRing::g_state.mask];
}

SideHead& SideItem::Begin() { return reinterpret_cast<SideHead&>(CellAt(0)); }

void SideItem::Append(const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0 && at_cell_ < cells_) {
    const size_t room = kSidePayloadBytes - at_byte_;
    const size_t n = bytes < room ? bytes : room;
    memcpy(CellAt(at_cell_).payload + at_byte_, from, n);
    from += n;
    bytes -= n;
    at_byte_ += n;
    if (at_byte_ == kSidePayloadBytes) {
      at_byte_ = 0;
      ++at_cell_;
    }
  }
}

void SideItem::Commit() {
  head().cells = cells_;
  // The head is committed last. Each store is a release that pairs with the
  // acquire in SideReader. So a reader that sees the head sees all other cells,
  // too.
  for (uint32_t i = cells_; i-- > 0;) {
    CellAt(i).sequence.store(index_ + i + 1, std::memory_order_release);
  }
}

}  // namespace pymemrun
