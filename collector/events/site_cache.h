// The site of each event, found again in a few instructions.
#ifndef PYMEMRUN_COLLECTOR_EVENTS_SITE_CACHE_H_
#define PYMEMRUN_COLLECTOR_EVENTS_SITE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace pymemrun {

// A place as the ring names it: 12 of an event slot's 16 bytes.
struct RawPlace {
  uint64_t code_and_position;  // what and code below, position above
  uint32_t function;
};

// A site id as it stands in the site column: the varint's bytes, lowest first,
// and its length in the top byte. The hot loop stores the word and moves on by
// the length, without a branch on it. Ids of more than 21 bits do not fit: 0.
using EncodedSite = uint32_t;

inline EncodedSite EncodeSite(uint32_t site) {
  if (site < (1u << 7)) return site | 1u << 24;
  const uint32_t low = (site & 0x7f) | 0x80;
  if (site < (1u << 14)) return low | site >> 7 << 8 | 2u << 24;
  if (site >= (1u << 21)) return 0;
  return low | ((site >> 7 & 0x7f) | 0x80) << 8 | site >> 14 << 16 | 3u << 24;
}

// REQUIRES: encoded != 0.
inline uint32_t DecodeSite(EncodedSite encoded) {
  uint32_t site = encoded & 0x7f;
  if (encoded >> 24 > 1) site |= (encoded >> 8 & 0x7f) << 7;
  if (encoded >> 24 > 2) site |= (encoded >> 16 & 0x7f) << 14;
  return site;
}

// Two-way, of fixed size: 4096 pairs are 128 KiB, which stays in the L2 cache
// and holds the hot sites of any program that was measured. Not thread safe.
class SiteCache {
 public:
  // The kernel's zeros: what a short run does not use is not touched.
  SiteCache()
      : entries_(static_cast<Entry*>(std::calloc(kSets * 2, sizeof(Entry)))) {
    if (entries_ == nullptr) std::abort();
  }

  // 0 when the place is not in the cache. Both ways are looked at without a
  // branch: which of them it is cannot be foretold.
  EncodedSite Find(const RawPlace& place) const {
    const Entry* set = &entries_[SetOf(place) * 2];
    return SiteIf(set[0], place) | SiteIf(set[1], place);
  }

  // The newest of a set goes first, the older one second.
  // REQUIRES: the place is not in the cache.
  void Insert(const RawPlace& place, EncodedSite site) {
    Entry* set = &entries_[SetOf(place) * 2];
    set[1] = set[0];
    set[0] = {place.code_and_position, place.function, site};
  }

  void Clear() {
    for (size_t i = 0; i < kSets * 2; ++i) entries_[i] = Entry();
  }

 private:
  struct Entry {
    uint64_t code_and_position = 0;
    uint32_t function = 0;
    EncodedSite site = 0;  // 0: empty, whatever the place says
  };
  static_assert(sizeof(Entry) == 16);
  static constexpr int kSetBits = 12;
  static constexpr size_t kSets = size_t{1} << kSetBits;

  static EncodedSite SiteIf(const Entry& entry, const RawPlace& place) {
    const uint64_t difference =
        (entry.code_and_position ^ place.code_and_position) |
        (entry.function ^ place.function);
    return difference == 0 ? entry.site : 0;
  }
  // Multiplicative hashing: the high bits of a product with an odd constant
  // (2^64 divided by the golden ratio) depend on all bits below.
  static size_t SetOf(const RawPlace& place) {
    const uint64_t mixed =
        place.code_and_position ^ place.function * uint64_t{0xff51afd7ed558ccd};
    return (mixed * uint64_t{0x9e3779b97f4a7c15}) >> (64 - kSetBits);
  }

  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  std::unique_ptr<Entry[], Free> entries_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_EVENTS_SITE_CACHE_H_
