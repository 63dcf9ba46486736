// Charges each resident page to the code that touched it: replays a run's page
// events up to a moment.
//
// A page is charged to the code that first touched it. The rules:
//   - A page that comes is charged to its toucher, even if it is there already.
//     Its removal may have been missed, or zeros were read before it was
//     written. There are two exceptions. After a fork a copied page keeps its
//     owner. So does a page that a Residency, the list of resident pages that
//     the kernel gave at one moment, has confirmed: threads also fault on
//     resident memory, when the kernel moves it or samples which CPU uses it.
//   - A populating call is charged with the pages of its range that were not
//     resident yet.
//   - Unmapped, discarded and trimmed pages go; moved ones keep their owners.
//   - A Residency corrects the model. Pages go if they came before the
//     kernel was asked, and were not found. Pages that were found, but have no
//     owner, are from before tracing in the first Residency. In later ones
//     their owner is inferred: that of the nearest page with an owner, within
//     the same 2 MiB in huge pages, or within the same 64 KiB in files, which
//     the kernel maps around a fault. In files the same 2 MiB will do, too, if
//     all pages between are resident: the kernel may hold these in one piece.
//     Other pages of files and devices are charged to their mapping. The rest
//     has no owner.
//   - Where pages were scanned, there are no faults, and no owner is inferred.
//     New pages of a later Residency are charged to the owner that SetRan()
//     sets. Without call events, new pages of files are charged only to their
//     mapping.
//   - Where one page in N was sampled, it stands for N pages, and the others
//     are not kept. Nor are pages without a recorded fault, except those from
//     before tracing and those inferred in huge pages and files. In a huge page
//     each page stands for itself, unless a later fault in the same huge page
//     was sampled.
//
// Memory: 40 to 80 bytes for each run of pages (PageMap): pages that have one
// owner and, until the next Residency, one time. Each owner takes a few bytes
// more. Memory does not grow with the number of events.
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
  // Bounds of memory and time, whatever a file holds.
  struct Limits {
    size_t runs = PageMap::kMaxRuns;
    size_t owners = size_t{1} << 22;
    // Gaps that may be examined; each entry and range allows some more.
    uint64_t gaps = uint64_t{1} << 20;
  };

  ResidentModel() : ResidentModel(Limits()) {}
  explicit ResidentModel(const Limits& limits);
  void SetHeader(const Header& header);
  // `task` 0: no task's step. `waits`: see Origin.
  void Add(const PageEntry& entry, uint32_t task = 0, uint32_t waits = 0);
  void Add(const ResidencyView& seen);  // without its RSS, which is read later
  // If pages were scanned: sets the owner that is charged with the new pages
  // that the next Residency finds.
  void SetRan(const PageOwner& ran) { ran_ = ran; }
  // Charges the pages to the owner of the page they came with, if it is
  // resident.
  void Add(const LateArrival& late);
  // The RSS of statm at a moment up to which all events were added. The kernel
  // counts a huge page only when it has filled it. So a huge page whose fault
  // started shortly before, and that RSS lacks, is expected to be counted
  // later.
  void SetRss(uint64_t rss_bytes, uint64_t time_us);
  void AddFork(uint64_t time_us) { fork_us_ = time_us; }

  uint64_t page_bytes() const { return page_bytes_; }
  // The latest RSS of statm, plus what page events added and removed since.
  // OwnedBytes() if there was no statm.
  uint64_t RssBytes() const;
  // RSS never exceeded `bytes`.
  void SetMostRss(uint64_t bytes) { most_rss_bytes_ = bytes; }
  uint64_t OwnedBytes() const { return owned_pages_ * page_bytes_; }
  // Memory from before tracing that no Residency has listed yet.
  uint64_t UnlistedBeforeBytes() const;
  // RSS without an owner. It is negative while freed pages not yet noticed are
  // still counted.
  int64_t UnattributedBytes() const {
    return static_cast<int64_t>(RssBytes() - OwnedBytes() -
                                UnlistedBeforeBytes());
  }
  // By number; index 0 stands for no owner. PagesOf() counts what sampled pages
  // stand for.
  const std::vector<PageOwner>& owners() const { return owners_; }
  uint64_t PagesOf(uint32_t owner) const {
    return counts_[owner] * owners_[owner].weight;
  }
  // Pages with their owners, in the order of addresses.
  const PageMap& pages() const { return pages_; }
  // The ranges of the latest Residency.
  const std::vector<ResidentRange>& ranges() const { return ranges_; }
  // By MappingDef.id, the pages of ranges() that have no owner. Empty where
  // pages were sampled.
  absl::flat_hash_map<uint32_t, uint64_t> Unowned() const;
  // Whether one page in N was recorded.
  bool sampled() const { return sampled_; }
  // Pages left out because the model was full.
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
  uint64_t owned_pages_ = 0;  // with what sampled pages stand for
  uint64_t rss_bytes_ = 0;    // statm's latest, at rss_us_; 0: none
  uint64_t rss_us_ = 0, most_rss_bytes_ = UINT64_MAX;
  uint64_t owned_at_rss_ = 0, fork_us_ = 0;
  uint64_t huge_us_ = 0;  // when the last huge page's fault began
  // The pages that the latest Residency added or removed and that came since
  // statm.
  uint64_t changed_since_rss_ = 0;
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
