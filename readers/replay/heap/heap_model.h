// Which blocks are alive, and how many bytes they have: replays the heap events
// of a run.
//
// Each recorded block of `size` bytes stands for 1/p blocks (HeapWeights). So
// the sums are estimates, by Horvitz and Thompson's formula for independent
// draws:
//   bytes = sum(size / p),                count = sum(1 / p),
//   variance of bytes = sum(size^2 (1 - p) / p^2), of count sum((1 - p) / p^2)
// If every block was recorded they are exact, and the variances are 0. A free
// subtracts what its allocation added.
//
// Mappings made by C code are kept apart from blocks, as ranges of addresses.
// They are reserved, perhaps never touched, and do not count as alive.
// Unmapping a part subtracts the bytes of the part. The rest keeps the weight
// of the whole, and is one block until its last part goes.
//
// Memory: 24 bytes for each live block, 80 for each mapping, 40 for each
// further part of one, 250 for each source. It does not grow with the number of
// events.
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
  // The most live blocks and sources. What exceeds them is counted in
  // not_kept().
  struct Limits {
    size_t blocks = size_t{1} << 26;
    size_t sources = size_t{1} << 22;
  };
  // A live block: 16 bytes.
  struct Block {
    uint32_t source;
    // The thread's allocation number, modulo 2^32, or the step.
    uint32_t sequence;
    uint64_t size : 47;
    uint64_t rate : 17;
  };

  HeapModel() : HeapModel(Limits()) {}
  explicit HeapModel(const Limits& limits);

  // Counts a block as temporary if it is freed before its thread has made
  // `limit` more allocations. REQUIRES: nothing was added.
  void CountTemporary(uint32_t limit) { temporary_limit_ = limit; }
  // Later allocations belong to this step. Not together with CountTemporary().
  void BeginStep(uint32_t step) { step_ = step; }
  // Splits the sources of library threads by the line that waits for these
  // threads. REQUIRES: nothing was added.
  void KnowWaits(WaitCursor waits) { waits_ = std::move(waits); }
  // Splits all sources by task, with stacks or without. REQUIRES: nothing was
  // added.
  void TellTasksApart(TaskOfEvent task_of, bool with_stacks);
  HeapSources* mutable_sources() { return &sources_; }
  // Keeps three sums instead of sources: live blocks, tracing's own, and
  // mappings. REQUIRES: nothing was added.
  void SumUp();
  // Allocations of this stack are tracing's own: not part of live() and the
  // peak.
  void SetTracing(uint32_t stack);
  // `code` is a module's MappingDef.id. Mappings that this module makes are
  // charged to its caller, as blocks are. Mappings that other modules make are
  // pools.
  void SetBlockMapper(uint32_t code) { block_mappers_.insert(code); }
  void SetRates(const HeapRates& rates) { rate_ = weights_.NumberOf(rates); }
  uint32_t rate() const { return rate_; }  // their number in HeapWeights
  // REQUIRES: events in the order of the file.
  void Add(const HeapEvent* events, size_t count);
  // Treats what is alive as allocated just now, and forgets all counts before.
  void BeginAnew();

  const HeapSums& live() const { return live_; }  // without tracing's own
  HeapSums Allocated() const { return sources_.Allocated(); }
  HeapSums Freed() const;
  // The highest live().bytes so far, and when it was first reached.
  double peak_bytes() const { return peak_bytes_; }
  uint64_t peak_us() const { return peak_us_; }

  // By number. Number 0 takes the blocks of sources that did not fit.
  const std::vector<HeapSource>& sources() const { return sources_.all(); }
  // What was alive of a source at the peak: the copy that Change() made, or
  // `live` if it has not changed since.
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

  // The weight of a block recorded now.
  double WeightNow(uint64_t size) const {
    return weights_.WeightOf(rate_, size);
  }
  bool IsTracing(uint32_t stack) const {
    return stack < tracing_.size() && tracing_[stack];
  }

  // Frees of unknown blocks; blocks whose free was lost.
  uint64_t unmatched_frees() const { return unmatched_frees_; }
  uint64_t missed_frees() const { return missed_frees_; }
  // Blocks and mappings that did not fit.
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
  // The source, which the caller is about to change. Keeps what it had at the
  // peak.
  HeapSource& Change(uint32_t number);
  uint32_t& AllocationsOf(uint32_t thread);

  const Limits limits_;
  absl::flat_hash_map<uint64_t, Block> blocks_;
  HeapMappings mappings_;
  absl::flat_hash_map<uint32_t, std::vector<MovedPart>> moved_;  // by thread
  HeapSources sources_;
  // By stack: the source found last; 0: none yet.
  std::vector<uint32_t> last_of_stack_;
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
