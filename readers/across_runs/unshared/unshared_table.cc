#include "readers/across_runs/unshared/unshared_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "readers/output/cells.h"
#include "readers/output/whole_number.h"
#include "readers/places/place_table.h"
#include "readers/places/table_view.h"
#include "readers/replay/resident/resident_table.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kCollection = "<garbage collection>";
constexpr absl::string_view kCollector = "gc", kWrite = "write";

// Sums of a place, or of several, over some processes.
struct Sum {
  CopyingPlace place;
  const UnsharedPages* process = nullptr;  // the latest one
  uint64_t bytes = 0, pages = 0, inferred_bytes = 0;
  uint64_t processes = 0;  // 0: these are several places
  uint64_t first_us = ReplayVisitor::kEnd;
  // In bytes: of all that the processes have, and of this place's part of it.
  double variance = 0, place_variance = 0;

  void Add(const UnsharedPages& of, const CopiedPages& copied) {
    // Variances come in squared pages.
    const auto square = static_cast<double>(of.BytesOf(1) * of.BytesOf(1));
    process = &of;
    bytes += of.BytesOf(copied.pages);
    pages += copied.pages;
    inferred_bytes += of.BytesOf(copied.inferred_pages);
    first_us = std::min(first_us, copied.first_us);
    variance += copied.variance * square;
    place_variance += (copied.variance + copied.inference_variance) * square;
    ++processes;
  }
  void Add(const Sum& other) {
    process = other.process;
    bytes += other.bytes;
    pages += other.pages;
    inferred_bytes += other.inferred_bytes;
    first_us = std::min(first_us, other.first_us);
    variance += other.variance;
    place_variance += other.place_variance;
  }
  bool IsNothing() const { return bytes == 0; }
};

struct Sums {
  std::vector<Sum> places;  // the largest first
  Sum rest;                 // beyond the limit
};

// Adds up equal places of all processes. Names from different files compare by
// text, so forks of one program share their rows.
Sums SumUp(absl::Span<const UnsharedPages> processes, uint64_t limit) {
  absl::flat_hash_map<CopyingPlace, Sum> by_place;
  for (const UnsharedPages& process : processes) {
    for (const CopyPlace& place : process.places) {
      Sum& sum = by_place[place.place];
      sum.place = place.place;
      sum.Add(process, place.copied);
    }
  }
  Sums sums;
  for (const auto& [key, sum] : by_place) sums.places.push_back(sum);
  sums.rest = KeepTop(
      limit, [](const Sum& sum) { return sum.bytes; }, &sums.places);
  return sums;
}

bool Sampled(const std::vector<UnsharedPages>& processes) {
  return absl::c_any_of(processes, [](const UnsharedPages& process) {
    return process.ledger->header().page_weight() > 1;
  });
}
// Whether a place's pages are estimated, though all of them may be known.
bool Estimated(const std::vector<UnsharedPages>& processes) {
  return Sampled(processes) ||
         absl::c_any_of(processes, [](const UnsharedPages& process) {
           return process.ledger->infers();
         });
}

std::string Human(uint64_t bytes) {
  return HumanBytes(static_cast<double>(bytes));
}

std::string Collecting(absl::string_view name) {
  return absl::StrCat(kCollection, name.empty() ? "" : " in ", name);
}
// The function, for lines and functions; otherwise the only name.
std::string NameOf(const CopyingPlace& place, GroupBy by) {
  const absl::string_view name = HasLines(by) ? place.function : place.file;
  return place.collecting ? Collecting(name) : std::string(name);
}

// Bytes shared at first, those copied since, and those copied by garbage
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

using SumColumns = TableColumns<Sum>;

