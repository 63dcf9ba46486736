// --from and --to of reports that sum up a part of a run's time.
#ifndef PYMEMRUN_READERS_REPORT_RANGE_OPTIONS_H_
#define PYMEMRUN_READERS_REPORT_RANGE_OPTIONS_H_

#include <memory>
#include <optional>

#include "CLI/CLI.hpp"
#include "readers/options/option_values.h"
#include "readers/replay/moments/moment_reading.h"

namespace pymemrun {

// Not copied between Add() and the parsing, which go by its address.
struct RangeOptions {
  std::optional<Moment> from, to;

  bool any() const { return from.has_value() || to.has_value(); }
  void Add(CLI::App* app) {
    AddParsed(app, "--from", &from, ParseMoment, "T",
              "Begin at this moment: a time (1.5, 1500ms, 50%), a mark's "
              "label, peak, heap-peak, end or exit.");
    const auto parse_end = [this](absl::string_view text) {
      return ParseEnd(text, from.value_or(Moment{Moment::kTime}),
                      from.has_value() ? "--from" : "the run's beginning");
    };
    AddParsed(app, "--to", &to, parse_end, "T", "End at this moment.");
  }
  // As FindRange().
  bool Find(RereadFile* file, const Console& console, MomentRange* range,
            int* code) const {
    std::unique_ptr<RunMoments> moments;
    return FindRange(from, to, file, console, &moments, range, code);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_RANGE_OPTIONS_H_
