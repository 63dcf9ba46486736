// Which rows, marks, page and heap events of a run file are printed: pymemcat's
// filters, which use the words of the recording filters. A filter decides about
// logged rows (NEXT). The context of a row (PREV) is printed with it.
#ifndef PYMEMRUN_READERS_CAT_ROW_FILTER_H_
#define PYMEMRUN_READERS_CAT_ROW_FILTER_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/records/record_visitor.h"
#include "readers/replay/rows/row_columns.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// Matches all of `text` against a shell pattern, as Python's fnmatch does: `*`
// any characters (including `/`), `?` one character, `[a-z]`, `[!a-z]`. Takes
// at most the product of both lengths.
bool GlobMatches(absl::string_view pattern, absl::string_view text);

// The filters of one pymemcat command, which apply to all of its files.
struct FilterOptions {
  static constexpr uint32_t kMarkBit = 1u << 5;  // in `kinds`
  static constexpr uint32_t kPageBit = 1u << 6;
  static constexpr uint32_t kAllocBit = 1u << 7;
  static constexpr uint32_t kFreeBit = 1u << 8;
  static constexpr uint32_t kGilBit = 1u << 9;
  static constexpr uint32_t kRowKinds = kMarkBit - 1;
  static constexpr uint32_t kAllKinds = 0x3ff;

  uint64_t from_us = 0;
  uint64_t to_us = std::numeric_limits<uint64_t>::max();
  // One of a list must match; an empty list lets everything pass.
  std::vector<std::string> threads;    // against "name#id" and "name"
  std::vector<std::string> files;      // the whole path
  std::vector<std::string> functions;  // the function as printed
  uint32_t kinds = kAllKinds;          // bit i: What i
  uint64_t min_drss_bytes = 0;         // of abs(dRSS)
  uint64_t every = 1;  // prints every N-th of the rows that pass
  bool calls = true;   // whether rows are printed at all
  bool marks = true;
  ExtraRecords extra;

  // Whether times leave out rows.
  bool HasTimes() const {
    return from_us > 0 || to_us < std::numeric_limits<uint64_t>::max();
  }
  // Whether no row is left out.
  bool PassesEverything() const;
};

// The filter of one file. Not thread safe. Options and index must outlive it.
class RowFilter {
 public:
  RowFilter(const FilterOptions* options, const RunIndex* index)
      : options_(*options),
        index_(*index),
        passes_everything_(options->PassesEverything()) {}

  bool passes_everything() const { return passes_everything_; }
  // Whether a logged row is printed. To be called once for each row, as it
  // counts for `every`. REQUIRES: !row.context.
  bool PassesNext(const Row& row);
  // Marks are filtered by time, thread and kind only.
  bool PassesMark(const Mark& mark);
  // Page events are filtered by all but dRSS and `every`.
  bool PassesPage(const PageEntry& entry);
  // The same for heap events. A free has no place.
  bool PassesHeap(const HeapEvent& event);
  // The same for events of the GIL. Those without a stack have no place.
  bool PassesGil(const GilEvent& event);
  // Whether everything from this time on is after `to`, with a margin.
  bool IsPast(uint64_t time_us) const;

 private:
  enum Verdict : uint8_t { kUnknown, kPass, kFail };

  template <typename Judge>
  bool Remembered(uint32_t id, std::vector<Verdict>* verdicts, Judge judge);
  // Filters what is not a row, except by its place.
  bool PassesOther(uint64_t time_us, uint32_t kind, uint32_t thread);
  bool HasPlaces() const {
    return !options_.files.empty() || !options_.functions.empty();
  }
  bool PassesSite(uint32_t site);
  bool PassesStack(uint32_t stack);
  bool PassesThread(uint32_t thread);
  bool PassesPlace(absl::string_view file, absl::string_view function) const;

  const FilterOptions& options_;
  const RunIndex& index_;
  const bool passes_everything_;
  std::vector<Verdict> sites_, threads_,
      stacks_;  // by id, up to the limits of the index
  uint64_t passed_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_ROW_FILTER_H_
