#include "readers/replay/heap/heap_mappings.h"

#include <algorithm>

namespace pymemrun {
namespace {

// A damaged file's range does not wrap around to address 0.
uint64_t EndOf(uint64_t begin, uint64_t bytes) {
  return begin + std::min(bytes, UINT64_MAX - begin);
}

}  // namespace

void HeapMappings::Add(uint64_t begin, const Mapping& mapping) {
  const uint64_t end = EndOf(begin, mapping.left_bytes);
  if (end == begin) return;
  uint32_t number;
  if (unused_.empty()) {
    number = static_cast<uint32_t>(mappings_.size());
    mappings_.push_back(mapping);
  } else {
    number = unused_.back();
    unused_.pop_back();
    mappings_[number] = mapping;
  }
  mappings_[number].left_bytes = end - begin;
  parts_.insert_or_assign(begin, Part{end, number});
}

// Logarithmic time, and linear in the parts removed. Only the first part may
// start below the range, and only the last one may end above it.
bool HeapMappings::Remove(uint64_t begin, uint64_t bytes, Gone gone) {
  const uint64_t end = EndOf(begin, bytes);
  if (end == begin) return false;
  auto at = parts_.lower_bound(begin);
  if (at != parts_.begin() && std::prev(at)->second.end > begin) --at;
  bool found = false;
  while (at != parts_.end() && at->first < end) {
    found = true;
    const uint64_t part_begin = at->first;
    const Part part = at->second;
    const uint64_t from = std::max(part_begin, begin);
    const uint64_t to = std::min(part.end, end);
    // What is below the range stays as it is. What is above it becomes a part
    // of its own.
    if (part_begin < from) {
      at->second.end = from;
      ++at;
    } else {
      at = parts_.erase(at);
    }
    if (to < part.end) {
      at = std::next(parts_.insert_or_assign(at, to, part));
    }
    gone(mappings_[part.mapping], from - begin, to - from);
    Shrink(part.mapping, to - from);
  }
  return found;
}

// The number of a mapping without parts is used again.
void HeapMappings::Shrink(uint32_t mapping, uint64_t bytes) {
  mappings_[mapping].left_bytes -= bytes;
  if (mappings_[mapping].left_bytes == 0) unused_.push_back(mapping);
}

}  // namespace pymemrun
