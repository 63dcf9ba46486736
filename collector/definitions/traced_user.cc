#include "collector/definitions/traced_user.h"

#include <sys/fsuid.h>
#include <sys/syscall.h>
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

std::vector<gid_t> OtherGroups(absl::string_view status) {
  constexpr absl::string_view kLabel = "\nGroups:";
  const size_t at = status.find(kLabel);
  if (at == absl::string_view::npos) return {};
  absl::string_view line = status.substr(at + kLabel.size());
  const size_t end = line.find('\n');
  if (end == absl::string_view::npos) return {};
  std::vector<gid_t> groups;
  for (const absl::string_view word : absl::StrSplit(
           line.substr(0, end), absl::ByAnyChar("\t "), absl::SkipEmpty())) {
    uint32_t id;
    if (absl::SimpleAtoi(word, &id)) groups.push_back(id);
  }
  return groups;
}

namespace {

// Changes the calling thread alone. setgroups() of libc would change all
// threads.
void SetGroups(const std::vector<gid_t>& groups) {
  syscall(SYS_setgroups, groups.size(), groups.data());
}

std::vector<gid_t> OwnGroups() {
  const int count = getgroups(0, nullptr);
  std::vector<gid_t> groups(count > 0 ? count : 0);
  const int got = getgroups(count, groups.data());
  groups.resize(got > 0 ? got : 0);
  return groups;
}

}  // namespace

void TracedUser::Look() {
  char buffer[4096];
  const absl::string_view status = status_.Read(buffer, sizeof(buffer));
  user_ = LastId(status, "\nUid:", user_);
  group_ = LastId(status, "\nGid:", group_);
  if (!status.empty()) groups_ = OtherGroups(status);
}

TracedUser::Rights::Rights(TracedUser* user) {
  if (geteuid() == 0) user->Look();
  const bool is_root = geteuid() != 0 || user->user_ == 0;
  // Groups first: as another user that may be refused. A namespace that refuses
  // it refused it to the program, too. The two below return what was before.
  if (!is_root) {
    has_others_ = true;
    groups_before_ = OwnGroups();
    SetGroups(user->groups_);
  }
  group_before_ =
      static_cast<gid_t>(setfsgid(is_root ? getegid() : user->group_));
  user_before_ =
      static_cast<uid_t>(setfsuid(is_root ? geteuid() : user->user_));
}

TracedUser::Rights::~Rights() {
  setfsuid(user_before_);
  setfsgid(group_before_);
  if (has_others_) SetGroups(groups_before_);
}

}  // namespace pymemrun
