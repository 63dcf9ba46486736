#include "readers/run/name_pool.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

constexpr size_t kBlockBytes = 256 * 1024;
// The memory of a name besides its bytes: a slot in the set.
constexpr size_t kNameOverheadBytes = 32;

}  // namespace

absl::string_view NamePool::Keep(absl::string_view name) {
  std::string cut;
  if (name.size() > kMaxNameBytes) {
    cut = absl::StrCat(name.substr(0, kMaxNameBytes), "... (", name.size(),
                       " bytes)");
    name = cut;
  }
  const auto found = names_.find(name);
  if (found != names_.end()) return *found;
  if (used_bytes_ + name.size() + kNameOverheadBytes > max_bytes_) {
    return kNoRoom;
  }
  const absl::string_view kept = Store(name);
  names_.insert(kept);
  return kept;
}

// Names are packed into large blocks, which never move: views of them stay
// valid. What is left of a block is lost when a name does not fit.
absl::string_view NamePool::Store(absl::string_view name) {
  used_bytes_ += name.size() + kNameOverheadBytes;
  if (name.size() > room_) {
    room_ = std::max(kBlockBytes, name.size());
    blocks_.emplace_back(new char[room_]);
    next_ = blocks_.back().get();
  }
  if (!name.empty()) std::memcpy(next_, name.data(), name.size());
  const absl::string_view kept(next_, name.size());
  next_ += name.size();
  room_ -= name.size();
  return kept;
}

}  // namespace pymemrun
