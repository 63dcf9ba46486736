#include "readers/resident_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/report_text.h"
#include "format/terminal_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kOtherPlaces = "<other places>";
constexpr absl::string_view kUnattributed = "unattributed";

struct Amount {
  ResidentPlace place;
  uint64_t pages = 0;
  uint64_t inferred_pages = 0;
  uint64_t unowned_pages = 0;  // by mapping

  void Add(const Amount& other) {
    pages += other.pages;
    inferred_pages += other.inferred_pages;
    unowned_pages += other.unowned_pages;
  }
};

struct Amounts {
  std::vector<Amount> places;
  Amount before;  // tracing
};

Amounts ByOwner(ResidentBy by, const ResidentReplay& replay) {
  const ResidentModel& model = replay.model();
  OwnerPlaces places(by, &replay);
  std::vector<Amount> amounts(1);
  for (uint32_t owner = 1; owner < model.owners().size(); ++owner) {
    const uint64_t pages = model.PagesOf(owner);
    if (pages == 0) continue;
    const uint32_t number = places.NumberOf(owner);
    if (number >= amounts.size()) amounts.resize(number + 1);
    amounts[number].pages += pages;
    if (model.owners()[owner].inferred) {
      amounts[number].inferred_pages += pages;
    }
  }
  for (size_t i = 0; i < amounts.size(); ++i) {
    amounts[i].place = places.places()[i];
  }
  const Amount before = amounts[0];
  amounts.erase(amounts.begin());
  return {std::move(amounts), before};
}

Amounts ByMapping(const ResidentReplay& replay) {
  const ResidentModel& model = replay.model();
  absl::flat_hash_map<absl::string_view, Amount> found;
  const auto amount_of = [&](uint32_t mapping) -> Amount& {
    const absl::string_view name = ShownMapping(replay.index(), mapping);
    Amount& amount = found[name];
    amount.place.file = name;
    return amount;
  };
  RangeCursor ranges(model.ranges()), later(replay.later_ranges());
  model.pages().ForEach([&](uint64_t page, const PageMap::Page& there) {
    const ResidentRange* range = ranges.Find(page);
    const ResidentRange* later_range = later.Find(page);
    if (range == nullptr) range = later_range;
    const PageOwner& owner = model.owners()[there.owner];
    uint32_t mapping = range != nullptr ? range->mapping : 0;
    if (owner.before_tracing()) mapping = owner.mapping;
    Amount& amount = amount_of(mapping);
    amount.pages += owner.weight;
    if (owner.inferred) amount.inferred_pages += owner.weight;
  });
  for (const auto& [mapping, pages] : model.Unowned()) {
    amount_of(mapping).unowned_pages += pages;
  }
  Amounts amounts;
  for (auto& [name, amount] : found) amounts.places.push_back(amount);
  return amounts;
}

std::vector<Table::Heading> Headings(ResidentBy by) {
  std::vector<Table::Heading> headings;
  switch (by) {
    case ResidentBy::kLine:
    case ResidentBy::kFunction:
      headings = {{"file", "file", CellLook::kName},
                  {"line", by == ResidentBy::kLine ? "line" : "first line"},
                  {"function", "Python function", CellLook::kName}};
      break;
    case ResidentBy::kFile:
      headings = {{"file", "file", CellLook::kName}};
      break;
    case ResidentBy::kThread:
      headings = {{"thread", "thread", CellLook::kName}};
      break;
    case ResidentBy::kModule:
      headings = {{"module", "module", CellLook::kName}};
      break;
    case ResidentBy::kMapping:
      headings = {{"mapping", "mapping", CellLook::kName}};
      break;
  }
  headings.insert(headings.end(),
                  {{"resident_bytes", "resident", CellLook::kBytes},
                   {"pages", "pages"},
                   {"share", "share", CellLook::kShare},
                   {"inferred_bytes", "inferred", CellLook::kBytes}});
  if (by == ResidentBy::kMapping) {
    headings.push_back({"unowned_bytes", "no owner", CellLook::kBytes});
  }
  return headings;
}

class TableMaker {
 public:
  TableMaker(ResidentBy by, const ResidentModel& model)
      : by_(by), model_(model) {
    table_.headings = Headings(by);
  }

  void AddPlace(const Amount& amount) {
    std::vector<Cell> cells = {std::string(amount.place.file)};
    if (HasLines()) {
      cells.emplace_back();
      if (amount.place.line != 0) cells[1] = uint64_t{amount.place.line};
      cells.emplace_back(std::string(amount.place.function));
    }
    AddAmount(amount, std::move(cells));
  }
  void AddOther(absl::string_view name, const Amount& amount) {
    if (amount.pages != 0 || amount.unowned_pages != 0) {
      AddAmount(amount, NamedCells(name));
    }
  }
  void AddUnattributed() {
    const int64_t bytes = model_.UnattributedBytes();
    std::vector<Cell> cells = NamedCells(kUnattributed);
    cells.emplace_back(bytes);
    cells.emplace_back(bytes / static_cast<int64_t>(model_.page_bytes()));
    cells.push_back(Share(static_cast<double>(bytes)));
    cells.resize(table_.headings.size());
    table_.rows.push_back(std::move(cells));
  }
  Table Take() { return std::move(table_); }

