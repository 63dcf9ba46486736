#include "readers/unshared/unshared_table.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "readers/output/whole_number.h"
#include "readers/places/place_table.h"
#include "readers/resident/resident_table.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kCollection = "<garbage collection>";
constexpr absl::string_view kCollector = "gc", kWrite = "write";

// Of a place, or of several, in some of the processes.
struct Sum {
  Place place;
  bool collecting = false;
  uint64_t bytes = 0, pages = 0, inferred_bytes = 0, processes = 0;
  uint64_t first_us = ReplayVisitor::kEnd;
  double variance = 0;  // of bytes

  void Add(const UnsharedPages& process, const CopiedPages& copied) {
    const auto page_bytes = static_cast<double>(process.BytesOf(1));
    bytes += process.BytesOf(copied.pages);
    pages += copied.pages;
    inferred_bytes += process.BytesOf(copied.inferred_pages);
    first_us = std::min(first_us, copied.first_us);
    variance += copied.variance * page_bytes * page_bytes;
    ++processes;
  }
  void Add(const Sum& other) {
    bytes += other.bytes;
    pages += other.pages;
    inferred_bytes += other.inferred_bytes;
    first_us = std::min(first_us, other.first_us);
    variance += other.variance;
  }
  uint64_t ErrorBytes() const { return WholeNumber(std::sqrt(variance)); }
};

struct Sums {
  std::vector<Sum> places;  // the largest first
  Sum rest;                 // beyond the limit
};

Sums SumUp(absl::Span<const UnsharedPages> processes, uint64_t limit) {
  PlaceTable table;
  std::vector<size_t> index;  // by number of the place, two for each
  Sums sums;
  for (const UnsharedPages& process : processes) {
    for (const CopyPlace& place : process.places) {
      const size_t number = 2 * table.NumberOf(place.place) + place.collecting;
      if (number >= index.size()) index.resize(number + 1, SIZE_MAX);
      if (index[number] == SIZE_MAX) {
        index[number] = sums.places.size();
        sums.places.push_back({place.place, place.collecting});
      }
      sums.places[index[number]].Add(process, place.copied);
    }
  }
  std::sort(sums.places.begin(), sums.places.end(),
            [](const Sum& a, const Sum& b) {
              if (a.bytes != b.bytes) return a.bytes > b.bytes;
              return std::tie(a.place, a.collecting) <
                     std::tie(b.place, b.collecting);
            });
  if (limit == 0 || sums.places.size() <= limit) return sums;
  for (size_t i = limit; i < sums.places.size(); ++i) {
    sums.rest.Add(sums.places[i]);
  }
  sums.places.resize(limit);
  return sums;
}

bool Sampled(const std::vector<UnsharedPages>& processes) {
  return std::any_of(processes.begin(), processes.end(),
                     [](const UnsharedPages& process) {
                       return process.ledger->header().page_weight() > 1;
                     });
}

double ShareOf(uint64_t bytes, uint64_t all) {
  return all > 0 ? static_cast<double>(bytes) / static_cast<double>(all) : 0.0;
}

std::string Human(uint64_t bytes) {
  return HumanBytes(static_cast<double>(bytes));
}

std::string NameOf(const Sum& sum) {
  if (!sum.collecting) return std::string(sum.place.function);
  return absl::StrCat(kCollection, sum.place.function.empty() ? "" : " in ",
                      sum.place.function);
}

// All that was there at first, and what of it was un-shared, and by garbage
// collection.
struct Totals {
  uint64_t parent_bytes = 0;
  Sum copied, collected;
  bool knows_collecting = true;
  uint64_t lost = 0;

  explicit Totals(const std::vector<UnsharedPages>& processes) {
    for (const UnsharedPages& process : processes) {
      parent_bytes += process.BytesOf(process.ledger->parent_pages());
      copied.Add(process, process.copied);
      collected.Add(process, process.collected);
      knows_collecting &= process.ledger->knows_collecting();
      lost += process.ledger->lost();
    }
  }
};

