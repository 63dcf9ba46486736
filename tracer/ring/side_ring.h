// The producers' half of the side ring: what signal handlers and interposed
// calls tell the collector. Any thread, at any time, in a signal handler too:
// no lock, no allocation; a handler may interrupt another item being made. A
// system call is made for a thread's first item, and where the ring fills.
// Keeps errno.
#ifndef PYMEMRUN_TRACER_RING_SIDE_RING_H_
#define PYMEMRUN_TRACER_RING_SIDE_RING_H_

#include <cstddef>
#include <cstdint>

#include "tracer/base/own_page.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

class SideRing {
 public:
  // Items are taken from here on. `page` begins a region that is mapped whole.
  // Returns false, errno set, when it cannot be kept from children.
  static bool Open(ControlPage* page);
  // None is taken any more.
  static void Close();
  // In a forked child: the calling thread is another one for the kernel.
  static void ForgetThread();

  // The region, or null: not open, or a forked child.
  // Acquire: with it, what was made before Open() is there.
  static ControlPage* page() {
    return g_state.page.load(std::memory_order_acquire);
  }
  // The most bytes of a definition: one must not fill a small ring.
  static size_t max_definition() {
    const size_t half = (g_state.mask + 1) * kSidePayloadBytes / 2;
    return half < kMaxSideDefinition ? half : kMaxSideDefinition;
  }

 private:
  friend class SideItem;
  // A page of its own, which a forked child finds zeroed.
  struct alignas(kOwnPage) State {
    std::atomic<ControlPage*> page;
    SideContinued* cells;
    uint64_t mask;  // their number - 1
    // A wait timed out; nobody waits again until there is room.
    std::atomic<bool> gave_up;
  };
  static State g_state;
};

// The calling thread's number in the kernel.
uint32_t NativeThreadId();

// One item under way. The collector waits for what was reserved, and takes
// nothing behind it, so it is to be committed at once, or after one call that
// it is held across.
class SideItem {
 public:
  // Reserves an item of `payload_bytes` behind its head. Where the ring is full
  // it waits as the policy says; without room ok() is false and the item counts
  // as dropped, unless it is of kNothing. The head has its kind and thread.
  SideItem(SideKind kind, size_t payload_bytes) {
    Reserve(kind, payload_bytes);
  }
  // Not ok() yet.
  SideItem() = default;
  ~SideItem();
  SideItem(const SideItem&) = delete;
  SideItem& operator=(const SideItem&) = delete;

  // As the first constructor. At most once.
  void Reserve(SideKind kind, size_t payload_bytes);
  bool ok() const { return cells_ != 0; }
  // REQUIRES for all that follows: ok().
  // The head, to be filled except for `sequence`, `cells` and, unless it
  // changes, `kind`.
  template <typename Head = SideHead>
  Head& head() {
    return static_cast<Head&>(Begin());
  }
  // Fills the head with what `facts` say.
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
  // Appends to the payload, up to what was reserved.
  void Append(const void* data, size_t bytes);
  // Makes it the collector's.
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
