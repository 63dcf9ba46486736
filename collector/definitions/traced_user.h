// Files that the traced program names are opened with the rights of its user:
// a program that root has started, and that has become another user since, must
// not have us read for it what it could not read itself.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_TRACED_USER_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_TRACED_USER_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "collector/process/proc_file.h"

namespace pymemrun {

// Who the traced process is, for its file system. Not thread safe.
class TracedUser {
 public:
  explicit TracedUser(pid_t pid) : status_(pid, "status") {}

  // While it lives the calling thread opens files as that user does. The user
  // is the one of now or, once the process is gone, the last one that was seen.
  // Where we are not root we have no rights to lay aside.
  class Rights {
   public:
    explicit Rights(TracedUser* user);
    ~Rights();
    Rights(const Rights&) = delete;
    Rights& operator=(const Rights&) = delete;

   private:
    uid_t user_before_;
    gid_t group_before_;
    // Other groups, where they were laid aside.
    bool has_others_ = false;
    std::vector<gid_t> groups_before_;
  };

 private:
  void Look();

  const ProcFile status_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;  // besides
};

// The last of the four numbers behind `label` in /proc/PID/status, for file
// systems; `otherwise` where no such line is.
uint32_t LastId(absl::string_view status, absl::string_view label,
                uint32_t otherwise);

// The numbers behind "Groups:" there; none where the line is cut off.
std::vector<gid_t> OtherGroups(absl::string_view status);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_TRACED_USER_H_
