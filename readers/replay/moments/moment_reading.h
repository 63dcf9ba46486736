// Reads a run file at the moment that --at names. What cannot be is said.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_READING_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_READING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/moments/moment.h"
#include "readers/replay/moments/run_moments.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// A moment at which it is known what was resident. kDataLoss: the file could
// not be read, which has been said; another: the run has no such moment, and
// the message is why.
absl::StatusOr<FoundMoment> MomentOf(const RunMoments& moments,
                                     const Moment& moment, RereadFile* file);
// The same, where it is to be said. Nothing: the run has no such
// moment, which has been said; *code is at least what the program is to exit
// with.
std::optional<FoundMoment> FindMoment(const RunMoments& moments,
                                      const Moment& moment, RereadFile* file,
                                      const Console& console, int* code);
// From when to when a report goes.
struct MomentRange {
  uint64_t from_us = 0, to_us = ReplayVisitor::kEnd;
};
// Where a bound is not given it stays. `moments`: null until they are needed.
// False: there is no such range, which has been said; *code as above.
bool FindRange(const std::optional<Moment>& from,
               const std::optional<Moment>& to, RereadFile* file,
               const Console& console, std::unique_ptr<RunMoments>* moments,
               MomentRange* range, int* code);
// The end of the run where the moment is a time after that.
Moment NoLaterThanEnd(const Moment& moment, RereadFile* file);
// As FindMoment(), one for each, as heap events have them. Reads `beside`, if
// any, meanwhile. Empty: said.
std::vector<HeapMoment> FindHeapMoments(const std::vector<Moment>& moments,
                                        RereadFile* file,
                                        const Console& console, int* code,
                                        ReplayVisitor* beside = nullptr);

// What was alive at the moment. Null: there is nothing to report, which has
// been said; *code as above.
std::unique_ptr<HeapMoments> ReadHeapAt(const std::string& path,
                                        const Moment& moment,
                                        const Console& console, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_READING_H_
