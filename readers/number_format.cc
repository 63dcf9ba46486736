#include "readers/number_format.h"

#include <cmath>
#include <string>

#include "absl/strings/str_format.h"

namespace pymemrun {

std::string HumanBytes(double size_bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB",
                                           "TiB",   "PiB", "EiB"};
  double size = size_bytes;
  size_t unit = 0;
  while (std::fabs(size) >= 1023.95 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  if (unit == 0) return absl::StrFormat("%.0f bytes", size);
  return absl::StrFormat("%.1f %s", size, kUnits[unit]);
}

std::string HumanBytesSigned(double size_bytes) {
  return (size_bytes > 0 ? "+" : "") + HumanBytes(size_bytes);
}

std::string Grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace pymemrun
