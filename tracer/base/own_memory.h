// Memory of the tracer itself: maps tables outside of malloc, reuses them in
// forked children, and counts their resident bytes by mincore.
#ifndef PYMEMRUN_TRACER_BASE_OWN_MEMORY_H_
#define PYMEMRUN_TRACER_BASE_OWN_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// Wrote() and Touch() are for any thread. All others are called while the
// process has one thread: before the program runs, or in a forked child. No
// mapping is ever unmapped.
class OwnMemory {
 public:
  // Returns a table of `bytes` zeros, mapped and touched, or null with errno
  // set. Two guard pages keep the kernel from merging the mapping with one of
  // the program. In a forked child this may return a forgotten table of the
  // same size.
  static void* Map(size_t bytes);
  // The same for a caller that reports its first writes with Wrote(). In a
  // forked child, bytes written without a report may keep their old values.
  static void* MapTold(size_t bytes);
  // Reports that these bytes of such a table are about to be written for the
  // first time. Any thread, also in signal handlers.
  static void Wrote(const void* start, size_t bytes);
  // Maps all pages of a writable mapping for writing and keeps their contents,
  // so that later writes do not fault.
  static void Touch(void* start, size_t bytes);
  // Maps pages of a shared mapping that already exist, many at a time.
  static void MapWhatIsThere(void* start, size_t bytes);
  // Counts another mapping as memory of the tracer. At most 16 ranges are
  // counted, including tables.
  static void Add(const void* start, size_t bytes);
  // In a forked child: marks all tables except `kept` as forgotten, and drops
  // the range `gone`, which is no longer mapped. Forgotten tables are returned
  // by later calls of Map(): they are mapped already, and few of their pages
  // were written.
  static void ForgetTables(const void* kept, const void* gone);
  // Resident bytes of all ranges, in whole pages. Does not allocate.
  static uint64_t ResidentBytes();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_OWN_MEMORY_H_
