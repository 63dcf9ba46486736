// A dump of the object graph as the traced process sees it: asked for, under
// way in a child, done.
#ifndef PYMEMRUN_TRACER_OBJECTS_OBJECT_DUMP_H_
#define PYMEMRUN_TRACER_OBJECTS_OBJECT_DUMP_H_

#include <cstdint>

#include "tracer/objects/dump_child.h"
#include "tracer/wire/object_wire.h"

namespace pymemrun {

// One at a time. All functions need the GIL, except Wait().
class ObjectDump {
 public:
  // Null, or why objects of this interpreter cannot be dumped.
  static const char* WhyNot();

  // Forks; sets the time in `order`. `since_ns`: from when on the program has
  // stood still. Returns 0, or errno where there is no child. REQUIRES: none is
  // under way.
  int Start(const DumpOrder& order, uint64_t since_ns);
  bool under_way() const { return status_ != nullptr; }
  // Time of the fork of the last dump, and how long the program was stopped.
  uint64_t forked_ns() const { return forked_ns_; }
  uint64_t pause_us() const { return pause_us_; }

  enum class State { kRunning, kDone, kGone };
  // Waits at most `timeout_ms`. kGone: whoever wrote it has ended without a
  // word, or does nothing any more.
  State Wait(int timeout_ms);
  // What is known of it in the end. After that none is under way.
  struct Result {
    uint32_t start_errno, outcome, signal;
    bool whole;
    int32_t write_errno;
    uint64_t objects, references, duration_us, file_bytes;
  };
  Result Take();
  // In a forked child of the program's: the dump is the parent's.
  void Forget();

 private:
  ObjectStatus* status_ = nullptr;
  uint64_t forked_ns_ = 0;
  uint64_t pause_us_ = 0;
  uint32_t last_beat_ = 0;
  uint64_t last_beat_ns_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_OBJECT_DUMP_H_