void AddUnshared(bool with_error, double Sum::*variance, SumColumns* columns) {
  columns->AddBytes("unshared_bytes", "un-shared",
                    [](const Sum& of) { return of.bytes; });
  if (!with_error) return;
  columns->AddError("error_bytes", "std error",
                    [variance](const Sum& of) { return of.*variance; });
}
void AddUnsharedOfPlaces(const std::vector<UnsharedPages>& processes,
                         SumColumns* columns) {
  AddUnshared(Estimated(processes), &Sum::place_variance, columns);
}
uint64_t PidOf(const Sum& of) { return of.process->ledger->header().pid(); }
uint64_t ParentBytesOf(const Sum& of) {
  return of.process->BytesOf(of.process->ledger->parent_pages());
}

// A row for each place in all processes. The name of a collection takes the
// column of the function, or the only one.
Table PlacesForPeople(const std::vector<UnsharedPages>& processes,
                      uint64_t limit) {
  const GroupBy by = processes[0].by;
  const Totals totals(processes);
  SumColumns columns;
  AddUnsharedOfPlaces(processes, &columns);
  columns.AddShare(static_cast<double>(totals.copied.bytes),
                   [](const Sum& of) { return static_cast<double>(of.bytes); });
  columns.Add("processes", "processes", [](const Sum& of) {
    return of.processes == 0 ? Cell() : Cell(of.processes);
  });
  columns.Add("first", "first",
              [](const Sum& of) { return HumanSeconds(of.first_us); });
  PlaceTableMaker<Sum> maker(by, columns);
  const Sums sums = SumUp(processes, limit);
  for (const Sum& sum : sums.places) {
    std::vector<Cell> cells = PlaceCells(by, sum.place);
    cells[HasLines(by) ? 2 : 0] = NameOf(sum.place, by);
    maker.Add(std::move(cells), sum);
  }
  maker.EndPlaces();
  maker.AddRest(kOtherPlaces, sums.rest);
  return maker.Take();
}

// Why the place's pages were copied, if it is known.
Cell CauseOf(const Sum& sum) {
  const bool is_known = sum.process->ledger->knows_collecting();
  if (sum.place.collecting) return std::string(kCollector);
  return is_known && sum.processes > 0 ? Cell(std::string(kWrite)) : Cell();
}

Table PlacesForMachines(const std::vector<UnsharedPages>& processes,
                        uint64_t limit) {
  SumColumns columns;
  columns.Add("cause", CauseOf);
  AddUnsharedOfPlaces(processes, &columns);
  columns.Add("pages", [](const Sum& of) { return of.pages; });
  columns.Add("inferred_bytes",
              [](const Sum& of) { return of.inferred_bytes; });
  columns.Add("first_s",
              [](const Sum& of) { return SecondsOfUs(of.first_us); });
  columns.Add("pid", PidOf);
  columns.Add("parent_bytes", ParentBytesOf);
  columns.Add("file_name", [](const Sum& of) { return of.process->file; });
  PlaceTableMaker<Sum> maker(processes[0].by, columns);
  for (const UnsharedPages& process : processes) {
    // A process is a list of one, so each place has a row for each process.
    const Sums sums = SumUp({&process, 1}, limit);
    maker.AddPlaces(sums.places);
    maker.AddRest(kOtherPlaces, sums.rest);
  }
  return maker.Take();
}

// The place that copied most.
Cell TopPlaceOf(const UnsharedPages& process) {
  const Sums most = SumUp({&process, 1}, 1);
  if (most.places.empty()) return {};
  Place place = most.places[0].place;
  const std::string name = NameOf(most.places[0].place, process.by);
  (HasLines(process.by) ? place.function : place.file) = name;
  return LabelOf(place);
}

// The `limit` processes (0: all) that copied most, in their order.
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
  std::sort(most.begin(), most.end());  // they are in one vector
  return most;
}

}  // namespace

UnsharedPages::UnsharedPages(const CopyLedger* from,
                             const std::string& file_name, GroupBy group_by)
    : ledger(from),
      file(file_name),
      by(group_by),
      places(from->Places(group_by)) {
  for (const CopyPlace& place : places) {
    copied.Add(place.copied);
    if (place.place.collecting) collected.Add(place.copied);
  }
}

