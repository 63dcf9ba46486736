#include <algorithm>
#include <utility>

#include "readers/heap_pages.h"
#include "readers/heap_places.h"
#include "readers/heap_table.h"
#include "readers/whole_number.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kOtherPlaces = "<other places>";
constexpr absl::string_view kSlack = "<allocator slack>";
constexpr absl::string_view kUnattributed = "unattributed";

HeapBy HeapByOf(ResidentBy by) {
  switch (by) {
    case ResidentBy::kFunction:
      return HeapBy::kFunction;
    case ResidentBy::kFile:
      return HeapBy::kFile;
    case ResidentBy::kThread:
      return HeapBy::kThread;
    case ResidentBy::kModule:
      return HeapBy::kModule;
    default:
      return HeapBy::kLine;
  }
}

struct Amount {
  ResidentPlace place;
  double bytes = 0;
  double heap_bytes = 0;  // of these
};

struct Amounts {
  std::vector<Amount> places;
  double before_bytes = 0;  // tracing
  double slack_bytes = 0;
};

// Of the places of owners, without kBeforeTracing.
Amounts AmountsOf(ResidentBy by, const ResidentReplay& pages,
                  const HeapReplay& heap) {
  const HeapCharges charges = ChargePages(pages.model(), heap.model());
  Amounts amounts;
  amounts.slack_bytes = charges.slack_bytes;
  amounts.before_bytes =
      static_cast<double>(pages.model().UnlistedBeforeBytes());
  absl::flat_hash_map<ResidentPlace, size_t> numbers;
  const auto amount_of = [&](const ResidentPlace& place) -> Amount& {
    const auto [found, is_new] = numbers.emplace(place, amounts.places.size());
    if (is_new) amounts.places.push_back({place});
    return amounts.places[found->second];
  };
  OwnerPlaces owners(by, &pages);
  for (uint32_t i = 1; i < charges.by_owner.size(); ++i) {
    if (charges.by_owner[i] <= 0) continue;
    if (pages.model().owners()[i].before_tracing()) {
      amounts.before_bytes += charges.by_owner[i];
      continue;
    }
    const uint32_t number = owners.NumberOf(i);
    amount_of(owners.places()[number]).bytes += charges.by_owner[i];
  }
  SourcePlaces sources(HeapByOf(by), &heap);
  for (uint32_t i = 0; i < charges.by_source.size(); ++i) {
    if (charges.by_source[i] <= 0) continue;
    const uint32_t number = sources.NumberOf(i);
    Amount& amount = amount_of(sources.places()[number]);
    amount.bytes += charges.by_source[i];
    amount.heap_bytes += charges.by_source[i];
  }
  return amounts;
}

class TableMaker {
 public:
  TableMaker(ResidentBy by, const ResidentModel& model)
      : lines_(by == ResidentBy::kLine || by == ResidentBy::kFunction),
        rss_bytes_(static_cast<double>(model.RssBytes())) {
    table_.headings = HeapPlaceHeadings(HeapByOf(by));
    table_.headings.insert(table_.headings.end(),
                           {{"resident_bytes", "resident", CellLook::kBytes},
                            {"heap_bytes", "heap", CellLook::kBytes},
                            {"share", "share", CellLook::kShare}});
  }
  void AddPlace(const Amount& amount) {
    std::vector<Cell> cells = {std::string(amount.place.file)};
    if (lines_) {
      cells.emplace_back();
      if (amount.place.line != 0) cells[1] = uint64_t{amount.place.line};
      cells.emplace_back(std::string(amount.place.function));
    }
    AddAmount(amount.bytes, WholeNumber(amount.heap_bytes), std::move(cells));
  }
  // `heap`: its heap_bytes.
  void AddOther(absl::string_view name, double bytes, Cell heap) {
    if (bytes == 0 && name != kUnattributed) return;
    std::vector<Cell> cells(lines_ ? 3 : 1);
    cells[0] = std::string(name);
    AddAmount(bytes, std::move(heap), std::move(cells));
  }
  Table Take() { return std::move(table_); }

