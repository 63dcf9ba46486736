// The ids of one kind of definition: those of the ring, which come and go, and
// those of the file, which are dense and never change.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_ID_SPACE_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_ID_SPACE_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace pymemrun {

// Not thread safe.
class IdSpace {
 public:
  // The file's id of the ring's `raw`, 0 when it is not defined.
  uint32_t Find(uint32_t raw) const {
    const auto found = by_raw_.find(raw);
    return found == by_raw_.end() ? 0 : found->second;
  }

  struct Binding {
    uint32_t id;   // the file's
    bool fresh;    // not in the file yet: write its definition now
    bool rebound;  // `raw` meant something else until now
  };
  // From here on `raw` means what hashes to `content` (64 bits; among the at
  // most kMaxRemembered remembered, two that collide have odds of 1 in 10^9).
  Binding Bind(uint32_t raw, uint64_t content) {
    // Forgetting contents costs a repeated definition, nothing else.
    if (by_content_.size() >= kMaxRemembered) by_content_.clear();
    if (by_raw_.size() >= kMaxBound) by_raw_.clear();
    const auto [known, fresh] = by_content_.try_emplace(content, last_ + 1);
    if (fresh) ++last_;
    const auto [bound, first] = by_raw_.try_emplace(raw, known->second);
    const bool rebound = !first && bound->second != known->second;
    bound->second = known->second;
    return {known->second, fresh, rebound};
  }

  // The file's id of `content`, whether or not it ever had one of the ring's.
  // Of the result `rebound` says nothing.
  Binding Intern(uint64_t content) {
    if (by_content_.size() >= kMaxRemembered) by_content_.clear();
    const auto [known, fresh] = by_content_.try_emplace(content, last_ + 1);
    if (fresh) ++last_;
    return {known->second, fresh, false};
  }
  // From here on `content` has `id` too, unless it has one.
  void Alias(uint64_t content, uint32_t id) {
    by_content_.try_emplace(content, id);
  }

  // All of the ring's ids are void.
  void Forget() { by_raw_.clear(); }

 private:
  static constexpr size_t kMaxRemembered = 1u << 16;
  static constexpr size_t kMaxBound = 1u << 18;

  absl::flat_hash_map<uint32_t, uint32_t> by_raw_;
  absl::flat_hash_map<uint64_t, uint32_t> by_content_;
  uint32_t last_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_ID_SPACE_H_
