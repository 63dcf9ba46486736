// The run files of a run's child processes, which are in the same folder.
#ifndef PYMEMRUN_READERS_WATCH_CHILD_FILES_H_
#define PYMEMRUN_READERS_WATCH_CHILD_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "format/trace.pb.h"
#include "readers/watch/watch_frame.h"

namespace pymemrun {

// Children of `run.pb` have files named `run.PID.pb`. Not thread safe.
class ChildFiles {
 public:
  // The most child processes that are shown.
  static constexpr size_t kMostChildren = 1000;

  explicit ChildFiles(const std::string& run_path);
  // The children now, by pid, from their files and /proc. Leaves out files
  // without a header, and files of runs that started before the parent's.
  std::vector<WatchFrame::Child> Look(const Header& parent);

 private:
  std::string folder_, stem_, ending_;
  std::map<uint32_t, Header> headers_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_CHILD_FILES_H_
