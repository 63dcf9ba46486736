#include "collector/pages/page_sampler.h"

#include <unistd.h>

#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

// The size of a huge page with pages of 4 KiB.
constexpr uint64_t kBlockBytes = uint64_t{2} << 20;
// Releasing less than this does not often make room for a huge page. Otherwise
// code that releases and touches a few pages again and again would be recorded
// each time.
constexpr uint64_t kLeastLeftBytes = uint64_t{256} << 10;
// Blocks remembered: 512 GiB of addresses. In larger programs all are forgotten
// then, and each counts as new once more.
constexpr size_t kMaxBlocks = size_t{1} << 18;

// The step of SplitMix64: spreads neighbouring numbers over all 64 bits.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t PageSampler::RandomSeed() {
  uint64_t seed = 0;
  // Not std::random_device: libstdc++'s archive wants the newest libc for it.
  if (getentropy(&seed, sizeof seed) != 0) seed = MonotonicNs();
  return seed;
}

// The choice depends on the address and the seed only, so it is the same each
// time that a page comes. The order of the tests matters: the first fault in a
// block is noted even while every page is certain.
PageChoice PageSampler::Choose(uint64_t address, bool of_file) {
  if (of_file) return PageChoice::kCertain;
  if (IsFirstInBlock(address)) return PageChoice::kFirst;
  if (!chooses_ || options_.period <= 1) return PageChoice::kCertain;
  const uint64_t page = address / options_.page_bytes;
  const uint64_t group = page / options_.period;
  const uint64_t chosen = Mix(Mix(options_.seed) ^ group) % options_.period;
  return page % options_.period == chosen ? PageChoice::kChosen
                                          : PageChoice::kLeftOut;
}

// Joins neighbours with the same choice, so a certain range is one call of
// `add`. Linear in pages: the caller limits the range.
void PageSampler::EachChosen(
    uint64_t address, uint64_t bytes, absl::FunctionRef<bool(uint64_t)> of_file,
    absl::FunctionRef<void(uint64_t, uint64_t, bool)> add) {
  if (!chooses_) return add(address, bytes, true);
  uint64_t begin = address, chosen = 0;
  PageChoice last = PageChoice::kLeftOut;
  for (uint64_t at = address; at < address + bytes; at += options_.page_bytes) {
    PageChoice choice = Choose(at, of_file(at));
    if (choice == PageChoice::kFirst) choice = PageChoice::kCertain;
    if (choice != last) {
      if (chosen > 0) add(begin, chosen, IsCertain(last));
      begin = at;
      chosen = 0;
      last = choice;
    }
    if (choice != PageChoice::kLeftOut) chosen += options_.page_bytes;
  }
  if (chosen > 0) add(begin, chosen, IsCertain(last));
}

bool PageSampler::IsFirstInBlock(uint64_t address) {
  const uint64_t block = address / kBlockBytes;
  if (block == last_block_) return false;
  last_block_ = block;
  if (blocks_.size() >= kMaxBlocks) blocks_.clear();
  return blocks_.insert(block).second;
}

// Erases by block or by known block, whichever are fewer.
void PageSampler::Left(uint64_t address, uint64_t bytes) {
  if (bytes < kLeastLeftBytes) return;
  last_block_ = UINT64_MAX;
  const uint64_t first = address / kBlockBytes;
  const uint64_t last = (address + bytes - 1) / kBlockBytes;
  if (last - first < blocks_.size()) {
    for (uint64_t block = first; block <= last; ++block) blocks_.erase(block);
    return;
  }
  for (auto it = blocks_.begin(); it != blocks_.end();) {
    const bool left = *it >= first && *it <= last;
    if (left) {
      blocks_.erase(it++);
    } else {
      ++it;
    }
  }
}

// Forgets blocks without resident pages: the next fault there may bring a huge
// page again. Linear in the size of the ranges.
void PageSampler::Found(const std::vector<ResidentPages>& ranges) {
  absl::flat_hash_set<uint64_t> still;
  for (const ResidentPages& range : ranges) {
    const uint64_t last = (range.end - 1) / kBlockBytes;
    for (uint64_t at = range.begin / kBlockBytes; at <= last; ++at) {
      if (blocks_.contains(at)) still.insert(at);
    }
  }
  blocks_ = std::move(still);
  last_block_ = UINT64_MAX;
}

}  // namespace pymemrun
