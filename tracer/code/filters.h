// Which places, functions and threads are to be logged. Evaluated once for each
// code object, C function and thread; the hook compares the answer's bits.
#ifndef PYMEMRUN_TRACER_CODE_FILTERS_H_
#define PYMEMRUN_TRACER_CODE_FILTERS_H_

#include <cstddef>

#include "tracer/base/trace_config.h"

namespace pymemrun {

class Filters {
 public:
  // To be replaced before it is asked.
  constexpr Filters() = default;
  // `config` must outlive it.
  explicit constexpr Filters(const TraceConfig* config) : config_(config) {}

  // NUL-terminated UTF-8 text; fnmatch(3) patterns, `*` crosses `/`.
  bool PassesFile(const char* path) const;
  bool PassesFunction(const char* name) const;
  bool PassesThread(const char* name) const;

 private:
  const TraceConfig* config_ = nullptr;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_FILTERS_H_
