// LD_PRELOAD: a list of shared objects, separated by colons or spaces.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_PRELOAD_LIST_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_PRELOAD_LIST_H_

#include <string>
#include <string_view>

namespace pymemrun {

inline constexpr char kPreloadVariable[] = "LD_PRELOAD";
inline constexpr char kPreloadSeparators[] = ": ";

// `list` without that object; empty where it is the only one.
std::string PreloadsWithout(std::string_view list, std::string_view object);

// Takes the object out of this process's LD_PRELOAD, and that out of the
// environment where nothing is left. /proc/self/environ shows the same: where a
// text is shorter now, bytes of 0 follow it.
void LeaveOutOfPreloads(const std::string& object);

// Puts another object in the place of this one there.
void ExchangeInPreloads(const std::string& object, const std::string& other);

// Takes a variable out in the same way.
void ForgetVariable(const char* name);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_PRELOAD_LIST_H_
