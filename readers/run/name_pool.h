// Names of a run file, each kept once. Used by RunIndex and the tables.
#ifndef PYMEMRUN_READERS_RUN_NAME_POOL_H_
#define PYMEMRUN_READERS_RUN_NAME_POOL_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// Keeps each distinct name once, as long as the pool lives, within a fixed
// budget. Not thread safe.
class NamePool {
 public:
  explicit NamePool(size_t max_bytes) : max_bytes_(max_bytes) {}
  // Returns the pool's copy of `name`. A name longer than kMaxNameBytes is cut,
  // and marked as cut. Once the budget is used up, every new name is kNoRoom.
  absl::string_view Keep(absl::string_view name);

  // The longest name, and what a name becomes that does not fit.
  static constexpr size_t kMaxNameBytes = 64 * 1024;
  static constexpr absl::string_view kNoRoom = "<name not kept>";

 private:
  absl::string_view Store(absl::string_view name);

  const size_t max_bytes_;
  size_t used_bytes_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t room_ = 0;
  absl::flat_hash_set<absl::string_view> names_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_NAME_POOL_H_
