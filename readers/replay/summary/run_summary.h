// What `pymemreport summary` prints: sentences for people, and one row of plain
// values for machines.
#ifndef PYMEMRUN_READERS_REPLAY_SUMMARY_RUN_SUMMARY_H_
#define PYMEMRUN_READERS_REPLAY_SUMMARY_RUN_SUMMARY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/output/table.h"
#include "readers/replay/summary/run_facts.h"

namespace pymemrun {

// The kinds of event that the filters pass, in the form of --events; empty:
// all.
std::string KindNames(const Filters& filters);

// "exit", "signal", "exec", "killed or exited", "unknown".
absl::string_view EndName(Footer::End end);

// The run's one peak.
struct RunPeak {
  uint64_t time_us = 0;
  uint64_t rss_bytes = 0;  // 0: unknown
};

// Labels and texts in the order of printing; texts are escaped for a terminal.
using Descriptions = std::vector<std::pair<std::string, std::string>>;
// The peak is shown as VmHWM if VmHWM, read earlier, was lower.
Descriptions DescribeRun(const RunFacts& facts, const RunPeak& peak = {});

// The run as names and values. Sizes are in bytes, times in seconds, with the
// unit in the name; unknown values are std::monostate. All runs have the same
// names; the first one that ends in "_bytes" is the main size. `file_bytes` is
// the size of the run file.
std::vector<std::pair<std::string, Cell>> SummaryValues(
    const RunFacts& facts, const std::string& run_file, uint64_t file_bytes,
    const RunPeak& peak = {});

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_SUMMARY_RUN_SUMMARY_H_
