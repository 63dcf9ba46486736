// Paths for pictures: no longer than is needed to tell them apart.
#ifndef PYMEMRUN_READERS_PLACES_SHORT_PATHS_H_
#define PYMEMRUN_READERS_PLACES_SHORT_PATHS_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// Takes time in proportion to the paths, which must outlive it.
class ShortPaths {
 public:
  explicit ShortPaths(const std::vector<absl::string_view>& paths);

  // "job.py"; "api/job.py" where another folder has a job.py, too. A path that
  // was not given is returned whole.
  absl::string_view Of(absl::string_view path) const;

 private:
  absl::flat_hash_map<absl::string_view, size_t> begins_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_SHORT_PATHS_H_
