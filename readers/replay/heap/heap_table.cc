#include "readers/replay/heap/heap_table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/output/whole_number.h"
#include "readers/places/place_table.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

using HeapColumns = TableColumns<HeapRows::Row>;

// Adds the columns of sums, and of their share.
void AddSums(const HeapTableOptions& options, double total_bytes,
             HeapColumns* columns) {
  const std::string& name = options.name;
  columns->AddBytes(name + "_bytes", name, [](const HeapRows::Row& row) {
    return WholeNumber(row.sums.bytes);
  });
  // Text leaves the count out if most blocks may be unseen.
  columns->Add(name + "_count", "blocks", [&options](const HeapRows::Row& row) {
    const bool is_bound =
        options.for_text && IsAtLeast(row.sums, options.unseen);
    return is_bound ? Cell() : WholeNumber(row.sums.count);
  });
  columns->AddShare(total_bytes, [](const HeapRows::Row& row) {
    return row.is_part ? std::optional(row.sums.bytes) : std::nullopt;
  });
}

// The columns of a comparison: changes have a sign.
void AddChanges(const std::string& name, HeapColumns* columns) {
  columns->AddBytes(name + "_bytes", name, [](const HeapRows::Row& row) {
    return SignedNumber(row.sums.bytes - row.before.bytes);
  });
  columns->Add(name + "_count", "blocks", [](const HeapRows::Row& row) {
    return SignedNumber(row.sums.count - row.before.count);
  });
  columns->AddBytes("before_bytes", "before", [](const HeapRows::Row& row) {
    return WholeNumber(row.before.bytes);
  });
  columns->AddBytes("after_bytes", "after", [](const HeapRows::Row& row) {
    return WholeNumber(row.sums.bytes);
  });
}

// The runs are independent, so variances add up.
void AddErrors(const HeapTableOptions& options, HeapColumns* columns) {
  columns->AddError("error_bytes", "std error", [](const HeapRows::Row& row) {
    return row.sums.bytes_variance + row.before.bytes_variance;
  });
  columns->AddError(
      "error_count", "of blocks",
      [](const HeapRows::Row& row) {
        return row.sums.count_variance + row.before.count_variance;
      },
      CellLook::kPlain);
  if (options.for_text) return;  // the heading has it
  columns->AddBytes("unseen_bytes", "", [&options](const HeapRows::Row&) {
    return UnseenCell(options.unseen.bytes);
  });
  columns->Add("unseen_count", [&options](const HeapRows::Row&) {
    return UnseenCell(options.unseen.count);
  });
}

HeapColumns ColumnsOf(const HeapTableOptions& options, double total_bytes,
                      bool knows_mapped) {
  HeapColumns columns;
  if (options.is_change) {
    AddChanges(options.name, &columns);
  } else {
    AddSums(options, total_bytes, &columns);
  }
  if (options.with_errors) AddErrors(options, &columns);
  if (options.with_mapped) {
    columns.AddBytes("mapped_bytes", "mapped", [=](const HeapRows::Row& row) {
      return knows_mapped ? WholeNumber(row.mapped_bytes) : Cell();
    });
  }
  return columns;
}

// The row of mappings has only a cell in its own column.
void AddReserved(const HeapTableOptions& options, const HeapRows::Row& row,
                 Table* table) {
  std::vector<Cell> cells = NameCells(options.by, kReserved);
  cells.resize(table->headings.size());
  cells.back() = options.is_change
                     ? Cell(SignedNumber(row.sums.bytes - row.before.bytes))
                     : Cell(WholeNumber(row.sums.bytes));
  table->rows.push_back(std::move(cells));
}

// A change counts by its size; resident mappings always add to it.
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

// The sizes that the rates leave out: nothing is known of these, not even the
// error of the sums.
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
                      " bytes were not recorded: neither the numbers here nor "
                      "their standard errors include them\n");
}

// What a place may hold beyond its standard error: blocks without a sample.
std::string UnseenText(const HeapUnseen& unseen) {
  if (unseen.count == 0 || std::isinf(unseen.count)) return "";
  return absl::StrCat("a line may hold up to ", HumanBytes(unseen.bytes),
                      " more in small blocks that were not sampled (95 %)\n");
}

}  // namespace

// A comparison calls this twice, with the sums of two moments: their sides of a
// row are kept apart.
void HeapRowsMaker::Add(const HeapReplay& replay,
                        const std::vector<HeapSums>& sums, bool before,
                        const Keep& keep) {
  // Numbers are cached by source.
  OriginNumbers numbers(by_, &replay.index(), &places_);
  const auto add = [before](const HeapSums& of, HeapRows::Row* row) {
    (before ? row->before : row->sums).Add(of);
  };
  for (uint32_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (sums[i].recorded == 0 || (keep != nullptr && !keep(source))) continue;
    // Sources of the wanted kind have places; the others are one row each.
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
  return &RowOfPlace(numbers->NumberOf(source, origin), places_.places(),
                     &rows_.places);
}

HeapRowsMaker::Keep OfThreads(ThreadFilter* threads) {
  if (!threads->any()) return nullptr;
  return [threads](const HeapSource& source) {
    return threads->Keeps(source.key.thread);
  };
}

void HeapRows::Row::Add(const Row& other) {
  sums.Add(other.sums);
  before.Add(other.before);
  mapped_bytes += other.mapped_bytes;
}

bool HeapRows::Row::IsNothing() const {
  return sums.recorded == 0 && before.recorded == 0 && mapped_bytes <= 0;
}

void SortByBytes(std::vector<HeapRows::Row>* places) {
  KeepTop(0, SortKey, places);
}

Table HeapTable(const HeapTableOptions& options, HeapRows rows) {
  // The total is that of all rows except tracing's.
  double total_bytes = rows.other_threads.sums.bytes;
  for (const HeapRows::Row& row : rows.places) total_bytes += row.sums.bytes;
  const HeapRows::Row others = KeepTop(options.limit, SortKey, &rows.places);
  PlaceTableMaker<HeapRows::Row> maker(
      options.by, ColumnsOf(options, total_bytes, rows.knows_mapped));
  maker.AddPlaces(rows.places);
  maker.AddRest(kOtherPlaces, others);
  maker.AddRest(kOtherThreads, rows.other_threads);
  rows.tracing.is_part = false;
  maker.AddRest(kTracingItself, rows.tracing);
  Table table = maker.Take();
  if (options.with_mapped && !rows.knows_mapped && !rows.reserved.IsNothing()) {
    AddReserved(options, rows.reserved, &table);
  }
  return table;
}

bool IsAtLeast(const HeapSums& sums, const HeapUnseen& unseen) {
  // An error below half a block: each counted block was recorded.
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
  // An error below a thousandth is not printed.
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
  // Its error is computed like that of allocations.
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
                    " did not fit\n");
  }
  return text;
}

}  // namespace pymemrun
