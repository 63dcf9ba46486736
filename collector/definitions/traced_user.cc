#include "collector/definitions/traced_user.h"

#include <sys/fsuid.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace pymemrun {

uint32_t LastId(absl::string_view status, absl::string_view label,
                uint32_t otherwise) {
  const size_t at = status.find(label);
  if (at == absl::string_view::npos) return otherwise;
  absl::string_view line = status.substr(at + label.size());
  line = line.substr(0, line.find('\n'));
  const std::vector<absl::string_view> ids =
      absl::StrSplit(line, absl::ByAnyChar("\t "), absl::SkipEmpty());
  uint32_t id;
  return ids.size() == 4 && absl::SimpleAtoi(ids[3], &id) ? id : otherwise;
}

void TracedUser::Look() {
  char buffer[4096];
  const absl::string_view status = status_.Read(buffer, sizeof(buffer));
  user_ = LastId(status, "\nUid:", user_);
  group_ = LastId(status, "\nGid:", group_);
}

TracedUser::Rights::Rights(TracedUser* user) {
  if (geteuid() == 0) user->Look();
  const bool is_root = geteuid() != 0 || user->user_ == 0;
  // The group first: as another user that may be refused. Each returns what was
  // before.
  group_before_ =
      static_cast<gid_t>(setfsgid(is_root ? getegid() : user->group_));
  user_before_ =
      static_cast<uid_t>(setfsuid(is_root ? geteuid() : user->user_));
}

TracedUser::Rights::~Rights() {
  setfsuid(user_before_);
  setfsgid(group_before_);
}

}  // namespace pymemrun
