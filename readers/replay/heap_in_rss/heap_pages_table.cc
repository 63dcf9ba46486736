#include <algorithm>
#include <functional>
#include <utility>

#include "readers/output/whole_number.h"
#include "readers/places/place_table.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/heap_in_rss/heap_estimate.h"
#include "readers/replay/heap_in_rss/heap_pages.h"
#include "readers/replay/page_errors/sample_errors.h"
#include "readers/replay/resident/page_mappings.h"
#include "readers/replay/resident/resident_replay.h"
#include "readers/replay/resident/resident_table.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kSlack = "<allocator slack>";

// What is charged to a place, in bytes of RSS.
struct PageAmount {
  Place place;
  double bytes = 0;
  double heap_bytes = 0;  // part of bytes
  double variance = 0;    // of bytes, if pages were sampled
  bool has_heap = true;   // it can have blocks

  bool IsNothing() const { return SignedNumber(bytes) == 0; }
  void Add(const PageAmount& other) {
    bytes += other.bytes;
    heap_bytes += other.heap_bytes;
    variance += other.variance;
  }
};

// All that RSS consists of, except memory without an owner.
struct PageAmounts {
  std::vector<PageAmount> places;
  PageAmount other_threads;
  double before_bytes = 0;   // tracing
  double tracing_bytes = 0;  // live blocks of tracing itself
  double slack_bytes = 0;
  double slack_variance = 0;
  double variance = 0;  // of all
};

// With scans of sampled blocks only pages of pools and of files are charged to
// owners.
Origin OriginOf(const PageOwner& owner, const ResidentReplay& pages,
                const HeapReplay& heap) {
  if (!owner.by_scan) return pages.OriginOf(owner);
  const PageKind kind = KindOf(pages.index().MappingName(owner.mapping));
  if (kind == PageKind::kFile) return pages.FileOriginOf(owner);
  return heap.sampled() ? owner.likely_pool_origin() : pages.OriginOf(owner);
}

// Numbers the places of owners and sources together.
class PlaceNumbers {
 public:
  // The number of threads that are not kept.
  static constexpr size_t kOther = SIZE_MAX;

  PlaceNumbers(GroupBy by, const ResidentReplay& pages, const HeapReplay& heap,
               ThreadFilter* threads)
      : threads_(threads),
        pages_(pages),
        heap_(heap),
        owners_(by, &pages.index(), &table_),
        sources_(by, &heap.index(), &table_) {}

  size_t OfOwner(uint32_t owner) {
    return NumberOf(owner,
                    OriginOf(pages_.model().owners()[owner], pages_, heap_),
                    &owners_);
  }
  size_t OfSource(uint32_t source) {
    return NumberOf(source,
                    OriginOf(heap_.model().sources()[source].key, heap_),
                    &sources_);
  }
  // By number.
  const std::deque<Place>& places() const { return table_.places(); }

 private:
  size_t NumberOf(uint32_t id, const Origin& origin, OriginNumbers* numbers) {
    const bool is_kept = threads_ == nullptr || threads_->Keeps(origin.thread);
    return is_kept ? numbers->NumberOf(id, origin) : kOther;
  }

  ThreadFilter* const threads_;
  const ResidentReplay& pages_;
  const HeapReplay& heap_;
  PlaceTable table_;
  OriginNumbers owners_, sources_;
};

// Collects the errors of charges to sampled pages.
class ChargeErrors {
 public:
  ChargeErrors(uint64_t page_bytes, PlaceNumbers* numbers)
      : numbers_(*numbers), errors_(page_bytes) {}

