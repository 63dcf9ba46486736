// Processes that started each other, and their memory together.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_FAMILY_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_FAMILY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/across_runs/processes/process_run.h"

namespace pymemrun {

// A process, and its place in the tree of processes.
struct FamilyMember {
  ProcessRun run;
  size_t depth = 0;  // 0: its parent's file is missing
};

// When all processes together had most.
struct FamilyPeak {
  uint64_t time_us = 0;
  uint64_t bytes = 0;
  std::vector<uint64_t> shares;     // by member, in their order
  uint64_t sum_of_peaks_bytes = 0;  // sum of the members' own peaks
};

// Orders processes into trees. Not thread safe.
class ProcessFamily {
 public:
  explicit ProcessFamily(std::vector<ProcessRun> runs);

  // Parents precede their children; siblings are in the order of their start.
  const std::vector<FamilyMember>& members() const { return members_; }
  uint64_t BeginUs() const;
  uint64_t EndUs() const;
  FamilyPeak Peak() const;
  // Keeps the process of this file and its descendants, including those whose
  // parent ended before they started. REQUIRES: the file is that of a member.
  void KeepTreeOf(const std::string& file);

 private:
  struct Change {
    uint64_t time_us;
    size_t member;
    uint64_t bytes;
  };
  std::vector<Change> Changes() const;

  std::vector<FamilyMember> members_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_FAMILY_H_
