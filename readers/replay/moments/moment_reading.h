// Reads a run file at the moment that --at names. Prints why a moment cannot be
// shown.
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

// The moment, or the last one at which it is known what was resident.
// kDataLoss: the file could not be read, and a message was printed. Other
// errors: the run has no such moment, and the message says why.
absl::StatusOr<FoundMoment> MomentOf(const RunMoments& moments,
                                     const Moment& moment, RereadFile* file);
// The same, but prints the message. Returns nothing if the run has no such
// moment; *code is then at least the exit status.
std::optional<FoundMoment> FindMoment(const RunMoments& moments,
                                      const Moment& moment, RereadFile* file,
                                      const Console& console, int* code);
// The part of a run's time that a report shows.
struct MomentRange {
  uint64_t from_us = 0, to_us = ReplayVisitor::kEnd;
};
// Sets the bounds that are given; the others stay. `moments` is filled when it
// is first needed. Returns false if there is no such range, and has printed
// why; *code as above.
bool FindRange(const std::optional<Moment>& from,
               const std::optional<Moment>& to, RereadFile* file,
               const Console& console, std::unique_ptr<RunMoments>* moments,
               MomentRange* range, int* code);
// The moment, or the end of the run if the moment is a time after it.
Moment NoLaterThanEnd(const Moment& moment, RereadFile* file);
// Finds each moment as FindMoment() does, in terms of heap events. Also reads
// `beside`, if not null, in the same reading. Returns an empty vector after
// printing why.
std::vector<HeapMoment> FindHeapMoments(const std::vector<Moment>& moments,
                                        RereadFile* file,
                                        const Console& console, int* code,
                                        ReplayVisitor* beside = nullptr);

// Reads what was alive at the moment. Returns null if there is nothing to
// report, and has printed why; *code as above.
std::unique_ptr<HeapMoments> ReadHeapAt(const std::string& path,
                                        const Moment& moment,
                                        const Console& console, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_READING_H_
