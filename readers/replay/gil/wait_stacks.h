// Where threads wait for the GIL: the time of each stack, or of the place that
// held the GIL during the wait. Used by `pymemreport gil --off`.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_WAIT_STACKS_H_
#define PYMEMRUN_READERS_REPLAY_GIL_WAIT_STACKS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/replay/gil/gil_replay.h"

namespace pymemrun {

// What a wait's time is charged to.
enum class WaitsBy {
  kWaiter,  // the stack of the thread that waited
  kHolder,  // the thread that held the GIL then, where it let go
  kBoth,
};

// Reads the whole run. Time and memory are linear in the file. Not thread safe.
class WaitStacks final : public GilReplay {
 public:
  // A wait that was too short to get a stack.
  static constexpr uint32_t kShort = ~0u;
  // Fields that were not asked for are 0.
  struct Key {
    uint32_t waiter = 0;  // first ThreadDef.id
    uint32_t stack = 0;   // the waiter's; 0: not recorded
    uint32_t holder = 0;  // as in GilReplay::Pair
    GilPlace place;       // the holder's

    friend bool operator==(const Key& a, const Key& b) {
      return a.waiter == b.waiter && a.stack == b.stack &&
             a.holder == b.holder && a.place == b.place;
    }
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.waiter, key.stack, key.holder,
                        key.place);
    }
  };
  struct Sum {
    uint64_t ns = 0;
    // kWaiter: see GilThreadTimes::waits; otherwise the waits that took part.
    uint64_t waits = 0;
  };

  explicit WaitStacks(WaitsBy by) : by_(by) {}

  void OnHeader(const Header& header) override { header_ = header; }
  void Finish() override;
  const Header& header() const { return header_; }
  // After Finish(). All of it is what GilThreadTimes::waited_ns adds up to.
  const absl::flat_hash_map<Key, Sum>& sums() const { return sums_; }

 protected:
  void OnWait(uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
              GilWaitKind kind) override;
  void OnCharge(uint32_t thread, uint32_t holder, const GilPlace& place,
                uint64_t ns) override;
  void OnWaiterStack(uint32_t thread, uint64_t time_ns,
                     uint32_t stack) override;

 private:
  struct Part {
    uint32_t holder;
    GilPlace place;
    uint64_t ns;
  };
  // The last wait of a thread, whose stack comes behind it. A thread that gave
  // way goes on to wait: that is one.
  struct Last {
    std::vector<Part> parts;
    uint64_t end_ns = 0;
    uint64_t waits = 0;
    uint32_t stack = 0;
    bool is_told = false;  // the stack is that of its end
    // The next wait, which starts at this time.
    uint64_t next_ns = 0;
    uint32_t next_stack = 0;
  };

  Last& LastOf(uint32_t thread);
  void Close(uint32_t thread, Last* last);

  const WaitsBy by_;
  Header header_;
  std::vector<Last> last_;  // by first ThreadDef.id
  absl::flat_hash_map<Key, Sum> sums_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_WAIT_STACKS_H_
