// How much memory mappings of the program's take. For the forked child, which
// has them as they were: the program goes on, and may drop them.
#ifndef PYMEMRUN_TRACER_OBJECTS_MAPPED_MEMORY_H_
#define PYMEMRUN_TRACER_OBJECTS_MAPPED_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

class MappedMemory {
 public:
  // Of memory that is private or shared among processes. 0: it is a file's,
  // whose pages the kernel would drop, or too much was asked for.
  size_t ResidentBytes(const void* at, size_t bytes);

 private:
  bool IsOfFile(uint64_t address);

  // Of all questions together.
  uint64_t pages_left_ = uint64_t{1} << 24;
  uint64_t text_left_ = uint64_t{1} << 28;  // bytes of /proc/self/maps
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_MAPPED_MEMORY_H_
