// What the kernel says of the pages of faults while they are still there.
#ifndef PYMEMRUN_COLLECTOR_PAGES_FAULT_LOOKS_H_
#define PYMEMRUN_COLLECTOR_PAGES_FAULT_LOOKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "collector/definitions/mapping_table.h"
#include "collector/pages/page_rings.h"
#include "collector/pages/residency_scan.h"

namespace pymemrun {

// Not thread safe. `scan` and `mappings` must outlive it.
class FaultLooks {
 public:
  FaultLooks(ResidencyScan* scan, MappingTable* mappings, uint64_t page_bytes)
      : scan_(scan), mappings_(mappings), page_bytes_(page_bytes) {}

  // Sets the mapping of the samples from `first` on, and whether they are huge
  // pages or zero pages, as far as the kernel tells. Returns the number of zero
  // pages. Call it soon after the faults, because their memory may be released.
  // Faults still running at an earlier call are asked about again.
  size_t Look(size_t first, std::vector<PageSample>* samples);
  // Whether the sample is part of a huge page, by what is known now; nullopt:
  // its memory has gone unseen. What Look() found counts more.
  absl::optional<bool> IsHuge(const PageSample& sample);
  // Whether the fault mapped the page of zeros, which takes no memory: it read
  // what was never written. Asks again where the page was not there yet. For a
  // page that has gone its instruction answers: it only reads.
  bool IsZero(const PageSample& sample);
  // These pages were released: the next fault there may bring a huge page.
  void Left(uint64_t address, uint64_t bytes);

 private:
  size_t FindZeros(size_t first, std::vector<PageSample>* samples);
  size_t FindZerosNear(size_t first, size_t end,
                       std::vector<PageSample>* samples);
  absl::optional<bool> LooksHuge(const PageSample& sample);
  void AskAgain();
  // What an instruction was seen to find.
  struct Habit {
    uint64_t instruction = 0;
    uint64_t zeros = 0, writes = 0;  // pages
    uint64_t not_asked = 0;          // since it was asked about last
  };
  // A fault that was under way when the kernel was asked.
  struct UnderWay {
    uint64_t time_ns, address;
    uint64_t until_ns;  // it is asked again until then
    absl::optional<bool> huge;
  };
  Habit& HabitOf(const PageSample& sample);
  bool SurelyWrites(const PageSample& sample);

  ResidencyScan* const scan_;
  MappingTable* const mappings_;
  const uint64_t page_bytes_;
  // Numbers of the blocks of 2 MiB about which the kernel was asked last.
  std::array<uint64_t, 1024> asked_blocks_ = {};
  std::vector<UnderWay> under_way_;
  std::vector<PageRegion> regions_;
  std::vector<size_t> order_;       // samples by address
  std::array<Habit, 1021> habits_;  // by a hash of the instruction
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_FAULT_LOOKS_H_
