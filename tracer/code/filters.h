// Filters of files, functions and threads. Evaluated once for each code object,
// C function and thread; hooks compare bits of the result.
#ifndef PYMEMRUN_TRACER_CODE_FILTERS_H_
#define PYMEMRUN_TRACER_CODE_FILTERS_H_

#include <cstddef>

#include "tracer/base/trace_config.h"

namespace pymemrun {

class Filters {
 public:
  // Must be replaced before use.
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
