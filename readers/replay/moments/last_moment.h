// How long a run went on.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_LAST_MOMENT_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_LAST_MOMENT_H_

#include <cstdint>

#include "readers/run/reread_file.h"

namespace pymemrun {

// The last moment that a file tells of. Nothing is said of what is wrong in it.
uint64_t LastMomentOf(RereadFile* file);
// Whether it tells of one after this. Reads no more than is needed.
bool GoesOnAfter(uint64_t time_us, RereadFile* file);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_LAST_MOMENT_H_
