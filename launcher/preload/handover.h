// What the tracer that is preloaded into another interpreter is told: by a
// variable of the environment.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_HANDOVER_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_HANDOVER_H_

#include <string>
#include <string_view>
#include <vector>

namespace pymemrun {

inline constexpr char kHandoverVariable[] = "PYMEMRUN_PRELOADED";

struct Handover {
  // Whether it is for one process, which removes what it was told by. Else it
  // stays, for the processes that this one starts.
  bool once = true;
  std::vector<std::string> options;  // of pymemrun, as words
};

// A text without NUL, whatever bytes are in the options.
std::string HandoverText(const Handover& handover);

// Reads it. False: it is no such text.
bool ReadHandoverText(std::string_view text, Handover* handover);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_HANDOVER_H_
