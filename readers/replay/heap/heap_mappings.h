// What C code has mapped and not unmapped yet. Used by HeapModel.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MAPPINGS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MAPPINGS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"

namespace pymemrun {

// A part of a mapping that mremap is moving.
struct MovedPart {
  uint64_t distance;  // bytes from the start of the moved range
  uint64_t bytes;
  uint32_t rate;
  uint64_t rate_bytes;
};

// Mapped ranges of addresses. One munmap may remove part of a mapping, or
// several mappings at once. What is left of a mapping is kept as parts. The
// mapping goes with its last part. Not thread safe.
//
// Memory: some 40 bytes for each part and 40 for each mapping.
class HeapMappings {
 public:
  // What one call mapped.
  struct Mapping {
    uint32_t source;
    uint32_t rate;        // HeapWeights number of the rates...
    uint64_t rate_bytes;  // ...and the size with which it was recorded
    uint64_t left_bytes;  // of all its parts
  };
  // A range of a mapping that is still mapped. Its start is the key.
  struct Part {
    uint64_t end;  // the first address above it
    uint32_t mapping;
  };
  using Parts = absl::btree_map<uint64_t, Part>;  // by first address; disjoint

  // Adds a mapping as one part of mapping.left_bytes. REQUIRES: left_bytes is
  // not 0, and the range has no other parts.
  void Add(uint64_t begin, const Mapping& mapping);

  // Removes what is mapped in the `bytes` from `begin` on, by ascending
  // addresses. Calls `gone` for each part: with the mapping as it was before,
  // the distance of the part from `begin`, and its bytes. Returns whether
  // anything was mapped there.
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
