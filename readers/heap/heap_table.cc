#include "readers/heap/heap_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/output/whole_number.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

void AddUp(const HeapRows::Row& row, HeapRows::Row* sum) {
  sum->sums.Add(row.sums);
  sum->before.Add(row.before);
  sum->mapped_bytes += row.mapped_bytes;
}

class TableMaker {
 public:
  TableMaker(const HeapTableOptions& options, double total_bytes,
             bool knows_mapped)
      : options_(options),
        total_bytes_(total_bytes),
        knows_mapped_(knows_mapped) {
    const std::string& name = options.name;
    table_.headings = PlaceHeadings(options.by);
    const auto add = [this](std::string column, std::string title,
                            CellLook look) {
      table_.headings.push_back({std::move(column), std::move(title), look});
    };
    add(name + "_bytes", name, CellLook::kBytes);
    add(name + "_count", "blocks", CellLook::kPlain);
    if (options.is_change) {
      add("before_bytes", "before", CellLook::kBytes);
      add("after_bytes", "after", CellLook::kBytes);
    } else {
      add("share", "share", CellLook::kShare);
    }
    if (options.with_errors) {
      add("error_bytes", "std error", CellLook::kBytes);
      add("error_count", "of blocks", CellLook::kPlain);
      if (!options.for_text) {  // its heading tells it
        add("unseen_bytes", "", CellLook::kBytes);
        add("unseen_count", "", CellLook::kPlain);
      }
    }
    if (options.with_mapped) add("mapped_bytes", "mapped", CellLook::kBytes);
  }

  void AddPlace(const HeapRows::Row& row) {
    ++table_.places;
    AddSums(row, true, PlaceCells(options_.by, row.place));
  }
  void AddOther(absl::string_view name, const HeapRows::Row& row, bool share) {
    if (IsNothing(row)) return;
    AddSums(row, share, NameCells(options_.by, name));
  }
  // In its own column alone.
  void AddReserved(const HeapRows::Row& row) {
    if (IsNothing(row)) return;
    std::vector<Cell> cells = NameCells(options_.by, kReserved);
    cells.resize(table_.headings.size());
    if (options_.is_change) {
      cells.back() = SignedNumber(row.sums.bytes - row.before.bytes);
    } else {
      cells.back() = WholeNumber(row.sums.bytes);
    }
    table_.rows.push_back(std::move(cells));
  }
  Table Take() { return std::move(table_); }

 private:
  static bool IsNothing(const HeapRows::Row& row) {
    return row.sums.recorded == 0 && row.before.recorded == 0 &&
           row.mapped_bytes <= 0;
  }
  void AddSums(const HeapRows::Row& row, bool share, std::vector<Cell> cells) {
    const HeapSums &sums = row.sums, &before = row.before;
    if (options_.is_change) {
      cells.emplace_back(SignedNumber(sums.bytes - before.bytes));
      cells.emplace_back(SignedNumber(sums.count - before.count));
      cells.emplace_back(WholeNumber(before.bytes));
      cells.emplace_back(WholeNumber(sums.bytes));
    } else {
      cells.emplace_back(WholeNumber(sums.bytes));
      cells.push_back(Count(sums));
      cells.emplace_back();
      if (share) {
        cells.back() = total_bytes_ > 0 ? sums.bytes / total_bytes_ : 0.0;
      }
    }
    if (options_.with_errors) {
      HeapSums both = sums;
      both.Add(before);
      cells.emplace_back(WholeNumber(both.BytesError()));
      cells.emplace_back(WholeNumber(both.CountError()));
      if (!options_.for_text) {
        cells.push_back(UnseenCell(options_.unseen.bytes));
        cells.push_back(UnseenCell(options_.unseen.count));
      }
    }
    if (options_.with_mapped) {
      cells.emplace_back();
      if (knows_mapped_) cells.back() = WholeNumber(row.mapped_bytes);
    }
    table_.rows.push_back(std::move(cells));
  }

  // For people nothing where most blocks may be unseen.
  Cell Count(const HeapSums& sums) const {
    if (options_.for_text && IsAtLeast(sums, options_.unseen)) return Cell();
    return WholeNumber(sums.count);
  }

