// For tests and benchmarks: the memory of both sides' wire, in one process.
#ifndef PYMEMRUN_TRACER_WIRE_REGION_FOR_TESTS_H_
#define PYMEMRUN_TRACER_WIRE_REGION_FOR_TESTS_H_

#include <sys/mman.h>

#include <new>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Zeroed, and mapped as the traced process has it, but all of it writable:
// children share it.
class TestRegion {
 public:
  TestRegion()
      : memory_(static_cast<char*>(mmap(nullptr, kReplyBytes + kRegionBytes,
                                        PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        reply_(new (memory_) ReplyPage()),
        page_(new (memory_ + kReplyBytes) ControlPage()) {}
  ~TestRegion() { munmap(memory_, kReplyBytes + kRegionBytes); }
  TestRegion(const TestRegion&) = delete;
  TestRegion& operator=(const TestRegion&) = delete;

  ReplyPage* reply() const { return reply_; }
  ControlPage* page() const { return page_; }
  EventSlot* slots() const {
    return reinterpret_cast<EventSlot*>(memory_ + kReplyBytes + kControlBytes);
  }
  SideContinued* cells() const {
    return reinterpret_cast<SideContinued*>(memory_ + kReplyBytes +
                                            kSideRingOffset);
  }

 private:
  char* const memory_;
  ReplyPage* const reply_;
  ControlPage* const page_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_REGION_FOR_TESTS_H_
