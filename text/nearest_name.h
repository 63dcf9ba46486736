// Which name a mistyped one was meant to be: the nearest option that error
// messages of all our programs name. Plain C++: the launcher has it too.
#ifndef PYMEMRUN_TEXT_NEAREST_NAME_H_
#define PYMEMRUN_TEXT_NEAREST_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace pymemrun {

// Which of `names` is most like `word`, or empty when none is like it. First
// come those that begin with it, provided that it has two letters besides
// leading dashes, then those that typing errors turn into it; letters of any
// case.
std::string NearestName(std::string_view word,
                        const std::vector<std::string>& names);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_NEAREST_NAME_H_
