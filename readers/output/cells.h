// Cells that many tables share.
#ifndef PYMEMRUN_READERS_OUTPUT_CELLS_H_
#define PYMEMRUN_READERS_OUTPUT_CELLS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "readers/output/table.h"

namespace pymemrun {

// Times as numbers for machines.
inline double SecondsOfUs(uint64_t us) { return static_cast<double>(us) / 1e6; }
inline double SecondsOfNanos(uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// In text "1.234".
inline Cell SecondsCell(uint64_t ns, TableFormat format) {
  if (format != TableFormat::kText) return SecondsOfNanos(ns);
  return absl::StrFormat("%.3f", SecondsOfNanos(ns));
}
// In text "1.2".
inline Cell MillisecondsCell(uint64_t ns, TableFormat format) {
  const double ms = static_cast<double>(ns) / 1e6;
  if (format != TableFormat::kText) return ms;
  return absl::StrFormat("%.1f", ms);
}

// An empty text is an unknown cell.
inline Cell TextCell(std::string text) {
  return text.empty() ? Cell() : Cell(std::move(text));
}

// 0 if `whole` is 0.
inline double ShareOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_CELLS_H_
