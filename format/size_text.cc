#include "launcher/size_text.h"

#include <strings.h>

#include <charconv>
#include <string>

namespace pymemrun {
namespace {

struct Unit {
  const char* name;
  double bytes;
};

constexpr double kKibi = 1024;
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
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
};

}  // namespace

std::optional<uint64_t> ParseSize(std::string_view text) {
  const char* end = text.data() + text.size();
  // Whole bytes are read exactly; a double would round above 2^53.
  uint64_t whole = 0;
  auto [after, error] = std::from_chars(text.data(), end, whole);
  if (error == std::errc() && after == end && whole < (uint64_t{1} << 63)) {
    return whole;
  }
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  double number = 0;
  auto [unit, bad] =
      std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (bad != std::errc()) return std::nullopt;
  std::string name(unit, end);
  for (const Unit& candidate : kUnits) {
    if (strcasecmp(candidate.name, name.c_str()) != 0) continue;
    if (name.size() != std::string_view(candidate.name).size()) continue;
    double bytes = number * candidate.bytes;
    if (!(bytes < 9.2e18)) return std::nullopt;
    return static_cast<uint64_t>(bytes);
  }
  return std::nullopt;
}

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
