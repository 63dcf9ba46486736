// How much resident memory is ours: the mappings that we made, by mincore.
#ifndef PYMEMRUN_TRACER_BASE_OWN_MEMORY_H_
#define PYMEMRUN_TRACER_BASE_OWN_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

class OwnMemory {
 public:
  // Maps, touches and names `bytes` zeros, between two guard pages that keep
  // the kernel from joining the mapping with a neighbour of the program's.
  // Returns null with errno set when it cannot.
  static void* Map(size_t bytes);
  // The same for who calls Wrote(). In a forked child what was written without
  // it may still be there.
  static void* MapTold(size_t bytes);
  // These bytes of such a table are about to be written for the first time. Any
  // thread, signal handlers too.
  static void Wrote(const void* start, size_t bytes);
  // Has the pages of a writable mapping mapped for writing, as they are.
  static void Touch(void* start, size_t bytes);
  // Of a shared one, many pages at a time where they are there already.
  static void MapWhatIsThere(void* start, size_t bytes);
  // Names a mapping of ours. At most 16.
  static void Add(const void* start, size_t bytes);
  // In a forked child: forgets what was mapped as tables, but not `kept`, and
  // forgets `gone`, which is no more mapped. What was forgotten is given out
  // again: it is there, and few of its pages have been written.
  static void ForgetTables(const void* kept, const void* gone);
  // Resident bytes of all of them now, in whole pages. Allocates nothing.
  static uint64_t ResidentBytes();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_OWN_MEMORY_H_
