// Producers of the side ring: signal handlers and interposed calls. Any thread
// at any time, also in a signal handler that interrupts another item: no locks
// and no allocation. Makes a system call for the first item of a thread, and
// when the ring fills. Keeps errno.
#ifndef PYMEMRUN_TRACER_RING_SIDE_RING_H_
#define PYMEMRUN_TRACER_RING_SIDE_RING_H_

#include <cstddef>
#include <cstdint>

#include "tracer/base/own_page.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

class SideRing {
 public:
  // Opens the ring for items. `page` begins the whole mapped region. Returns
  // false with errno set if the ring cannot be hidden from children.
  static bool Open(ControlPage* page);
  // Closes the ring: later items are ignored.
  static void Close();
  // In a forked child: forgets the thread id of the parent.
  static void ForgetThread();

  // Returns the region, or null if the ring is not open or this is a forked
  // child. Acquire: the caller sees everything written before Open().
  static ControlPage* page() {
    return g_state.page.load(std::memory_order_acquire);
  }
  // Largest definition in bytes: it must not fill a small ring.
  static size_t max_definition() {
    const size_t half = (g_state.mask + 1) * kSidePayloadBytes / 2;
    return half < kMaxSideDefinition ? half : kMaxSideDefinition;
  }

 private:
  friend class SideItem;
  // In a separate page that a forked child finds zeroed.
  struct alignas(kOwnPage) State {
    std::atomic<ControlPage*> page;
    SideContinued* cells;
    uint64_t mask;  // number of cells - 1
    // A wait timed out. No thread waits again until there is room.
    std::atomic<bool> gave_up;
  };
  static State g_state;
};

// Linux thread id of the calling thread.
uint32_t NativeThreadId();

// One item that is being written. The collector waits for a reserved item and
// takes nothing after it. So commit it at once, or after the one call that it
// must enclose.
class SideItem {
 public:
  // Reserves an item with `payload_bytes` after its head. If the ring is full,
  // waits as --on-full says. Without room ok() is false, and the item counts as
  // dropped unless it is kNothing. Sets the kind and thread of the head.
  SideItem(SideKind kind, size_t payload_bytes) {
    Reserve(kind, payload_bytes);
  }
  // Creates an item without a reservation; ok() is false.
  SideItem() = default;
  ~SideItem();
  SideItem(const SideItem&) = delete;
  SideItem& operator=(const SideItem&) = delete;

  // Reserves as the first constructor does. Call it at most once.
  void Reserve(SideKind kind, size_t payload_bytes);
  bool ok() const { return cells_ != 0; }
  // REQUIRES for all methods below: ok().
  // The head. The caller fills it except `sequence`, `cells` and, unless it
  // changes, `kind`.
  template <typename Head = SideHead>
  Head& head() {
    return static_cast<Head&>(Begin());
  }
  // Copies the fields of `facts` into the head.
  template <typename Head>
  void Fill(const Head& facts) {
    SideHead& to = head();
    to.flags = facts.flags;
    to.detail = facts.detail;
    to.time_ns = facts.time_ns;
    __builtin_memcpy(static_cast<void*>(&to + 1),
                     static_cast<const SideHead*>(&facts) + 1,
                     kSideCellBytes - sizeof(to));
  }
  // Appends to the payload, up to the reserved size.
  void Append(const void* data, size_t bytes);
  // Hands the item to the collector.
  void Commit();

 private:
  SideHead& Begin();
  SideContinued& CellAt(uint32_t i);

  ControlPage* page_ = nullptr;
  uint64_t index_ = 0;
  uint32_t cells_ = 0;
  uint32_t at_cell_ = 1;
  size_t at_byte_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_SIDE_RING_H_