// A row's sum is over all places of a process. So its error is that of sampling
// alone: what another place may have copied is in the sum, too.
Table UnsharedProcesses(const std::vector<UnsharedPages>& processes,
                        uint64_t limit) {
  SumColumns columns;
  columns.Add("pid", "process", PidOf);
  columns.AddBytes("parent_bytes", "at first", ParentBytesOf);
  AddUnshared(Sampled(processes), &Sum::variance, &columns);
  columns.Add("share", "share", CellLook::kShare, [](const Sum& of) {
    return ShareOf(of.bytes, ParentBytesOf(of));
  });
  columns.AddBytes("gc_bytes", "by gc", [](const Sum& of) {
    const UnsharedPages& process = *of.process;
    return process.ledger->knows_collecting()
               ? Cell(process.BytesOf(process.collected.pages))
               : Cell();
  });
  columns.Add("place", "most at", CellLook::kName,
              [](const Sum& of) { return TopPlaceOf(*of.process); });
  std::vector<Sum> rows;
  for (const UnsharedPages* process : MostCopied(processes, limit)) {
    rows.emplace_back().Add(*process, process->copied);
  }
  return columns.Make(rows);
}

Table UnsharedPlaces(const std::vector<UnsharedPages>& processes,
                     uint64_t limit, TableFormat format) {
  return format == TableFormat::kText ? PlacesForPeople(processes, limit)
                                      : PlacesForMachines(processes, limit);
}

// TableView adds up numbers, which is wrong for some columns. The first time is
// the least of the folded rows. What differs among them becomes empty.
void FoldUnshared(uint64_t limit, Table* places) {
  if (limit == 0 || limit >= places->places) return;
  const auto begin = places->rows.begin() + static_cast<ptrdiff_t>(limit);
  const std::vector<std::vector<Cell>> others(
      begin, places->rows.begin() + static_cast<ptrdiff_t>(places->places));
  // Never fails: it neither sorts nor chooses.
  (void)TableView().Apply(limit, /*folds=*/true, places);
  std::vector<Cell>& rest = places->rows[limit];
  for (size_t i = 0; i < places->headings.size(); ++i) {
    const std::string& name = places->headings[i].name;
    const auto is_before = [i](const auto& a, const auto& b) {
      return std::get<double>(a[i]) < std::get<double>(b[i]);
    };
    const auto is_other = [&](const auto& row) {
      return row[i] != others[0][i];
    };
    if (name == "first_s") {
      rest[i] = (*absl::c_min_element(others, is_before))[i];
    } else if (name == "processes" || name == "cause" || name == "first") {
      rest[i] = Cell();
    } else if (name == "pid" || name == "parent_bytes" || name == "file_name") {
      rest[i] = absl::c_any_of(others, is_other) ? Cell() : others[0][i];
    }
  }
}

std::string UnsharedHeading(const std::vector<UnsharedPages>& processes) {
  const Totals totals(processes);
  std::string text = absl::StrCat(
      Counted(processes.size(), "forked process", "forked processes"),
      " began with ", Human(totals.parent_bytes),
      " of parents' memory; un-shared since: ", Human(totals.copied.bytes),
      "\n");
  absl::StrAppend(
      &text, EstimatedText(processes[0].ledger->header(), Sampled(processes)));
  if (totals.lost > 0) {
    absl::StrAppend(&text, Counted(totals.lost, "page event"), " lost\n");
  }
  return text;
}

// What gc.freeze() would have saved is bounded by the pages that collections
// wrote to first.
std::string UnsharedNotes(const std::vector<UnsharedPages>& processes) {
  const Totals totals(processes);
  if (!totals.knows_collecting) {
    return "How much memory garbage collection un-shared is not known for this "
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
      Estimated(processes)
          ? absl::StrCat(
                " (std error ",
                Human(WholeNumber(std::sqrt(collected.place_variance))), ")")
          : "",
      ": the pages that garbage collection was the first to write to. Later "
      "writes, which are not recorded, may have un-shared them anyway.\n");
}

}  // namespace pymemrun
