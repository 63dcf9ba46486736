// Prints two runs side by side as text, CSV and JSON, and a run's figures for
// tools that track them over time.
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

// How PrintDiff() prints.
struct DiffOptions {
  GroupBy by = GroupBy::kLine;
  bool stacks = false;
  uint64_t limit = 10;  // rows of each kind; 0: all
  TableFormat format = TableFormat::kText;
  TableView view = {};  // of places
};

// Prints the totals, then the places. CSV has only places; JSON is an object
// with both. Fails, and prints nothing, if the places cannot be chosen or
// sorted as asked.
absl::Status PrintDiff(const RunSide& before, const RunSide& after,
                       const DiffOptions& options, OutputBuffer* output);

// Formats of tools that track a program's figures over time.
enum class FiguresFormat {
  kBencher,          // Bencher Metric Format
  kSmallerIsBetter,  // github-action-benchmark's customSmallerIsBetter
};
// A run's totals in bytes and seconds, under the name of its script.
std::string FiguresJson(const RunSide& run, FiguresFormat format);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_DIFF_TEXT_H_
