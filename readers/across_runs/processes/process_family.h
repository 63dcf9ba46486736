// Processes that began each other, and what they had together.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_FAMILY_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_FAMILY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/across_runs/processes/process_run.h"

namespace pymemrun {

struct FamilyMember {
  ProcessRun run;
  size_t depth = 0;  // 0: no file of its parent is there
};

// When all together had most.
struct FamilyPeak {
  uint64_t time_us = 0;
  uint64_t bytes = 0;
  std::vector<uint64_t> shares;     // of each member, in their order
  uint64_t sum_of_peaks_bytes = 0;  // what each had at its own peak
};

// Not thread safe.
class ProcessFamily {
 public:
  explicit ProcessFamily(std::vector<ProcessRun> runs);

  // A parent before its children, these by their begin.
  const std::vector<FamilyMember>& members() const { return members_; }
  uint64_t BeginUs() const;
  uint64_t EndUs() const;
  FamilyPeak Peak() const;
  // Keeps the process of this file and those that began with it: also such as
  // nobody in the family began while it was there. REQUIRES: the file is a
  // member's.
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