  const HeapTableOptions& options_;
  const double total_bytes_;
  const bool knows_mapped_;
  Table table_;
};

double SortKey(const HeapRows::Row& row) {
  return std::fabs(row.sums.bytes - row.before.bytes) + row.mapped_bytes;
}

std::string RatesText(const HeapReplay& replay) {
  const HeapRates& rates = replay.rates();
  std::string text;
  if (rates.mean_bytes() != 0) {
    text = absl::StrCat("one sample in ",
                        HumanBytes(static_cast<double>(rates.mean_bytes())),
                        " on average");
  } else if (rates.classes_size() != 0) {
    for (const HeapClass& of : rates.classes()) {
      absl::StrAppend(&text, text.empty() ? "{" : ", ", of.below_bytes(), ": ",
                      absl::StrFormat("%g", of.probability()));
    }
    text += "} of sizes below, larger ones always";
  } else {
    text = "at unknown rates";
  }
  if (replay.rate_changes() > 0) {
    absl::StrAppend(&text, "; the rates changed ",
                    Counted(replay.rate_changes(), "time"));
  }
  return text;
}

// The sizes that the rates leave out; nothing is known of these, not even how
// far the sums are off.
std::string NotRecordedText(const HeapRates& rates) {
  if (rates.mean_bytes() != 0) return "";
  std::string sizes;
  uint64_t from = 0;
  for (const HeapClass& of : rates.classes()) {
    if (of.probability() <= 0 && of.below_bytes() > from) {
      absl::StrAppend(&sizes, sizes.empty() ? "" : ", ", from, " to ",
                      of.below_bytes() - 1);
    }
    from = std::max(from, of.below_bytes());
  }
  if (sizes.empty()) return "";
  return absl::StrCat("blocks of ", sizes,
                      " bytes were not recorded: no number here counts them, "
                      "no standard error covers them\n");
}

// How much a place may miss beyond its standard error: blocks without a sample.
std::string UnseenText(const HeapUnseen& unseen) {
  if (unseen.count == 0 || std::isinf(unseen.count)) return "";
  return absl::StrCat("small blocks may be missed: most often less than ",
                      HumanBytes(unseen.bytes), " of a line's\n");
}

}  // namespace

void HeapRowsMaker::Add(const HeapReplay& replay,
                        const std::vector<HeapSums>& sums, bool before,
                        const Keep& keep) {
  OriginNumbers numbers(by_, &replay.index(), &places_);
  const auto add = [before](const HeapSums& of, HeapRows::Row* row) {
    (before ? row->before : row->sums).Add(of);
  };
  for (uint32_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (sums[i].recorded == 0 || (keep != nullptr && !keep(source))) continue;
    if (source.reserved == of_reserved_ && !source.tracing) {
      add(sums[i], RowOf(i, OriginOf(source.key, replay), &numbers));
    } else if (!of_reserved_) {
      add(sums[i], source.tracing ? &rows_.tracing : &rows_.reserved);
    }
  }
}

void HeapRowsMaker::AddMapped(const HeapReplay& replay,
                              const std::vector<double>& bytes,
                              const Keep& keep) {
  rows_.knows_mapped = true;
  OriginNumbers numbers(by_, &replay.index(), &places_);
  for (uint32_t i = 0; i < bytes.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (bytes[i] <= 0 || (keep != nullptr && !keep(source))) continue;
    RowOf(i, OriginOf(source.key, replay), &numbers)->mapped_bytes += bytes[i];
  }
}

HeapRows::Row* HeapRowsMaker::RowOf(uint32_t source, const Origin& origin,
                                    OriginNumbers* numbers) {
  if (threads_ != nullptr && !threads_->Keeps(origin.thread)) {
    return &rows_.other_threads;
  }
  const uint32_t number = numbers->NumberOf(source, origin);
  if (number == rows_.places.size()) {
    rows_.places.push_back({places_.places()[number], {}, {}});
  }
  return &rows_.places[number];
}

