// The kernel's own figures of this process's resident memory, read from /proc.
// Nothing here allocates.
#ifndef PYMEMRUN_TRACER_STATM_H_
#define PYMEMRUN_TRACER_STATM_H_

#include <cstdint>

namespace pymemrun {

class Statm {
 public:
  // Opens /proc/self/statm under a high descriptor, out of the program's way.
  // Returns false with errno set when it cannot be read.
  static bool Open();

  // RSS in pages, by that descriptor; opened again when the program has closed
  // it. 0 with errno set when it cannot be read any more. Any thread, but not a
  // forked child, which would read its parent's.
  static uint32_t Read();

  // RSS in pages, by a descriptor of its own: any thread, any process. 0 when
  // /proc cannot be read.
  static uint32_t ReadAnew();

  // VmHWM in pages, from /proc/self/status (about 10 us); 0 when that cannot be
  // read. Any thread, any process.
  static uint64_t ReadHwmPages();

  // The descriptor of Open(), -1 for none. The program must not meet it; an
  // interposed close of it calls DescriptorClosed(). Any thread.
  static int descriptor();
  static void DescriptorClosed();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_STATM_H_
