// pymemreport's command line.
#ifndef PYMEMRUN_READERS_REPORT_OPTIONS_H_
#define PYMEMRUN_READERS_REPORT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "readers/call_profile.h"
#include "readers/command_line.h"
#include "readers/heap_options.h"
#include "readers/resident_places.h"
#include "readers/table.h"

namespace pymemrun {

struct ReportOptions {
  enum class Command {
    kSummary,
    kTop,
    kResident,
    kTimeline,
    // Those of heap events:
    kHeap,
    kHistory,
    kSnapshot,
    kStats,
    kFlame,
    kExport,
  };

  Command command = Command::kSummary;
  std::vector<std::string> files;
  PlaceKind by = PlaceKind::kLine;  // kTop
  uint64_t limit = 0;               // of places; 0: all
  TableFormat format = TableFormat::kText;
  std::string output;  // empty: standard output
  HeapOptions heap;    // kHeap and those after it
  // kResident, kTimeline:
  ResidentBy resident_by = ResidentBy::kLine;
  bool owner_heap = false;  // kResident: pages are charged to blocks in them
  bool by_heap = false;     // kTimeline: live bytes beside RSS
  bool at_peak = false;
  uint64_t at_us = 0;      // unless at_peak
  bool stacks = false;     // and kHeap
  bool collapsed = false;  // and kHeap, kSnapshot
  bool as_svg = true;      // kTimeline, kHistory
  uint64_t top = 0;        // places with a series of their own
};

// Fills *options. Returns the exit code with which to end at once, see
// ParseArguments().
std::optional<int> ParseReportOptions(const std::vector<std::string>& arguments,
                                      const Console& console,
                                      ReportOptions* options);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_OPTIONS_H_
