// What error messages of all programs say about a mistyped word: a part of it,
// and the nearest known name. Plain C++: the launcher uses it, too.
#ifndef PYMEMRUN_TEXT_NEAREST_NAME_H_
#define PYMEMRUN_TEXT_NEAREST_NAME_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pymemrun {

// The one of `names` that is most like `word`; empty if none is. Names that
// start with the word are preferred, if it has two letters besides leading
// dashes. Then come names that differ by typing errors. Case does not matter.
std::string NearestName(std::string_view word,
                        const std::vector<std::string>& names);

// Cuts each word of more than `longest` bytes, such as a mistyped one, to 100
// bytes and dots. Also cuts a message of more than ten times that length.
std::string ShortWords(std::string_view message, size_t longest = 100);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_NEAREST_NAME_H_
