// What `pymemreport summary` says of a run: sentences for people, one row of
// plain values for machines.
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

// The kinds of event that --events let pass, as it takes them; empty: all.
std::string KindNames(const Filters& filters);

// "exit", "signal", "exec", "killed or exited", "unknown".
absl::string_view EndName(Footer::End end);

// The run's one peak.
struct RunPeak {
  uint64_t time_us = 0;
  uint64_t rss_bytes = 0;  // 0: not known
};

// Label and text, in the order they are shown; texts are escaped for a
// terminal.
using Descriptions = std::vector<std::pair<std::string, std::string>>;
// VmHWM was no lower than the peak, even if it was read earlier.
Descriptions DescribeRun(const RunFacts& facts, const RunPeak& peak = {});

// The same run as names and values: sizes in bytes, times in seconds, the unit
// in the name; what is not known is std::monostate. The names are the same for
// every run; the first that ends in "_bytes" is the main size. `file_bytes` is
// the run file's own size.
std::vector<std::pair<std::string, Cell>> SummaryValues(
    const RunFacts& facts, const std::string& run_file, uint64_t file_bytes,
    const RunPeak& peak = {});

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_SUMMARY_RUN_SUMMARY_H_