 private:
  bool HasLines() const {
    return by_ == ResidentBy::kLine || by_ == ResidentBy::kFunction;
  }
  std::vector<Cell> NamedCells(absl::string_view name) const {
    std::vector<Cell> cells(HasLines() ? 3 : 1);
    cells[0] = std::string(name);
    return cells;
  }
  Cell Share(double bytes) const {
    const auto rss = static_cast<double>(model_.RssBytes());
    return rss > 0 ? bytes / rss : 0.0;
  }
  void AddAmount(const Amount& amount, std::vector<Cell> cells) {
    const uint64_t bytes = amount.pages * model_.page_bytes();
    cells.emplace_back(bytes);
    cells.emplace_back(amount.pages);
    cells.push_back(Share(static_cast<double>(bytes)));
    cells.emplace_back(amount.inferred_pages * model_.page_bytes());
    if (by_ == ResidentBy::kMapping) {
      cells.emplace_back(amount.unowned_pages * model_.page_bytes());
    }
    table_.rows.push_back(std::move(cells));
  }

  const ResidentBy by_;
  const ResidentModel& model_;
  Table table_;
};

// "1.2 MiB of libc.so.6, ...": the largest few.
std::string UnownedText(const ResidentReplay& replay) {
  constexpr size_t kMost = 3;
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const auto& [mapping, pages] : replay.model().Unowned()) {
    if (pages > 0) order.emplace_back(pages, mapping);
  }
  std::sort(order.rbegin(), order.rend());
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kMost); ++i) {
    absl::StrAppend(
        &text, text.empty() ? "" : ", ",
        HumanBytes(static_cast<double>(order[i].first) *
                   static_cast<double>(replay.model().page_bytes())),
        " of ",
        ShortTerminalText(ShownMapping(replay.index(), order[i].second), 60,
                          /*keep_end=*/true));
  }
  return text;
}

}  // namespace

Table ResidentTable(ResidentBy by, uint64_t limit,
                    const ResidentReplay& replay) {
  Amounts amounts =
      by == ResidentBy::kMapping ? ByMapping(replay) : ByOwner(by, replay);
  std::vector<Amount>& places = amounts.places;
  places.erase(std::remove_if(places.begin(), places.end(),
                              [](const Amount& amount) {
                                return amount.pages == 0 &&
                                       amount.unowned_pages == 0;
                              }),
               places.end());
  std::sort(places.begin(), places.end(), [](const Amount& a, const Amount& b) {
    return a.pages != b.pages ? a.pages > b.pages : a.place < b.place;
  });
  TableMaker maker(by, replay.model());
  Amount others;
  for (size_t i = 0; i < places.size(); ++i) {
    if (limit == 0 || i < limit) {
      maker.AddPlace(places[i]);
    } else {
      others.Add(places[i]);
    }
  }
  amounts.before.pages +=
      replay.model().UnlistedBeforeBytes() / replay.model().page_bytes();
  maker.AddOther(kOtherPlaces, others);
  maker.AddOther(kBeforeTracing, amounts.before);
  maker.AddUnattributed();
  return maker.Take();
}

std::string ResidentHeading(const ResidentReplay& replay, uint64_t time_us,
                            bool is_peak) {
  const ResidentModel& model = replay.model();
  std::string text = absl::StrCat(
      "RSS ", HumanBytes(static_cast<double>(model.RssBytes())), " at ",
      HumanSeconds(time_us), is_peak ? " (peak)" : "",
      "; bytes are first touch: they stand where a page was first touched\n");
  const uint32_t period = replay.header().page_period();
  if (period > 1) {
    absl::StrAppend(&text, "inferred: of pages that came fast one in ",
                    Grouped(period),
                    " has the stack of its moment, the others that of their "
                    "thread's next one\n");
  }
  if (model.sampled()) {
    absl::StrAppend(&text, "estimated: not every page fault was recorded\n");
  }
  if (replay.lost_samples() > 0) {
    absl::StrAppend(&text, Counted(replay.lost_samples(), "page event"),
                    " lost before that\n");
  }
  if (model.not_kept() > 0) {
    absl::StrAppend(&text, Counted(model.not_kept(), "page"),
                    " more than can be kept: they are unattributed\n");
  }
  const std::string unowned = UnownedText(replay);
  if (!unowned.empty()) {
    absl::StrAppend(&text, "resident without an owner: ", unowned, "\n");
  }
  return text;
}

}  // namespace pymemrun
