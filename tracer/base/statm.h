// The kernel's own figures of this process's resident memory, read from /proc.
// Nothing here allocates.
#ifndef PYMEMRUN_TRACER_BASE_STATM_H_
#define PYMEMRUN_TRACER_BASE_STATM_H_

#include <cstdint>

namespace pymemrun {

class Statm {
 public:
  // Opens /proc/self/statm under a high descriptor, out of the program's way:
  // beyond what its limit lets it have, where that is below kDescriptor and can
  // be raised. Returns false with errno set when it cannot be read.
  //
  // It is kept open because a read then takes 1 us, and 5 us with opening and
  // closing (0.96 and 4.9 measured, by /proc/self as a descriptor 4.2).
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

  // The descriptor of Open(), -1 for none. The program must not meet it (see
  // interposed_descriptors.cc). Any thread.
  static int descriptor();
  // The program takes it away; the next Read() opens it again.
  static void DescriptorClosed();
  // The program wants that number: takes another one, and closes it.
  static void MoveAway();
  // In a forked child, which has it from its parent: it is of no use there.
  static void CloseInChild();

  // Above what programs use; a fork copies that many entries (8 us).
  static constexpr int kDescriptor = 4095;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_STATM_H_
