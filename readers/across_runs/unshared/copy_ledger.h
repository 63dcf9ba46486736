// What a forked process has un-shared of its parent's pages.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_UNSHARED_COPY_LEDGER_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_UNSHARED_COPY_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "readers/places/place.h"
#include "readers/replay/page_errors/inference_errors.h"
#include "readers/replay/resident/resident_replay.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Sampled pages count as many times as they stand for.
struct CopiedPages {
  uint64_t pages = 0;
  uint64_t inferred_pages = 0;  // of them
  uint64_t first_us = ReplayVisitor::kEnd;
  // In pages: from sampling, and from pages in bursts, which may be another
  // place's. The sum of all places has only the former.
  double variance = 0, inference_variance = 0;

  void Add(const CopiedPages& other);
};

// A line of the user's, or garbage collection that began there.
struct CopyingPlace : Place {
  bool collecting = false;

  friend bool operator==(const CopyingPlace&, const CopyingPlace&) = default;
  friend bool operator<(const CopyingPlace& a, const CopyingPlace& b) {
    const Place &x = a, &y = b;
    return std::tie(x, a.collecting) < std::tie(y, b.collecting);
  }
};
struct CopyPlace {
  CopyingPlace place;
  CopiedPages copied;
};

// Accounts for copied pages. A forked process starts with its parent's pages:
// those of its first Residency that are not part of a file. The first fault on
// each gives the process its own copy; what releases a page removes it from the
// account. A page that came before the first Residency is counted, too:
// SettleEarly() decides later whether it was the parent's, or new. Not thread
// safe.
class CopyLedger final : public ReplayVisitor {
 public:
  void OnHeader(const Header& header) override;
  bool OnRows(const Row*, size_t) override { return header_.forked(); }
  bool OnHeap(const HeapEvent*, size_t) override { return header_.forked(); }
  bool OnPages(const PageEntry* entries, size_t count) override;
  void OnResidency(const ResidencyView& seen) override;
  void OnPageLoss(const PageLoss& loss) override { lost_ += loss.samples(); }
  void Finish() override {}

  const Header& header() const { return header_; }
  // Whether some pages had no stack of their own.
  bool infers() const { return header_.page_period() > 1; }
  // Whether it is known which pages the parent had.
  bool knows_parent() const { return knows_parent_; }
  // Whether it is known when garbage was collected.
  bool knows_collecting() const { return header_.not_recorded().empty(); }
  // Page events that were lost.
  uint64_t lost() const { return lost_; }

  // Calls was_parents(page) for each page that came before the first Residency,
  // in ascending order. To be called once, after reading.
  bool has_early() const { return !early_.empty(); }
  void SettleEarly(absl::FunctionRef<bool(uint64_t page)> was_parents);

  // Once all is settled. Each place is there once, in their order, its names
  // those of index(). `by`: see UnsharedPages.
  uint64_t page_bytes() const { return page_bytes_; }
  uint64_t parent_pages() const { return parent_pages_; }
  std::vector<CopyPlace> Places(GroupBy by) const;

 private:
  // What does not fit counts as lost, is kept singly, or has no stack.
  static constexpr size_t kMaxCopies = size_t{1} << 20;
  static constexpr size_t kMaxRuns = size_t{1} << 21;

  // Who un-shared a page: a stack, and whether by garbage collection.
  using Copier = std::pair<uint32_t, bool>;
  struct Copy {
    uint64_t page, pages, time_us;
    uint32_t copier;  // its number
    uint32_t weight;
    bool inferred;
  };

  uint32_t NumberOf(const Copier& copier);
  void Take(const PageEntry& entry);
  void Remove(uint64_t page, uint64_t pages);
  void Count(const Copy& copy);
  void SetVariances(const std::vector<uint32_t>& place_of,
                    std::vector<CopyPlace>* places) const;

  Header header_;
  uint64_t page_bytes_ = 4096;
  PageMap shared_{kMaxRuns};
  bool knows_parent_ = false;
  uint64_t parent_pages_ = 0, lost_ = 0;
  std::vector<Copy> early_, sampled_;
  absl::flat_hash_map<Copier, uint32_t> numbers_ = {{{0, false}, 0}};
  std::vector<std::pair<Copier, CopiedPages>> copied_ = {{}};  // by number
  InferenceErrors inference_;
};

// Reads the parent's file, and settles the early pages of its children by what
// was resident in it when each was begun. Not thread safe; the ledgers must
// outlive it.
class ParentPages final : public ResidentReplay {
 public:
  ParentPages(const Header& parent, const std::vector<CopyLedger*>& children);
  void Finish() override;

 private:
  void OnTime(uint64_t time_us) override { SettleUntil(time_us); }
  void SettleUntil(uint64_t time_us);

  const uint64_t group_pages_;
  std::vector<std::pair<uint64_t, CopyLedger*>> children_;  // by their begin
  size_t next_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_UNSHARED_COPY_LEDGER_H_
