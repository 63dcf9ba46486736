// For the column thread_drss_bytes: page events may stand behind the rows of
// their time, so a file is read for them beforehand.
#ifndef PYMEMRUN_READERS_CAT_THREAD_READING_H_
#define PYMEMRUN_READERS_CAT_THREAD_READING_H_

#include <cstdint>
#include <memory>

#include "readers/threads/thread_drss.h"

namespace pymemrun {

// What threads did in the run, a file at whose begin `fd` is and will be again.
// `from_us`: see ThreadDrss. Null: it is not known. Damage is left to who reads
// the rows.
std::unique_ptr<ThreadDrss> ReadThreadDrss(int fd, uint64_t from_us);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_THREAD_READING_H_