HeapRowsMaker::Keep OfThreads(ThreadFilter* threads) {
  if (!threads->any()) return nullptr;
  return [threads](const HeapSource& source) {
    return threads->Keeps(source.key.thread);
  };
}

void SortByBytes(std::vector<HeapRows::Row>* places) {
  std::sort(places->begin(), places->end(),
            [](const HeapRows::Row& a, const HeapRows::Row& b) {
              return SortKey(a) != SortKey(b) ? SortKey(a) > SortKey(b)
                                              : a.place < b.place;
            });
}

Table HeapTable(const HeapTableOptions& options, HeapRows rows) {
  std::vector<HeapRows::Row>& places = rows.places;
  SortByBytes(&places);
  double total_bytes = 0;
  for (const HeapRows::Row& row : places) total_bytes += row.sums.bytes;
  total_bytes += rows.other_threads.sums.bytes;
  TableMaker maker(options, total_bytes, rows.knows_mapped);
  HeapRows::Row others;
  for (size_t i = 0; i < places.size(); ++i) {
    if (options.limit == 0 || i < options.limit) {
      maker.AddPlace(places[i]);
    } else {
      AddUp(places[i], &others);
    }
  }
  maker.AddOther(kOtherPlaces, others, true);
  maker.AddOther(kOtherThreads, rows.other_threads, true);
  maker.AddOther(kTracingItself, rows.tracing, false);
  if (options.with_mapped && !rows.knows_mapped) {
    maker.AddReserved(rows.reserved);
  }
  return maker.Take();
}

bool IsAtLeast(const HeapSums& sums, const HeapUnseen& unseen) {
  return unseen.count > 0 && sums.recorded > 0 && 2 * sums.CountError() < 1;
}

Cell UnseenCell(double amount) {
  if (std::isinf(amount)) return {};
  return WholeNumber(amount);
}

std::string HeapSumsText(const HeapSums& sums, const HeapReplay& replay,
                         bool with_error) {
  const bool is_estimate = replay.sampled() && 2 * sums.CountError() >= 1;
  std::string text = absl::StrCat(HumanBytes(sums.bytes), " in ",
                                  IsAtLeast(sums, replay.unseen()) ? "at least "
                                  : is_estimate                    ? "about "
                                                                   : "",
                                  Counted(WholeNumber(sums.count), "block"));
  // Less than a thousandth is not worth a word.
  if (with_error && replay.sampled() &&
      sums.BytesError() > 0.001 * std::fabs(sums.bytes)) {
    absl::StrAppend(&text, " (standard error ", HumanBytes(sums.BytesError()),
                    ")");
  }
  return text;
}

std::string HeapEstimateText(const HeapReplay& replay, uint64_t recorded) {
  if (!replay.sampled()) return "";
  return absl::StrCat("estimated: ", RatesText(replay), "; ",
                      Counted(recorded, "block"), " recorded\n",
                      NotRecordedText(replay.rates()),
                      UnseenText(replay.unseen()));
}

std::string HeapHeading(const HeapReplay& replay) {
  const HeapModel& model = replay.model();
  const HeapSums allocated = model.Allocated();
  // Its error is as that of what is allocated.
  std::string text =
      absl::StrCat("allocated ", HeapSumsText(allocated, replay), ", freed ",
                   HeapSumsText(model.Freed(), replay, /*with_error=*/false),
                   " by ", HumanSeconds(replay.last_us()), "\n");
  text += HeapEstimateText(replay, allocated.recorded);
  if (model.unmatched_frees() > 0) {
    absl::StrAppend(&text, "frees of earlier blocks: ",
                    Grouped(model.unmatched_frees()), "\n");
  }
  if (model.missed_frees() > 0) {
    absl::StrAppend(&text, "addresses allocated again without a free: ",
                    Grouped(model.missed_frees()), "\n");
  }
  if (replay.lost_events() > 0) {
    absl::StrAppend(&text, Counted(replay.lost_events(), "heap event"),
                    " lost: blocks may be missing, or never freed\n");
  }
  if (model.not_kept() > 0) {
    absl::StrAppend(&text, Counted(model.not_kept(), "block"),
                    " found no room\n");
  }
  return text;
}

}  // namespace pymemrun
