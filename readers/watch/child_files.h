// The run files of a run's children, which lie beside it.
#ifndef PYMEMRUN_READERS_WATCH_CHILD_FILES_H_
#define PYMEMRUN_READERS_WATCH_CHILD_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "format/trace.pb.h"
#include "readers/watch/watch_frame.h"

namespace pymemrun {

// Those of `run.pb` are called `run.PID.pb`. Not thread safe.
class ChildFiles {
 public:
  static constexpr size_t kMostChildren = 1000;

  explicit ChildFiles(const std::string& run_path);
  // As the files and /proc tell now; by pid. A file without a header, or of a
  // run that began before the parent's, is no child's.
  std::vector<WatchFrame::Child> Look(const Header& parent);

 private:
  std::string folder_, stem_, ending_;
  std::map<uint32_t, Header> headers_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_CHILD_FILES_H_
