#include "text/size_text.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>

namespace pymemrun {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr uint64_t kMaxSize = INT64_MAX;
constexpr uint64_t kKibi = 1024;
constexpr uint64_t kKilo = 1000;

struct Unit {
  const char* name;
  uint64_t bytes;
};

// As in dd(1): K and KiB are 1024, KB is 1000. Upper and lower case are the
// same.
constexpr Unit kUnits[] = {
    {"", 1},
    {"B", 1},
    {"K", kKibi},
    {"KiB", kKibi},
    {"M", kKibi* kKibi},
    {"MiB", kKibi* kKibi},
    {"G", kKibi* kKibi* kKibi},
    {"GiB", kKibi* kKibi* kKibi},
    {"T", kKibi* kKibi* kKibi* kKibi},
    {"TiB", kKibi* kKibi* kKibi* kKibi},
    {"KB", kKilo},
    {"MB", kKilo* kKilo},
    {"GB", kKilo* kKilo* kKilo},
    {"TB", kKilo* kKilo* kKilo* kKilo},
};

// Bytes of a unit; 0 if there is no such unit.
uint64_t UnitBytes(std::string_view text) {
  const std::string name(text);
  for (const Unit& unit : kUnits) {
    if (name.size() == std::string_view(unit.name).size() &&
        strcasecmp(unit.name, name.c_str()) == 0) {
      return unit.bytes;
    }
  }
  return 0;
}

// A number without its point, and the power of ten to divide it by.
struct Decimal {
  uint64_t digits;
  uint64_t divisor;
};

// Takes digits, and a point with digits, off the front of *text. Exact: no
// floating point, so that "0.1" is a tenth. Trailing zeros do not count. Fails
// if a number does not fit 64 bits.
std::optional<Decimal> TakeDecimal(std::string_view* text) {
  size_t end = std::min(text->find_first_not_of(kDigits), text->size());
  std::string digits(text->substr(0, end));
  if (digits.empty()) return std::nullopt;
  text->remove_prefix(end);
  Decimal number = {0, 1};
  if (!text->empty() && text->front() == '.') {
    text->remove_prefix(1);
    end = std::min(text->find_first_not_of(kDigits), text->size());
    std::string_view fraction = text->substr(0, end);
    if (fraction.empty()) return std::nullopt;
    text->remove_prefix(end);
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
    constexpr size_t kMostDigits = 18;  // of a power of ten in 64 bits
    if (fraction.size() > kMostDigits) return std::nullopt;
    digits += fraction;
    for (size_t i = 0; i < fraction.size(); ++i) number.divisor *= 10;
  }
  const char* last = digits.data() + digits.size();
  auto [after, error] = std::from_chars(digits.data(), last, number.digits);
  if (error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

// A number, blanks, a unit. The result must be a whole number of bytes that
// fits int64_t: "0.5 KiB" is 512, and "0.3K" is refused rather than rounded.
std::optional<uint64_t> ParseSize(std::string_view text) {
  const std::optional<Decimal> number = TakeDecimal(&text);
  if (!number) return std::nullopt;
  const size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  const uint64_t unit = UnitBytes(text.substr(blanks));
  if (unit == 0) return std::nullopt;
  // In lowest terms, the divisor must divide the unit.
  const uint64_t common = std::gcd(number->digits, number->divisor);
  const uint64_t factor = number->digits / common;
  const uint64_t divisor = number->divisor / common;
  if (unit % divisor != 0) return std::nullopt;
  const uint64_t step = unit / divisor;
  if (factor > kMaxSize / step) return std::nullopt;
  return factor * step;
}

// std::from_chars accepts neither spaces, nor a plus, nor any locale's
// separators. The whole text must be the number.
std::optional<int64_t> ParseNumber(std::string_view text, int64_t lowest,
                                   int64_t highest) {
  const char* end = text.data() + text.size();
  int64_t number = 0;
  auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || after != end) return std::nullopt;
  if (number < lowest || number > highest) return std::nullopt;
  return number;
}

}  // namespace pymemrun
