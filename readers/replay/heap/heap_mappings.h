// What C code has mapped and not unmapped. Used by HeapModel.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MAPPINGS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MAPPINGS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"

namespace pymemrun {

// A part of a mapping on its way to another address.
struct MovedPart {
  uint64_t distance;  // from the begin of what moves
  uint64_t bytes;
  uint32_t rate;
  uint64_t rate_bytes;
};

// Ranges of addresses. Unmapping knows nothing of what was mapped in one call:
// it takes parts of it, or several at once. What is left of a mapping are its
// parts; it is gone with the last one. Not thread safe.
//
// Memory: some 40 bytes for each part and 40 for each mapping.
class HeapMappings {
 public:
  struct Mapping {
    uint32_t source;
    uint32_t rate;        // HeapWeights number...
    uint64_t rate_bytes;  // ...and the size, by which it was recorded
    uint64_t left_bytes;  // of all its parts
  };
  struct Part {
    uint64_t end;  // behind it
    uint32_t mapping;
  };
  using Parts = absl::btree_map<uint64_t, Part>;  // by begin; none overlap

  // One part, from `begin` on, of mapping.left_bytes. REQUIRES: left_bytes is
  // not 0, and nothing of Remove(begin, left_bytes) is there.
  void Add(uint64_t begin, const Mapping& mapping);

  // Takes out what lies in `bytes` from `begin` on, by rising addresses. `gone`
  // has the mapping as it was before and how much of it goes, at which
  // distance from `begin`. Returns whether anything was there.
  using Gone = absl::FunctionRef<void(const Mapping& mapping, uint64_t distance,
                                      uint64_t bytes)>;
  bool Remove(uint64_t begin, uint64_t bytes, Gone gone);

  const Parts& parts() const { return parts_; }
  const Mapping& OfPart(const Part& part) const {
    return mappings_[part.mapping];
  }

 private:
  void Shrink(uint32_t mapping, uint64_t bytes);

  Parts parts_;
  std::vector<Mapping> mappings_;
  std::vector<uint32_t> unused_;  // of mappings_
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MAPPINGS_H_
