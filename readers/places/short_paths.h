// Paths for pictures, shortened as far as they still differ.
#ifndef PYMEMRUN_READERS_PLACES_SHORT_PATHS_H_
#define PYMEMRUN_READERS_PLACES_SHORT_PATHS_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// Takes time in proportion to the paths' lengths. The paths must outlive it.
class ShortPaths {
 public:
  explicit ShortPaths(const std::vector<absl::string_view>& paths);

  // "job.py", or "api/job.py" if another folder has a job.py, too. An unknown
  // path is returned whole.
  absl::string_view Of(absl::string_view path) const;

 private:
  absl::flat_hash_map<absl::string_view, size_t> begins_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_SHORT_PATHS_H_
