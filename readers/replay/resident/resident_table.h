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

// The places, most bytes first, at most `limit` of them (0: all). Then one row
// each for: the other places; threads that `threads` (null: none) leaves out;
// memory from before tracing; tracing's own memory (not by mapping); memory
// without an owner, which may be negative. All rows add up to RSS, and `share`
// is a row's part of it.
//
// If pages were sampled, `error_bytes` is one standard error; memory without an
// owner gets the error of all that has one. By mapping, `unowned_bytes` is how
// much of a mapping had no owner at the latest Residency.
Table ResidentTable(GroupBy by, uint64_t limit, const ResidentReplay& replay,
                    ThreadFilter* threads = nullptr);

// An empty call tree of resident memory; its rest is the memory without an
// owner. The replay must outlive it.
PlaceTree EmptyResidentTree(GroupBy by, const ResidentReplay& replay);
// The call tree of a replay's pages. Frames are lines, functions or files. By
// thread or module, these are the outermost frames, above lines. Pages from
// before tracing are a tree of their own, by mapping. Threads that `threads`
// (null: all) leaves out are one frame. The replay must outlive it. REQUIRES:
// `by` is not kMapping.
PlaceTree ResidentTree(GroupBy by, const ResidentReplay& replay,
                       ThreadFilter* threads = nullptr);

// "one page in 10 was recorded", for a sampled run.
std::string SampledText(const Header& header);
// What is estimated of a run's pages, if anything. Lines, each ended.
std::string EstimatedText(const Header& header, bool sampled);

// The lines above the table in text, each ended: RSS, the moment, what the
// bytes mean, and what is missing.
std::string ResidentHeading(const ResidentReplay& replay,
                            absl::string_view moment);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_TABLE_H_
