// The table and the call tree of `pymemreport resident`.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_TABLE_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_TABLE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "readers/output/table.h"
#include "readers/places/place_tree.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// The places, most bytes first, at most `limit` of them (0: all), then the
// others as one row, if there are any, what `threads` (null: all) does not
// keep, what was there before tracing, without and with what is tracing's own
// (not by mapping), and what has no owner, which may be below
// 0: all rows add up to RSS. `share` is a
// row's part of RSS. Where pages were sampled `error_bytes` is one standard
// error. What has no owner gets the error of all that has an owner. By mapping,
// `unowned_bytes` says how many bytes of a mapping had no owner at the latest
// Residency.
Table ResidentTable(GroupBy by, uint64_t limit, const ResidentReplay& replay,
                    ThreadFilter* threads = nullptr);

// An empty call tree of what is resident; what has no owner is its rest. The
// replay must outlive it.
PlaceTree EmptyResidentTree(GroupBy by, const ResidentReplay& replay);
// The call tree of a replay's pages. Frames are lines, functions or files; by
// thread or module, these are the outermost frames and lines come below. Pages
// from before tracing are a tree of their own, by what they are part of. What
// `threads` (null: all) does not keep is one frame. The replay must outlive it.
// REQUIRES: not kMapping.
PlaceTree ResidentTree(GroupBy by, const ResidentReplay& replay,
                       ThreadFilter* threads = nullptr);

// "one page in 10 was recorded", for a run where that is so.
std::string SampledText(const Header& header);

// What stands above the table in text: RSS, the moment, what the bytes mean,
// what is missing. Lines, each ended.
std::string ResidentHeading(const ResidentReplay& replay,
                            absl::string_view moment);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_TABLE_H_
