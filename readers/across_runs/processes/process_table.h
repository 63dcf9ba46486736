// The table of `pymemreport processes`.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_TABLE_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_TABLE_H_

#include <cstdint>
#include <string>

#include "readers/across_runs/processes/process_family.h"
#include "readers/output/table.h"

namespace pymemrun {

// A row for each process, or only for `pid` (0: all), at most `limit` of them
// (0: all): those with most memory. Text has fewer columns than outputs for
// machines.
Table ProcessTable(const ProcessFamily& family, const FamilyPeak& peak,
                   uint64_t pid, uint64_t limit, TableFormat format);

// The lines above and below the table in text, each ended.
std::string ProcessHeading(const ProcessFamily& family, const FamilyPeak& peak);
std::string ProcessNotes(const ProcessFamily& family);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_TABLE_H_
