// Which files of two runs are the same file, in different folders perhaps.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_FILE_MATCH_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_FILE_MATCH_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// By a file of the run before, that of the run after. Files of one path are the
// same. Of the others those are that have the most last names of their path in
// common, if no third file has these: so another checkout, or another virtual
// environment, makes no difference.
absl::flat_hash_map<absl::string_view, absl::string_view> MatchFiles(
    const std::vector<absl::string_view>& before,
    const std::vector<absl::string_view>& after);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_FILE_MATCH_H_
