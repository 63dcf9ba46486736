// The table of `pymemreport processes`.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_TABLE_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_TABLE_H_

#include <cstdint>
#include <string>

#include "readers/across_runs/processes/process_family.h"
#include "readers/output/table.h"

namespace pymemrun {

// A row for each process, or for `pid` alone (0: all), at most `limit` of them
// (0: all): those that had most stay. Text has less than what is for machines.
Table ProcessTable(const ProcessFamily& family, const FamilyPeak& peak,
                   uint64_t pid, uint64_t limit, TableFormat format);

// What stands above the table in text, and below. Lines, each ended.
std::string ProcessHeading(const ProcessFamily& family, const FamilyPeak& peak);
std::string ProcessNotes(const ProcessFamily& family);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_TABLE_H_
