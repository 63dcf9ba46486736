// A path for what LD_PRELOAD cannot name.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_PLAIN_PATH_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_PLAIN_PATH_H_

#include <string>
#include <vector>

namespace pymemrun {

// Where links may lie; the first that can be used is.
std::vector<std::string> LinkPlaces();

// `object` itself, or, where that has a space or a colon, a path of the same
// file that has none: through a link to its folder. The link lies in a folder
// of one of `places` that nobody but this user may write to, and it stays
// there, for the processes that inherit LD_PRELOAD. Empty: no place can be
// used.
std::string PlainPathOf(const std::string& object,
                        const std::vector<std::string>& places);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_PLAIN_PATH_H_
