// Which pages that come are recorded where not all are, `--page-period N`, and
// which may have come with others.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_SAMPLER_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "collector/pages/residency_scan.h"

namespace pymemrun {

enum class PageChoice {
  kLeftOut,
  kChosen,   // it stands for as many as there are in its group
  kCertain,  // it would have been recorded in any case, and stands for itself
  kFirst,    // certain, and the first of its 2 MiB: it may be a huge page's
};
inline bool IsCertain(PageChoice choice) {
  return choice == PageChoice::kCertain || choice == PageChoice::kFirst;
}

// Chooses pages by address: one at random in each group of N neighbours. So a
// page that is touched again, copied after a fork or read before it is written
// is always chosen or never. The state of the chosen pages at any time is what
// it would be if all were recorded. Contiguous memory is divided evenly. No
// pattern of addresses can correlate with a random choice in each group.
//
// A fault may bring more pages than its own. These must not depend on one in N:
//   - The first fault in each aligned 2 MiB is certain, because it may have
//     brought a huge page; again after these pages were released.
//   - So is each fault in pages of a file, which come sixteen at a time.
// Not thread-safe.
class PageSampler {
 public:
  struct Options {
    uint32_t period;  // N, at least 1
    uint64_t seed;
    uint32_t page_bytes;
  };
  explicit PageSampler(const Options& options) : options_(options) {}
  // For Options.
  static uint64_t RandomSeed();

  // Until this is called, and with a period of 1, every page is certain.
  void Begin() { chooses_ = true; }
  bool chooses() const { return chooses_; }
  // `of_file`: the address is in a file's mapping.
  PageChoice Choose(uint64_t address, bool of_file);
  // The same of pages that came together. Calls `add` for each part of the
  // range that was chosen, in the order of addresses.
  void EachChosen(
      uint64_t address, uint64_t bytes,
      absl::FunctionRef<bool(uint64_t page_address)> of_file,
      absl::FunctionRef<void(uint64_t address, uint64_t bytes, bool certain)>
          add);
  // Pages were released.
  void Left(uint64_t address, uint64_t bytes);
  // The kernel said what is resident; in the order of addresses.
  void Found(const std::vector<ResidentPages>& ranges);

 private:
  bool IsFirstInBlock(uint64_t address);

  const Options options_;
  bool chooses_ = false;
  absl::flat_hash_set<uint64_t> blocks_;  // of 2 MiB that faults were in
  uint64_t last_block_ = UINT64_MAX;      // one of them
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_SAMPLER_H_
