// The sources of blocks: what they allocated and what is alive. Used by
// HeapModel.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_SOURCE_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_SOURCE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "format/batches/heap_event.h"

namespace pymemrun {

// Returns the task that made an allocation; 0: no task.
using TaskOfEvent = std::function<uint32_t(const HeapEvent& event)>;

// Sums over blocks. See HeapModel for the estimates.
struct HeapSums {
  uint64_t recorded = 0;  // blocks in the file
  double bytes = 0, count = 0;
  double bytes_variance = 0, count_variance = 0;

  void Add(uint64_t size, double weight) {
    const auto size_bytes = static_cast<double>(size);
    ++recorded;
    bytes += weight * size_bytes;
    count += weight;
    if (weight == 1) return;
    // (1 - p) / p^2
    const double variance = weight * (weight - 1);
    bytes_variance += size_bytes * size_bytes * variance;
    count_variance += variance;
  }
  // REQUIRES: a block of this size and weight was added.
  void Remove(uint64_t size, double weight) {
    // Rounding errors do not outlive the last block.
    if (--recorded == 0) {
      *this = HeapSums();
      return;
    }
    const auto size_bytes = static_cast<double>(size);
    bytes -= weight * size_bytes;
    count -= weight;
    if (weight == 1) return;
    const double variance = weight * (weight - 1);
    bytes_variance -= size_bytes * size_bytes * variance;
    count_variance -= variance;
  }
  // A block of `from` bytes shrinks to `to`; at 0 it is removed.
  void Shrink(uint64_t from, uint64_t to, double weight) {
    if (to == 0) return Remove(from, weight);
    const auto before = static_cast<double>(from);
    const auto after = static_cast<double>(to);
    bytes -= weight * (before - after);
    if (weight == 1) return;
    bytes_variance -= (before * before - after * after) * weight * (weight - 1);
  }
  void Add(const HeapSums& other) {
    recorded += other.recorded;
    bytes += other.bytes;
    count += other.count;
    bytes_variance += other.bytes_variance;
    count_variance += other.count_variance;
  }
  // One standard error.
  double BytesError() const { return std::sqrt(std::fmax(bytes_variance, 0)); }
  double CountError() const { return std::sqrt(std::fmax(count_variance, 0)); }
};

// Where blocks come from: a stack, on a thread, from one allocator.
struct HeapSource {
  // Ids are those of the run file.
  struct Key {
    uint32_t stack = 0;
    uint32_t thread = 0;
    uint32_t code = 0;
    HeapAllocator allocator = HEAP_OBJ;
    uint32_t task = 0;   // see HeapModel::TellTasksApart()
    uint32_t waits = 0;  // see Origin

    friend bool operator==(const Key& a, const Key& b) {
      return a.stack == b.stack && a.thread == b.thread && a.code == b.code &&
             a.allocator == b.allocator && a.task == b.task &&
             a.waits == b.waits;
    }
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.stack, k.thread, k.code,
                        static_cast<int>(k.allocator), k.task, k.waits);
    }
  };

  Key key;
  bool tracing = false;   // allocated by tracing itself
  bool reserved = false;  // mapped by C code: addresses, not memory
  // A reserved source that is a library's own pool: how it is used is unknown.
  bool pool = false;
  bool held = false;  // never let go
  HeapSums live;
  HeapSums allocated;  // since the run's start
  HeapSums temporary;  // freed soon; see HeapModel::CountTemporary()
  // `live` at the peak with this number, if it has changed since.
  uint64_t kept_for = 0;
  HeapSums kept;

  // Whether its live blocks count as live bytes of the program.
  bool counts() const { return !tracing && !reserved; }
};

// The sources of a model, by number. Number 0 takes the blocks of sources that
// did not fit. Not thread safe.
class HeapSources {
 public:
  using LetGo = std::function<void(const HeapSource&)>;

  explicit HeapSources(size_t most) : most_(most), all_(1) {}
  // From now on idle sources are passed to `let_go` from time to time, and
  // their numbers are reused. Idle: nothing is alive, and nothing was at the
  // peak.
  void set_let_go(LetGo let_go) { let_go_ = std::move(let_go); }
  std::vector<HeapSource>& all() { return all_; }
  const std::vector<HeapSource>& all() const { return all_; }
  // Exempts the sources that have live blocks now.
  void HoldLive();
  // Returns 0 if no source has this key.
  uint32_t Find(const HeapSource::Key& key) const;
  bool are_many() const { return let_go_ && numbers_.size() >= many_; }
  // Lets idle sources go; `peak_number` is that of the current peak.
  void LetIdleGo(uint64_t peak_number);
  uint32_t Make(const HeapSource::Key& key);  // 0: it does not fit
  // What the program allocated, including sources that were let go.
  HeapSums Allocated() const;
  void BeginAnew();  // see HeapModel

 private:
  static constexpr size_t kMany = size_t{1} << 15;

  const size_t most_;
  std::vector<HeapSource> all_;
  absl::flat_hash_map<HeapSource::Key, uint32_t> numbers_;
  LetGo let_go_;
  std::vector<uint32_t> free_;  // numbers
  HeapSums gone_;               // what the sources let go had allocated
  size_t many_ = kMany;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_SOURCE_H_
