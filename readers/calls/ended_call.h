// A call that has ended, with what RSS changed by meanwhile.
#ifndef PYMEMRUN_READERS_CALLS_ENDED_CALL_H_
#define PYMEMRUN_READERS_CALLS_ENDED_CALL_H_

#include <cstdint>

namespace pymemrun {

struct EndedCall {
  uint64_t number;   // of its RETURN
  uint64_t events;   // how many events before that its CALL was
  uint64_t time_us;  // of the RETURN
  uint64_t took_us;
  int64_t growth_bytes;  // RSS at the RETURN less RSS at the CALL
  uint32_t site;         // of the RETURN
  uint32_t call_site;    // of the CALL; 0: not in the file
  uint32_t thread;
  // What its thread did to RSS meanwhile; 0: not known (see CallReplay).
  int64_t thread_bytes = 0;
  // What of its growth, and of its thread's, is not that of the calls in it, as
  // far as these are known.
  int64_t own_bytes = 0, own_thread_bytes = 0;
  // Of these two pairs the one that reports speak of: the thread's where it is
  // known and wanted, else the process's.
  int64_t charged_bytes = 0, own_charged_bytes = 0;
  // It is part of another call of the same code.
  bool recursive = false;

  uint64_t call_number() const { return number - events; }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CALLS_ENDED_CALL_H_
