// Which blocks are alive and what they come to: replays the heap events of a
// run.
//
// Each recorded block of `size` bytes stands for 1/p blocks (HeapWeights), so
// the sums are estimates:
//   bytes = sum(size / p),                count = sum(1 / p),
//   variance of bytes = sum(size^2 (1 - p) / p^2), of count sum((1 - p) / p^2)
// (Horvitz and Thompson's for independent draws). Where every block is recorded
// they are exact, the variances 0. A free takes away what its allocation added.
//
// What C code has mapped is kept beside the blocks, by ranges of addresses. It
// is reserved, and may never be touched: it is no part of what is alive.
// Unmapping a part takes that part's bytes away; what is left keeps the weight
// that the whole had, and is one block until its last part goes.
//
// Memory: 24 bytes of a hash table for each live block, 80 for each mapping, 40
// for each further part of one, 250 for each source; nothing for each event.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MODEL_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "readers/replay/heap/heap_mappings.h"
#include "readers/replay/heap/heap_source.h"
#include "readers/replay/heap/heap_weights.h"
#include "readers/replay/library_waits/library_waits.h"

namespace pymemrun {

// Not thread safe.
class HeapModel {
 public:
  struct Limits {
    size_t blocks = size_t{1} << 26;
    size_t sources = size_t{1} << 22;
  };
  struct Block {
    uint32_t source;
    uint32_t sequence;  // of its thread's allocations, modulo 2^32, or its step
    uint64_t size : 47;
    uint64_t rate : 17;
  };

  HeapModel() : HeapModel(Limits()) {}
  explicit HeapModel(const Limits& limits);

  // Counts as temporary what is freed before its thread has allocated `limit`
  // times more. REQUIRES: nothing was added.
  void CountTemporary(uint32_t limit) { temporary_limit_ = limit; }
  // What is allocated from now on is of this step. Not with CountTemporary().
  void BeginStep(uint32_t step) { step_ = step; }
  // Threads of libraries have a source for each line that waits for them, each
  // task sources of its own, or one. REQUIRES: nothing was added.
  void KnowWaits(WaitCursor waits) { waits_ = std::move(waits); }
  void TellTasksApart(TaskOfEvent task_of, bool with_stacks);
  HeapSources* mutable_sources() { return &sources_; }
  // Tells apart what counts, tracing's own and what is reserved alone. Before.
  void SumUp();
  // What this stack allocates is tracing's own: no part of live() and the peak.
  void SetTracing(uint32_t stack);
  // What this code maps is its caller's, as a block is; else it is a pool.
  void SetBlockMapper(uint32_t code) { block_mappers_.insert(code); }
  void SetRates(const HeapRates& rates) { rate_ = weights_.NumberOf(rates); }
  uint32_t rate() const { return rate_; }  // their HeapWeights number
  // Events in the order of the file.
  void Add(const HeapEvent* events, size_t count);
  // What is alive is taken for allocated just now, and nothing came before.
  void BeginAnew();

  const HeapSums& live() const { return live_; }  // without tracing's own
  HeapSums Allocated() const { return sources_.Allocated(); }
  HeapSums Freed() const;
  // The highest live().bytes that there was, and when it was reached first.
  double peak_bytes() const { return peak_bytes_; }
  uint64_t peak_us() const { return peak_us_; }

  // By number of the source. Number 0 holds those that found no room.
  const std::vector<HeapSource>& sources() const { return sources_.all(); }
  // What was alive of a source at the peak.
  const HeapSums& AtPeak(uint32_t source) const {
    const HeapSource& of = sources()[source];
    return of.kept_for == peak_number_ ? of.kept : of.live;
  }
  // Live blocks by address.
  const absl::flat_hash_map<uint64_t, Block>& blocks() const { return blocks_; }
  double WeightOf(const Block& block) const {
    return weights_.WeightOf(block.rate, block.size);
  }
  const HeapMappings& mappings() const { return mappings_; }
  double WeightOf(const HeapMappings::Mapping& mapping) const {
    return weights_.WeightOf(mapping.rate, mapping.rate_bytes);
  }

  // Of what is recorded now.
  double WeightNow(uint64_t size) const {
    return weights_.WeightOf(rate_, size);
  }
  bool IsTracing(uint32_t stack) const {
    return stack < tracing_.size() && tracing_[stack];
  }

  // Frees of no known block; blocks whose free was lost.
  uint64_t unmatched_frees() const { return unmatched_frees_; }
  uint64_t missed_frees() const { return missed_frees_; }
  uint64_t not_kept() const { return not_kept_; }

 private:
  void Allocate(const HeapEvent& event);
  void Free(const Block& block);
  void FreeAt(const HeapEvent& event);
  void Map(const HeapEvent& event);
  void TakeMoved(const HeapEvent& event);
  void AddMapping(uint64_t begin, const HeapMappings::Mapping& mapping);
  void Unmap(const HeapEvent& range);
  void ShrinkMapping(const HeapMappings::Mapping& mapping, uint64_t bytes);
  void MakeRoomFor(const HeapEvent& event);
  uint32_t SourceOf(const HeapEvent& event);
  uint32_t FindSource(const HeapSource::Key& key);
  // It is going to change.
  HeapSource& Change(uint32_t number);
  uint32_t& AllocationsOf(uint32_t thread);

  const Limits limits_;
  absl::flat_hash_map<uint64_t, Block> blocks_;
  HeapMappings mappings_;
  absl::flat_hash_map<uint32_t, std::vector<MovedPart>> moved_;  // by thread
  HeapSources sources_;
  std::vector<uint32_t> last_of_stack_;  // the source found last; 0: none yet
  TaskOfEvent task_of_;
  WaitCursor waits_;
  bool joins_stacks_ = false, sums_up_ = false;
  std::vector<bool> tracing_;  // by stack
  absl::flat_hash_set<uint32_t> block_mappers_;
  HeapWeights weights_;
  uint32_t rate_ = 0;
  HeapSums live_;
  double peak_bytes_ = 0;
  uint64_t peak_us_ = 0, peak_number_ = 0;
  uint32_t temporary_limit_ = 0, step_ = 0;
  std::vector<uint32_t> allocations_;  // by thread, for CountTemporary()
  uint64_t unmatched_frees_ = 0, missed_frees_ = 0, not_kept_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MODEL_H_
