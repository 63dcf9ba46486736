// What the launcher tells the tracer that is preloaded into another
// interpreter: by a variable of the environment, which the tracer removes.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_HANDOVER_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_HANDOVER_H_

#include <string>
#include <string_view>
#include <vector>

namespace pymemrun {

inline constexpr char kHandoverVariable[] = "PYMEMRUN_PRELOADED";

// A text that holds the strings, whatever bytes are in them. No NUL.
std::string HandoverText(const std::vector<std::string>& strings);

// Reads it. False: it is no such text.
bool ReadHandoverText(std::string_view text, std::vector<std::string>* strings);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_HANDOVER_H_
