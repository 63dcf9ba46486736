// What cannot be recorded of the interpreter that this object was made for.
#ifndef PYMEMRUN_LAUNCHER_PRELOADED_LIMITS_H_
#define PYMEMRUN_LAUNCHER_PRELOADED_LIMITS_H_

#include <string>

#include "launcher/options/options.h"

namespace pymemrun {

struct Limits {
  std::string not_recorded;  // what, and why; empty: all can be
  std::string notice;        // one line that says so; empty: nothing to say
};

// Takes out of `options` what cannot be recorded of CPython `version`. False,
// with one line in *error, where nothing else was asked for.
bool KeepWithinLimits(const std::string& version, Options* options,
                      Limits* limits, std::string* error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOADED_LIMITS_H_
