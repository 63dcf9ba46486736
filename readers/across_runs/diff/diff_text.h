// Two runs beside each other as text, CSV and JSON, and a run's figures for
// tools that keep them over time.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_DIFF_TEXT_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_DIFF_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "readers/across_runs/diff/run_side.h"
#include "readers/output/output_buffer.h"
#include "readers/output/table.h"
#include "readers/places/table_view.h"

namespace pymemrun {

struct DiffOptions {
  GroupBy by = GroupBy::kLine;
  bool stacks = false;
  uint64_t limit = 10;  // of rows of each kind; 0: all
  TableFormat format = TableFormat::kText;
  TableView view = {};  // of places
};

// The totals, then what places hold. CSV has the places alone. JSON is an
// object of both. Fails, and prints nothing, where places cannot be chosen or
// sorted so.
absl::Status PrintDiff(const RunSide& before, const RunSide& after,
                       const DiffOptions& options, OutputBuffer* output);

enum class FiguresFormat {
  kBencher,          // Bencher Metric Format
  kSmallerIsBetter,  // github-action-benchmark's customSmallerIsBetter
};
// A run's totals, in bytes and seconds, named after its script.
std::string FiguresJson(const RunSide& run, FiguresFormat format);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_DIFF_TEXT_H_