// The columns behind a place's in both forms: what a sum has.
void AddSum(const Sum& sum, bool sampled, std::vector<Cell>* cells) {
  cells->emplace_back(sum.bytes);
  if (sampled) cells->emplace_back(sum.ErrorBytes());
}
void AddHeadings(bool sampled, std::vector<Table::Heading>* headings) {
  headings->push_back({"unshared_bytes", "un-shared", CellLook::kBytes});
  if (sampled) {
    headings->push_back({"error_bytes", "std error", CellLook::kBytes});
  }
}

Table PlacesForPeople(const std::vector<UnsharedPages>& processes,
                      uint64_t limit) {
  const bool sampled = Sampled(processes);
  const Sums sums = SumUp(processes, limit);
  const Totals totals(processes);
  Table table;
  table.headings = PlaceHeadings(GroupBy::kLine);
  AddHeadings(sampled, &table.headings);
  table.headings.insert(table.headings.end(),
                        {{"share", "share", CellLook::kShare},
                         {"processes", "processes"},
                         {"first", "first"}});
  const auto add = [&](std::vector<Cell> cells, const Sum& sum, Cell count) {
    AddSum(sum, sampled, &cells);
    cells.emplace_back(ShareOf(sum.bytes, totals.copied.bytes));
    cells.push_back(std::move(count));
    cells.emplace_back(HumanSeconds(sum.first_us));
    table.rows.push_back(std::move(cells));
  };
  for (const Sum& sum : sums.places) {
    std::vector<Cell> cells = PlaceCells(GroupBy::kLine, sum.place);
    cells[2] = NameOf(sum);
    add(std::move(cells), sum, sum.processes);
  }
  table.places = table.rows.size();
  if (sums.rest.bytes > 0) {
    add(NameCells(GroupBy::kLine, kOtherPlaces), sums.rest, {});
  }
  return table;
}

// What is known of why the place's pages were un-shared.
Cell CauseOf(const UnsharedPages& process, const Sum& sum) {
  if (sum.collecting) return std::string(kCollector);
  if (process.ledger->knows_collecting()) return std::string(kWrite);
  return {};
}

Table PlacesForMachines(const std::vector<UnsharedPages>& processes,
                        uint64_t limit) {
  const bool sampled = Sampled(processes);
  Table table;
  table.headings = PlaceHeadings(GroupBy::kLine);
  table.headings.push_back({"cause"});
  AddHeadings(sampled, &table.headings);
  table.headings.insert(table.headings.end(), {{"pages"},
                                               {"inferred_bytes"},
                                               {"first_s"},
                                               {"pid"},
                                               {"parent_bytes"},
                                               {"file_name"}});
  for (const UnsharedPages& process : processes) {
    const auto add = [&](std::vector<Cell> cells, const Sum& sum, Cell cause) {
      cells.push_back(std::move(cause));
      AddSum(sum, sampled, &cells);
      cells.insert(
          cells.end(),
          {sum.pages, sum.inferred_bytes,
           static_cast<double>(sum.first_us) * 1e-6,
           uint64_t{process.ledger->header().pid()},
           process.BytesOf(process.ledger->parent_pages()), process.file});
      table.rows.push_back(std::move(cells));
    };
    const Sums sums = SumUp({&process, 1}, limit);
    for (const Sum& sum : sums.places) {
      add(PlaceCells(GroupBy::kLine, sum.place), sum, CauseOf(process, sum));
    }
    if (sums.rest.bytes > 0) {
      add(NameCells(GroupBy::kLine, kOtherPlaces), sums.rest, {});
    }
  }
  table.places = table.rows.size();
  return table;
}

