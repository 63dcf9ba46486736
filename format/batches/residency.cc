#include "format/batches/residency.h"

#include "absl/strings/str_cat.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

// Ranges are gaps and lengths by turns, so they rise and never overlap,
// whatever the numbers are. Only the ends of the address space and the total
// need checks.
absl::Status CheckRanges(const Residency& r) {
  uint64_t end = 0, total = 0;
  for (int i = 0; i < r.pages_size(); ++i) {
    RETURN_IF_ERROR(CheckPagesEnd("residency.gap_pages", end, r.gap_pages(i)));
    end += r.gap_pages(i);
    RETURN_IF_ERROR(CheckPagesEnd("residency.pages", end, r.pages(i)));
    end += r.pages(i);
    total += r.pages(i);
    if (r.pages(i) == 0 || total > kMaxResidentPages) {
      return WrongColumn("residency.pages", "1 page or more, 2^34 in all",
                         r.pages(i));
    }
  }
  return absl::OkStatus();
}

uint32_t FlagsOf(const ResidentRange& range) {
  uint32_t flags = Residency::NONE;
  if (range.file_backed) flags |= Residency::FILE_BACKED;
  if (range.huge) flags |= Residency::HUGE;
  return flags;
}

// States `value` of `row` where it is another than the last.
void State(uint32_t row, uint32_t value, RowSteps* steps, Column32* at,
           Column32* values) {
  if (!values->empty() && *values->rbegin() == value) return;
  at->Add(steps->StepTo(row));
  values->Add(value);
}

}  // namespace

// Written so that the sum cannot overflow.
absl::Status CheckPagesEnd(absl::string_view field, uint64_t page,
                           uint64_t pages) {
  if (page <= kMaxPage && pages <= kMaxPage - page) return absl::OkStatus();
  return WrongColumn(field, "a range of pages below 2^45", pages);
}

// Mapping and flags are stated where they change. Neighbouring ranges often
// share them, as the heap of a program does.
void ResidencyEncoder::Add(const ResidentRange& range) {
  const auto row = static_cast<uint32_t>(residency_.pages_size());
  residency_.add_gap_pages(range.page - end_);
  residency_.add_pages(range.pages);
  end_ = range.page + range.pages;
  State(row, range.mapping, &mapping_at_, residency_.mutable_mapping_at(),
        residency_.mutable_mapping());
  State(row, FlagsOf(range), &flags_at_, residency_.mutable_flags_at(),
        residency_.mutable_flags());
}

// Lengths of columns first, then values.
absl::Status CheckResidency(const Residency& r, uint32_t* mapping) {
  const auto ranges = static_cast<uint64_t>(r.pages_size());
  RETURN_IF_ERROR(
      CheckLength("residency.gap_pages", r.pages_size(), r.gap_pages_size()));
  RETURN_IF_ERROR(
      CheckAtFromZero("residency.mapping_at", r.mapping_at(), ranges));
  RETURN_IF_ERROR(
      CheckLength("residency.mapping", r.mapping_at_size(), r.mapping_size()));
  RETURN_IF_ERROR(CheckAt("residency.flags_at", r.flags_at(), 0, ranges));
  RETURN_IF_ERROR(
      CheckLength("residency.flags", r.flags_at_size(), r.flags_size()));
  if (r.begin_us() > r.time_us()) {
    return WrongColumn("residency.begin_us",
                       absl::StrCat("at most ", r.time_us()), r.begin_us());
  }
  if (r.rss_bytes() > kMaxSizeBytes) {
    return WrongColumn("residency.rss_bytes", "a size", r.rss_bytes());
  }
  RETURN_IF_ERROR(CheckRanges(r));
  return CheckIds("residency.mapping", r.mapping(), 0, mapping);
}

// `range` is carried from turn to turn: its end is where the next gap begins,
// and its mapping and flags hold until others are stated.
std::vector<ResidentRange> RangesOf(const Residency& residency) {
  std::vector<ResidentRange> ranges;
  ranges.reserve(static_cast<size_t>(residency.pages_size()));
  SparseCursor mapping(residency.mapping_at()), flags(residency.flags_at());
  ResidentRange range = {};
  for (int i = 0; i < residency.pages_size(); ++i) {
    const auto at = static_cast<uint64_t>(i);
    range.page += range.pages + residency.gap_pages(i);
    range.pages = residency.pages(i);
    if (at == mapping.next) {
      range.mapping = residency.mapping(mapping.index);
      mapping.Advance();
    }
    if (at == flags.next) {
      const uint32_t bits = residency.flags(flags.index);
      range.file_backed = (bits & Residency::FILE_BACKED) != 0;
      range.huge = (bits & Residency::HUGE) != 0;
      flags.Advance();
    }
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace pymemrun