  // Each charge counts twice: for its place, and for the sum of all.
  void Add(const PageCharge& charge) {
    if (charge.weight <= 1) return;
    size_t number = kSlackNumber;
    if (charge.to == PageCharge::To::kOwner) {
      number = SumOf(numbers_.OfOwner(charge.id));
    } else if (charge.to == PageCharge::To::kSource) {
      number = SumOf(numbers_.OfSource(charge.id));
    }
    errors_.Add(number, charge.page, charge.weight, charge.bytes);
    errors_.Add(kAll, charge.page, charge.weight, charge.bytes);
  }
  void SetVariances(PageAmounts* amounts) const {
    amounts->variance = errors_.VarianceOf(kAll);
    amounts->slack_variance = errors_.VarianceOf(kSlackNumber);
    for (size_t i = 0; i < amounts->places.size(); ++i) {
      amounts->places[i].variance = errors_.VarianceOf(kFirstPlace + i);
    }
    amounts->other_threads.variance = errors_.VarianceOf(kOthers);
  }

 private:
  static size_t SumOf(size_t place) {
    return place == PlaceNumbers::kOther ? kOthers : kFirstPlace + place;
  }

  static constexpr size_t kAll = 0, kSlackNumber = 1, kOthers = 2,
                          kFirstPlace = 3;
  PlaceNumbers& numbers_;
  SampleErrors errors_;
};

// If every block is known, pages are charged one by one. Samples only allow an
// estimate for anonymous memory as a whole.
HeapCharges ChargesOf(const ResidentReplay& pages, const HeapReplay& heap,
                      const std::function<void(const PageCharge&)>& visit) {
  return heap.sampled() ? EstimateCharges(pages, heap)
                        : ChargePages(pages.model(), heap.model(), visit);
}

// Sums up charges by place.
class AmountMaker {
 public:
  AmountMaker(GroupBy by, const ResidentReplay& pages, const HeapReplay& heap,
              ThreadFilter* threads)
      : pages_(pages.model()),
        heap_(heap.model()),
        numbers_(by, pages, heap, threads),
        errors_(pages_.page_bytes(), &numbers_) {
    // Exact pages have no errors: they need not be visited.
    std::function<void(const PageCharge&)> visit;
    if (pages_.sampled()) {
      visit = [this](const PageCharge& charge) { errors_.Add(charge); };
    }
    const HeapCharges charges = ChargesOf(pages, heap, visit);
    AddOwners(charges);
    AddSources(charges);
    errors_.SetVariances(&amounts_);
    AddVariances(charges);
  }
  PageAmounts Take() { return std::move(amounts_); }

 private:
  PageAmount& At(size_t number) {
    if (number == PlaceNumbers::kOther) return amounts_.other_threads;
    return RowOfPlace(number, numbers_.places(), &amounts_.places);
  }
  void AddOwners(const HeapCharges& charges) {
    amounts_.slack_bytes = charges.slack_bytes;
    amounts_.before_bytes = static_cast<double>(pages_.UnlistedBeforeBytes());
    for (uint32_t i = 1; i < charges.by_owner.size(); ++i) {
      if (charges.by_owner[i] <= 0) continue;
      // Pages from before tracing are a row of their own.
      if (pages_.owners()[i].before_tracing()) {
        amounts_.before_bytes += charges.by_owner[i];
      } else {
        At(numbers_.OfOwner(i)).bytes += charges.by_owner[i];
      }
    }
  }
  void AddSources(const HeapCharges& charges) {
    for (uint32_t i = 0; i < charges.by_source.size(); ++i) {
      if (charges.by_source[i] <= 0) continue;
      if (heap_.sources()[i].tracing) {
        amounts_.tracing_bytes += charges.by_source[i];
        continue;
      }
      PageAmount& of = At(numbers_.OfSource(i));
      of.bytes += charges.by_source[i];
      of.heap_bytes += charges.by_source[i];
    }
  }
  // Adds the variances of sampled blocks.
  void AddVariances(const HeapCharges& charges) {
    for (uint32_t i = 0; i < charges.variance.size(); ++i) {
      if (charges.by_source[i] <= 0) continue;
      if (heap_.sources()[i].tracing) continue;
      At(numbers_.OfSource(i)).variance += charges.variance[i];
      // What a place has more, slack has less: the same variance.
      amounts_.slack_variance += charges.variance[i];
    }
  }

