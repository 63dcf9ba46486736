// Parses sizes as users write them: `4096`, `4KiB`, `1.5MB`. All programs
// accept the same forms. Plain C++: the launcher uses it, too.
#ifndef PYMEMRUN_TEXT_SIZE_TEXT_H_
#define PYMEMRUN_TEXT_SIZE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace pymemrun {

// Bytes of a size: a decimal number, optional blanks, and a unit in any case.
// `K M G T` and `KiB MiB GiB TiB` are powers of 1024, `KB MB GB TB` powers of
// 1000; `B` or no unit means bytes. A fraction is allowed if the result is a
// whole number of bytes. Returns nothing for other text, and for 2^63 bytes or
// more.
std::optional<uint64_t> ParseSize(std::string_view text);

// Parses a plain decimal number from `lowest` to `highest`; nothing for other
// text.
std::optional<int64_t> ParseNumber(std::string_view text, int64_t lowest,
                                   int64_t highest);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_SIZE_TEXT_H_
