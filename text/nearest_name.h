// What error messages of all our programs say of a mistyped word: its begin,
// and the nearest name that there is. Plain C++: the launcher has it too.
#ifndef PYMEMRUN_TEXT_NEAREST_NAME_H_
#define PYMEMRUN_TEXT_NEAREST_NAME_H_

#include <cstddef>
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

// A message in which each word of more than `longest` bytes, such as a mistyped
// one, is cut to 100 bytes and dots; the message, if it is ten times as long.
std::string ShortWords(std::string_view message, size_t longest = 100);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_NEAREST_NAME_H_
