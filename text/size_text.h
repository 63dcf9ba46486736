// Sizes as users write them on the command line: `4096`, `4KiB`, `1.5MB`. All
// our programs read them alike. Plain C++: the launcher has it too.
#ifndef PYMEMRUN_TEXT_SIZE_TEXT_H_
#define PYMEMRUN_TEXT_SIZE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace pymemrun {

// Bytes of a size: a decimal number, blanks or none, a unit in any case. `K M G
// T` and `KiB MiB GiB TiB` are powers of 1024, `KB MB GB TB` powers of 1000,
// `B` or none are bytes. A fraction is allowed where a whole number of bytes
// comes out. Nothing for any other text and for 2^63 bytes or more.
std::optional<uint64_t> ParseSize(std::string_view text);

// A plain decimal number from `lowest` to `highest`; nothing for other text.
std::optional<int64_t> ParseNumber(std::string_view text, int64_t lowest,
                                   int64_t highest);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_SIZE_TEXT_H_
