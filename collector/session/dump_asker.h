// Has the program make dumps of its objects: at the moments of the run, and
// when somebody asks this process.
#ifndef PYMEMRUN_COLLECTOR_SESSION_DUMP_ASKER_H_
#define PYMEMRUN_COLLECTOR_SESSION_DUMP_ASKER_H_

#include <cstdint>

#include "collector/output/record_sink.h"
#include "collector/process/clock_scale.h"
#include "collector/process/dump_moments.h"
#include "collector/process/dump_orders.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Not thread safe.
class DumpAsker {
 public:
  // All must outlive this; `pid_fd` is the program's.
  struct Parts {
    const ControlPage* page;
    ReplyPage* reply;
    int pid_fd;
    const ClockScale* clock;
    RecordSink* out;
  };
  DumpAsker(const DumpWishes& wishes, const Parts& parts);

  // To be called often, with RSS as it is (0: not known). Who asked a program
  // that cannot make dumps reads that in the run file.
  void Ask(uint64_t now_ns, uint64_t rss_bytes);

 private:
  const Parts in_;
  DumpMoments moments_;
  DumpOrders orders_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_DUMP_ASKER_H_