// A process, for people.
std::vector<Cell> CellsOf(const UnsharedPages& process, bool sampled) {
  const CopyLedger& ledger = *process.ledger;
  const uint64_t parent_bytes = process.BytesOf(ledger.parent_pages());
  Sum sum;
  sum.Add(process, process.copied);
  std::vector<Cell> cells = {uint64_t{ledger.header().pid()}, parent_bytes};
  AddSum(sum, sampled, &cells);
  cells.emplace_back(ShareOf(sum.bytes, parent_bytes));
  cells.emplace_back();
  if (ledger.knows_collecting()) {
    cells.back() = process.BytesOf(process.collected.pages);
  }
  const Sums most = SumUp({&process, 1}, 1);
  cells.emplace_back();
  if (!most.places.empty()) {
    Place place = most.places[0].place;
    const std::string name = NameOf(most.places[0]);
    place.function = name;
    cells.back() = LabelOf(place);
  }
  return cells;
}

// The `limit` processes (0: all) with most un-shared, in their order.
std::vector<const UnsharedPages*> MostCopied(
    const std::vector<UnsharedPages>& processes, uint64_t limit) {
  std::vector<const UnsharedPages*> most;
  for (const UnsharedPages& process : processes) most.push_back(&process);
  if (limit == 0 || most.size() <= limit) return most;
  std::stable_sort(most.begin(), most.end(),
                   [](const UnsharedPages* a, const UnsharedPages* b) {
                     return a->copied.pages > b->copied.pages;
                   });
  most.resize(limit);
  std::sort(most.begin(), most.end());  // they stand in one vector
  return most;
}

}  // namespace

UnsharedPages::UnsharedPages(const CopyLedger* from,
                             const std::string& file_name)
    : ledger(from), file(file_name), places(from->Places()) {
  for (const CopyPlace& place : places) {
    copied.Add(place.copied);
    if (place.collecting) collected.Add(place.copied);
  }
}

Table UnsharedProcesses(const std::vector<UnsharedPages>& processes,
                        uint64_t limit) {
  const bool sampled = Sampled(processes);
  Table table;
  table.headings = {{"pid", "process"},
                    {"parent_bytes", "at first", CellLook::kBytes}};
  AddHeadings(sampled, &table.headings);
  table.headings.insert(table.headings.end(),
                        {{"share", "share", CellLook::kShare},
                         {"gc_bytes", "by gc", CellLook::kBytes},
                         {"place", "most at", CellLook::kName}});
  for (const UnsharedPages* process : MostCopied(processes, limit)) {
    table.rows.push_back(CellsOf(*process, sampled));
  }
  table.places = table.rows.size();
  return table;
}

Table UnsharedPlaces(const std::vector<UnsharedPages>& processes,
                     uint64_t limit, TableFormat format) {
  return format == TableFormat::kText ? PlacesForPeople(processes, limit)
                                      : PlacesForMachines(processes, limit);
}

std::string UnsharedHeading(const std::vector<UnsharedPages>& processes) {
  const Totals totals(processes);
  std::string text = absl::StrCat(
      Counted(processes.size(), "forked process", "forked processes"),
      " began with ", Human(totals.parent_bytes),
      " of parents' memory; un-shared since: ", Human(totals.copied.bytes),
      "\n");
  if (Sampled(processes)) {
    absl::StrAppend(&text,
                    "estimated: ", SampledText(processes[0].ledger->header()),
                    "; one standard error stands beside the bytes\n");
  }
  if (totals.lost > 0) {
    absl::StrAppend(&text, Counted(totals.lost, "page event"), " lost\n");
  }
  return text;
}

std::string UnsharedNotes(const std::vector<UnsharedPages>& processes) {
  const Totals totals(processes);
  if (!totals.knows_collecting) {
    return "What garbage collection un-shared is not known of this "
           "interpreter.\n";
  }
  const Sum& collected = totals.collected;
  if (collected.bytes == 0) {
    return "Garbage collection un-shared nothing. gc.freeze() before the fork "
           "would have saved nothing.\n";
  }
  return absl::StrCat(
      "gc.freeze() before the fork would have saved at most ",
      Human(collected.bytes),
      Sampled(processes)
          ? absl::StrCat(" (std error ", Human(collected.ErrorBytes()), ")")
          : "",
      ": what garbage collection was the first to write to. Later writes to "
      "the same pages would have un-shared them too, and are not seen.\n");
}

}  // namespace pymemrun
