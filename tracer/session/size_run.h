// A run that only counts the sizes of allocations: no file, no collector. The
// counts are there in other runs, too, once the script has asked for them by
// pymemrun.gather_stats(). For the process's main thread.
#ifndef PYMEMRUN_TRACER_SESSION_SIZE_RUN_H_
#define PYMEMRUN_TRACER_SESSION_SIZE_RUN_H_

#include <cstdint>

#include "tracer/base/trace_config.h"

namespace pymemrun {

class SizeRun {
 public:
  // In the place of Session::Prepare. `config` must stay.
  static void Prepare(const TraceConfig* config);
  // How the sizes are printed, when some were counted; and that it is time to.
  static void PrintBy(void (*print)());
  static void Finish();

  // How many allocations there were of the sizes above 2^(bin-1) up to 2^bin,
  // and of how many bytes. bin < 64.
  struct Count {
    uint64_t count;
    uint64_t bytes;
  };
  static Count CountOf(uint32_t bin);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_SIZE_RUN_H_
