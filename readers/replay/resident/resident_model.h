// Who made each resident page: replays the page events of a run up to a moment.
//
// The base truth is who first touched a page. The rules:
//   - A page that comes takes its place, also when it is there already (that it
//     left may have been missed, or zeros were read before it was written). Not
//     where a child was forked since the page came: a copy stays whose it was.
//     Nor where a Residency has found it: threads also fault on memory that is
//     there, when the kernel moves it or asks which CPU uses it.
//   - What a populating call brings belongs to it where no page is there yet.
//   - Unmapped, discarded, trimmed pages go; moved ones keep their owners.
//   - A Residency puts things right. Pages go that came before the kernel was
//     asked and were not found. Pages that were found and nobody brought belong
//     in the first Residency to the time before tracing. Later their owner is
//     inferred: that of the nearest page, in huge pages of the same 2 MiB, in
//     files within the same 64 KiB, which the kernel maps around a fault. Else
//     within the same 2 MiB, which the kernel may hold in one piece, if all
//     between is resident. Other pages of files and devices are whatever they
//     are part of, and so are all where pages were scanned: nobody saw who
//     brought them. The rest has nobody.
//   - Where one page in N was chosen it stands for N, and the others are not
//     known. Nor are pages that nobody brought, except those before tracing and
//     those inferred in huge pages and files. In a huge page each stands for
//     itself, unless a chosen one comes after all.
//
// Memory: some 40 to 80 bytes for each run of pages that have the owner, and up
// to the next Residency the moment they came, in common (PageMap). Each owner
// takes some bytes more. Memory does not grow with the number of events.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_MODEL_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_MODEL_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "format/records/record_visitor.h"
#include "readers/replay/resident/hindsight.h"
#include "readers/replay/resident/page_gap.h"
#include "readers/replay/resident/page_map.h"

namespace pymemrun {

// Not thread safe.
class ResidentModel {
 public:
  struct Limits {
    size_t runs = PageMap::kMaxRuns;
    size_t owners = size_t{1} << 22;
    // Between known pages, that are looked at; each entry and range adds some.
    uint64_t gaps = uint64_t{1} << 20;
  };

  ResidentModel() : ResidentModel(Limits()) {}
  explicit ResidentModel(const Limits& limits);
  void SetHeader(const Header& header);
  // `task` 0: of no task's step. `waits`: see Origin.
  void Add(const PageEntry& entry, uint32_t task = 0, uint32_t waits = 0);
  void Add(const ResidencyView& seen);  // without its RSS, read later
  // By scan: whose the pages seem to be that the next Residency finds.
  void SetRan(const PageOwner& ran) { ran_ = ran; }
  // The pages get the owner of the page they came with, if that is there.
  void Add(const LateArrival& late);
  // What statm said at a moment up to which everything has been added. The
  // kernel counts a huge page once it has filled it: one whose fault began
  // shortly before, and that RSS does not have yet, is still to come.
  void SetRss(uint64_t rss_bytes, uint64_t time_us);
  void AddFork(uint64_t time_us) { fork_us_ = time_us; }

  uint64_t page_bytes() const { return page_bytes_; }
  // statm's latest, and what came and went since, as far as page events tell;
  // without statm OwnedBytes().
  uint64_t RssBytes() const;
  // RSS was never higher.
  void SetMostRss(uint64_t bytes) { most_rss_bytes_ = bytes; }
  uint64_t OwnedBytes() const { return owned_pages_ * page_bytes_; }
  // What was there before tracing and is in no Residency yet.
  uint64_t UnlistedBeforeBytes() const;
  // What has no owner; below 0 where more is thought to be there than is.
  int64_t UnattributedBytes() const {
    return static_cast<int64_t>(RssBytes() - OwnedBytes() -
                                UnlistedBeforeBytes());
  }
  // Index 0 is nobody. Pages: as many as they stand for.
  const std::vector<PageOwner>& owners() const { return owners_; }
  uint64_t PagesOf(uint32_t owner) const {
    return counts_[owner] * owners_[owner].weight;
  }
  // Pages with their owners, in the order of addresses.
  const PageMap& pages() const { return pages_; }
  // Those of the latest Residency.
  const std::vector<ResidentRange>& ranges() const { return ranges_; }
  // Pages by MappingDef.id that were found there and have no owner; none where
  // pages were sampled.
  absl::flat_hash_map<uint32_t, uint64_t> Unowned() const;
  bool sampled() const { return sampled_; }  // pages were
  // Pages that found no room.
  uint64_t not_kept() const { return not_kept_; }

 private:
  uint32_t OwnerId(const PageOwner& owner);
  uint32_t ToucherId(const PageEntry& entry);
  uint32_t InferredId(uint32_t owner);
  uint32_t CountEach(const PageMap::Run& run);
  KnownPage Known(const PageMap::Run& run, uint64_t page,
                  const ResidentRange& range) const;
  bool Put(const PageMap::Run& run);
  void Own(uint64_t begin, uint64_t end, uint32_t owner, uint64_t time_us);
  void Drop(uint32_t owner, uint64_t pages);
  void DropRun(const PageMap::Run& run) { Drop(run.owner, run.pages()); }
  void Come(const PageEntry& entry);
  void TakeApart(const PageMap::Run& run, uint64_t page);
  void Populate(const PageEntry& entry);
  void Remove(uint64_t page, uint64_t pages);
  void Move(const PageEntry& entry);
  void RemoveUnseen(const ResidencyView& seen);
  void FindOwners(const ResidencyView& seen);
  void FindOwners(const ResidentRange& range, uint64_t time_us);
  void FillGaps(const ResidentRange& range, PageGap gap);
  void CountUnowned(uint64_t begin, uint64_t end, uint32_t mapping);
  void Fill(const PageGap& gap);
  void Infer(uint64_t begin, uint64_t end, const KnownPage& from,
             uint64_t time_us);

  const Limits limits_;
  PageMap pages_;
  std::vector<PageOwner> owners_ = {{}};
  std::vector<uint64_t> counts_ = {0};  // by owner, not weighted
  absl::flat_hash_map<PageOwner, uint32_t> ids_;
  uint64_t page_bytes_ = 4096;
  uint64_t owned_pages_ = 0;  // as many as they stand for
  uint64_t rss_bytes_ = 0;    // statm's latest, at rss_us_; 0: none
  uint64_t rss_us_ = 0, most_rss_bytes_ = UINT64_MAX;
  uint64_t owned_at_rss_ = 0, fork_us_ = 0;
  uint64_t huge_us_ = 0;            // when the last huge page's fault began
  uint64_t changed_since_rss_ = 0;  // by an answer, of pages that came since
  bool sampled_ = false, by_scan_ = false, any_residency_ = false;
  bool tells_calls_ = true;
  PageOwner ran_ = {.by_scan = true};
  FaultsUnderWay under_way_;
  std::vector<ResidentRange> ranges_;
  uint64_t ranges_us_ = 0;  // when the kernel began to be asked for them
  absl::flat_hash_map<uint32_t, uint64_t> unowned_;  // at ranges_us_
  uint64_t not_kept_ = 0, gaps_left_;                // the latter: see Limits
  PageOwner last_owner_;                             // the last one asked for
  uint32_t last_id_ = 0, task_ = 0, waits_ = 0;  // of the entry that is added
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_MODEL_H_