 private:
  void AddAmount(double bytes, Cell heap, std::vector<Cell> cells) {
    cells.emplace_back(SignedNumber(bytes));
    cells.push_back(std::move(heap));
    cells.emplace_back(rss_bytes_ > 0 ? bytes / rss_bytes_ : 0.0);
    table_.rows.push_back(std::move(cells));
  }

  const bool lines_;
  const double rss_bytes_;
  Table table_;
};

// By thread and by module these are the outermost frames.
class TreeMaker {
 public:
  TreeMaker(ResidentBy by, const RunIndex* index)
      : has_roots_(by == ResidentBy::kThread || by == ResidentBy::kModule),
        tree_(has_roots_ ? ResidentBy::kLine : by, index) {}

  void Add(const ResidentPlace& root, uint32_t stack, double bytes) {
    const uint32_t node = has_roots_ ? tree_.Child(0, root) : 0;
    tree_.Add(tree_.NodeOf(node, stack), bytes, 0);
  }
  void AddNamed(absl::string_view name, double bytes) {
    ResidentPlace place;
    place.file = name;
    if (bytes > 0) tree_.Add(tree_.Child(0, place), bytes, 0);
  }
  PlaceTree Take() {
    tree_.SumUp();
    return std::move(tree_);
  }

 private:
  const bool has_roots_;
  PlaceTree tree_;
};

}  // namespace

Table HeapResidentTable(ResidentBy by, uint64_t limit,
                        const ResidentReplay& pages, const HeapReplay& heap) {
  Amounts amounts = AmountsOf(by, pages, heap);
  std::vector<Amount>& places = amounts.places;
  std::sort(places.begin(), places.end(), [](const Amount& a, const Amount& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.place < b.place;
  });
  TableMaker maker(by, pages.model());
  Amount others;
  for (size_t i = 0; i < places.size(); ++i) {
    if (limit == 0 || i < limit) {
      maker.AddPlace(places[i]);
      continue;
    }
    others.bytes += places[i].bytes;
    others.heap_bytes += places[i].heap_bytes;
  }
  maker.AddOther(kOtherPlaces, others.bytes, WholeNumber(others.heap_bytes));
  maker.AddOther(kSlack, amounts.slack_bytes, Cell());
  maker.AddOther(kBeforeTracing, amounts.before_bytes, Cell());
  maker.AddOther(kUnattributed,
                 static_cast<double>(pages.model().UnattributedBytes()),
                 Cell());
  return maker.Take();
}

PlaceTree HeapResidentTree(ResidentBy by, const ResidentReplay& pages,
                           const HeapReplay& heap) {
  const HeapCharges charges = ChargePages(pages.model(), heap.model());
  TreeMaker maker(by, &pages.index());
  double before = static_cast<double>(pages.model().UnlistedBeforeBytes());
  OwnerPlaces owners(by, &pages);
  for (uint32_t i = 1; i < charges.by_owner.size(); ++i) {
    const PageOwner& owner = pages.model().owners()[i];
    if (owner.before_tracing()) {
      before += charges.by_owner[i];
    } else if (charges.by_owner[i] > 0) {
      maker.Add(owners.places()[owners.NumberOf(i)], owner.stack,
                charges.by_owner[i]);
    }
  }
  SourcePlaces sources(HeapByOf(by), &heap);
  for (uint32_t i = 0; i < charges.by_source.size(); ++i) {
    if (charges.by_source[i] <= 0) continue;
    maker.Add(sources.places()[sources.NumberOf(i)],
              heap.model().sources()[i].key.stack, charges.by_source[i]);
  }
  maker.AddNamed(kSlack, charges.slack_bytes);
  maker.AddNamed(kBeforeTracing, before);
  return maker.Take();
}

}  // namespace pymemrun