  const ResidentModel& pages_;
  const HeapModel& heap_;
  PlaceNumbers numbers_;
  ChargeErrors errors_;
  PageAmounts amounts_;  // its places without kBeforeTracing
};

TableColumns<PageAmount> ColumnsOf(double rss_bytes, bool with_errors) {
  TableColumns<PageAmount> columns;
  columns.AddBytes("resident_bytes", "resident",
                   [](const auto& of) { return SignedNumber(of.bytes); });
  columns.AddBytes("heap_bytes", "heap", [](const auto& of) {
    return of.has_heap ? Cell(WholeNumber(of.heap_bytes)) : Cell();
  });
  columns.AddShare(rss_bytes, [](const auto& of) { return of.bytes; });
  if (with_errors) {
    columns.AddError("error_bytes", "std error",
                     [](const auto& of) { return of.variance; });
  }
  return columns;
}

}  // namespace

// Rows without blocks have no cell in the heap's column: 0 would claim that it
// was measured.
Table HeapResidentTable(GroupBy by, uint64_t limit, const ResidentReplay& pages,
                        const HeapReplay& heap, ThreadFilter* threads) {
  PageAmounts amounts = AmountMaker(by, pages, heap, threads).Take();
  const PageAmount others = KeepTop(
      limit, [](const PageAmount& amount) { return amount.bytes; },
      &amounts.places);
  PlaceTableMaker<PageAmount> maker(
      by, ColumnsOf(static_cast<double>(pages.model().RssBytes()),
                    pages.model().sampled() || heap.sampled()));
  maker.AddPlaces(amounts.places);
  const auto without_heap = [](double bytes, double variance) {
    return PageAmount{{}, bytes, 0, variance, /*has_heap=*/false};
  };
  maker.AddRest(kOtherPlaces, others);
  maker.AddRest(kOtherThreads, amounts.other_threads);
  maker.AddRest(kSlack,
                without_heap(amounts.slack_bytes, amounts.slack_variance));
  // The tracer's own pages are among those from before tracing.
  const auto own = static_cast<double>(
      pages.TracingBytesOf(static_cast<uint64_t>(amounts.before_bytes)));
  maker.AddRest(kBeforeTracing, without_heap(amounts.before_bytes - own, 0));
  maker.AddRest(kTracingItself, without_heap(own + amounts.tracing_bytes, 0));
  maker.AddNamed(
      kUnattributed,
      without_heap(static_cast<double>(pages.model().UnattributedBytes()),
                   amounts.variance));
  return maker.Take();
}

PlaceTree HeapResidentTree(GroupBy by, const ResidentReplay& pages,
                           const HeapReplay& heap, ThreadFilter* threads) {
  const HeapCharges charges = ChargesOf(pages, heap, nullptr);
  PlaceTree tree = EmptyResidentTree(by, pages);
  const auto add = [&tree, threads](const Origin& origin, double bytes) {
    if (bytes <= 0) return;
    if (threads != nullptr && !threads->Keeps(origin.thread)) {
      tree.AddNamed(kOtherThreads, bytes, 0);
    } else {
      tree.Add(tree.NodeOf(origin), bytes, 0);
    }
  };
  double before = static_cast<double>(pages.model().UnlistedBeforeBytes());
  for (uint32_t i = 1; i < charges.by_owner.size(); ++i) {
    const PageOwner& owner = pages.model().owners()[i];
    if (owner.before_tracing()) {
      before += charges.by_owner[i];
    } else {
      add(OriginOf(owner, pages, heap), charges.by_owner[i]);
    }
  }
  for (uint32_t i = 0; i < charges.by_source.size(); ++i) {
    add(OriginOf(heap.model().sources()[i].key, heap), charges.by_source[i]);
  }
  tree.AddNamed(kSlack, charges.slack_bytes, 0);
  tree.AddNamed(kBeforeTracing, before, 0);
  tree.SumUp();
  return tree;
}

}  // namespace pymemrun
