#include "format/page_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "format/status_util.h"

namespace pymemrun {
namespace {

// Of all ranges of a Residency: 64 TiB of small pages.
constexpr uint64_t kMaxResidentPages = uint64_t{1} << 34;
constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

absl::Status CheckPageColumns(const PageBatch& b) {
  const auto rows = static_cast<uint64_t>(b.page_step_size());
  RETURN_IF_ERROR(CheckAt("pages.time_at", b.time_at(), 1, rows));
  RETURN_IF_ERROR(CheckAtFromZero("pages.thread_at", b.thread_at(), rows));
  RETURN_IF_ERROR(CheckAtFromZero("pages.stack_at", b.stack_at(), rows));
  RETURN_IF_ERROR(CheckAtFromZero("pages.code_at", b.code_at(), rows));
  RETURN_IF_ERROR(CheckAt("pages.action_at", b.action_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("pages.inferred_at", b.inferred_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("pages.certain_at", b.certain_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("pages.mapping_at", b.mapping_at(), 0, rows));
  RETURN_IF_ERROR(
      CheckLength("pages.mapping", b.mapping_at_size(), b.mapping_size()));
  RETURN_IF_ERROR(
      CheckLength("pages.time_step", b.time_at_size(), b.time_step_size()));
  RETURN_IF_ERROR(
      CheckLength("pages.thread", b.thread_at_size(), b.thread_size()));
  RETURN_IF_ERROR(
      CheckLength("pages.stack", b.stack_at_size(), b.stack_size()));
  RETURN_IF_ERROR(CheckLength("pages.code", b.code_at_size(), b.code_size()));
  RETURN_IF_ERROR(
      CheckLength("pages.action", b.action_at_size(), b.action_size()));
  RETURN_IF_ERROR(CheckLength("pages.action_pages", b.action_at_size(),
                              b.action_pages_size()));
  return CheckLength("pages.moved_to", b.action_at_size(), b.moved_to_size());
}

absl::Status CheckEnd(absl::string_view field, uint64_t page, uint64_t pages) {
  if (page <= kMaxPage && pages <= kMaxPage - page) return absl::OkStatus();
  return WrongColumn(field, "a range of pages below 2^45", pages);
}

// The pages of the entries, and where the ranges of actions end.
absl::Status CheckAddresses(const PageBatch& b) {
  SparseCursor action(b.action_at());
  uint64_t page = 0;
  for (int i = 0; i < b.page_step_size(); ++i) {
    // Modulo 2^64: what lies outside is above kMaxPage.
    page += static_cast<uint64_t>(b.page_step(i));
    if (page >= kMaxPage) {
      return WrongColumn("pages.page_step", "a page below 2^45", page);
    }
    if (static_cast<uint64_t>(i) != action.next) continue;
    const int at = action.index;
    RETURN_IF_ERROR(CheckEnd("pages.action_pages", page, b.action_pages(at)));
    RETURN_IF_ERROR(
        CheckEnd("pages.moved_to", b.moved_to(at), b.action_pages(at)));
    action.Advance();
  }
  return absl::OkStatus();
}

absl::Status CheckActions(const PageBatch& b) {
  for (const int action : b.action()) {
    if (!PageAction_IsValid(action) || action == PAGE_CAME) {
      return WrongColumn("pages.action", absl::StrCat("1 to ", PageAction_MAX),
                         static_cast<uint64_t>(action));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRanges(const Residency& r) {
  uint64_t end = 0, total = 0;
  for (int i = 0; i < r.pages_size(); ++i) {
    RETURN_IF_ERROR(CheckEnd("residency.gap_pages", end, r.gap_pages(i)));
    end += r.gap_pages(i);
    RETURN_IF_ERROR(CheckEnd("residency.pages", end, r.pages(i)));
    end += r.pages(i);
    total += r.pages(i);
    if (r.pages(i) == 0 || total > kMaxResidentPages) {
      return WrongColumn("residency.pages", "1 page or more, 2^34 in all",
                         r.pages(i));
    }
  }
  return absl::OkStatus();
}

// States an entry in a column of distances.
class AtColumn {
 public:
  explicit AtColumn(Column32* at) : at_(at) {}
  void Add(size_t row) {
    at_->Add(static_cast<uint32_t>(row - last_));
    last_ = row;
  }
  // The same, and `value` beside it, where that changes.
  template <class Values>
  void AddChanged(size_t row, uint32_t value, Values* values) {
    if (!values->empty() && values->Get(values->size() - 1) == value) return;
    Add(row);
    values->Add(value);
  }

 private:
  Column32* const at_;
  size_t last_ = 0;
};

}  // namespace

absl::Status CheckPageBatch(const PageBatch& batch, PageIds* ids) {
  RETURN_IF_ERROR(CheckPageColumns(batch));
  RETURN_IF_ERROR(CheckActions(batch));
  RETURN_IF_ERROR(CheckAddresses(batch));
  uint64_t time = batch.first_us();
  RETURN_IF_ERROR(AddAll("pages.time_step", batch.time_step(), &time));
  RETURN_IF_ERROR(CheckIds("pages.thread", batch.thread(), 1, &ids->thread));
  RETURN_IF_ERROR(CheckIds("pages.stack", batch.stack(), 0, &ids->stack));
  RETURN_IF_ERROR(CheckIds("pages.mapping", batch.mapping(), 0, &ids->mapping));
  return CheckIds("pages.code", batch.code(), 0, &ids->mapping);
}

absl::Status CheckResidency(const Residency& r, PageIds* ids) {
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
  if (r.rss_bytes() > kMaxBytes) {
    return WrongColumn("residency.rss_bytes", "a size", r.rss_bytes());
  }
  RETURN_IF_ERROR(CheckRanges(r));
  return CheckIds("residency.mapping", r.mapping(), 0, &ids->mapping);
}

PageRows::PageRows(const PageBatch& batch)
    : batch_(batch),
      time_(batch.time_at()),
      thread_(batch.thread_at()),
      stack_(batch.stack_at()),
      code_(batch.code_at()),
      action_(batch.action_at()),
      inferred_(batch.inferred_at()),
      certain_(batch.certain_at()),
      mapping_(batch.mapping_at()),
      weight_(std::max<uint32_t>(1, batch.weight())) {
  last_.time_us = batch.first_us();
}

size_t PageRows::Next(PageEntry* entries, size_t size) {
  const uint64_t begin = row_;
  const uint64_t end = std::min<uint64_t>(
      static_cast<uint64_t>(batch_.page_step_size()), begin + size);
  const auto take = [](SparseCursor* cursor, uint64_t row,
                       const Column32& column, uint32_t* value) {
    if (row != cursor->next) return;
    *value = column.Get(cursor->index);
    cursor->Advance();
  };
  PageEntry entry = last_;
  for (uint64_t i = begin; i < end; ++i) {
    entry.page += static_cast<uint64_t>(batch_.page_step(static_cast<int>(i)));
    if (i == time_.next) {
      entry.time_us += batch_.time_step(time_.index);
      time_.Advance();
    }
    take(&thread_, i, batch_.thread(), &entry.thread);
    take(&stack_, i, batch_.stack(), &entry.stack);
    take(&code_, i, batch_.code(), &entry.code_mapping);
    entry.action = PAGE_CAME;
    entry.pages = 1;
    entry.moved_to = 0;
    if (i == action_.next) {
      entry.action = batch_.action(action_.index);
      entry.pages = batch_.action_pages(action_.index);
      entry.moved_to = batch_.moved_to(action_.index);
      action_.Advance();
    }
    take(&mapping_, i, batch_.mapping(), &last_mapping_);
    entry.mapping = IsComing(entry.action) ? last_mapping_ : 0;
    entry.inferred = inferred_.Take(i);
    entry.weight = !certain_.Take(i) && IsComing(entry.action) ? weight_ : 1;
    entries[i - begin] = entry;
  }
  last_ = entry;
  row_ = end;
  return static_cast<size_t>(end - begin);
}

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

void EncodePages(absl::Span<const PageEntry> entries, PageBatch* batch) {
  batch->Clear();
  if (entries.empty()) return;
  batch->set_first_us(entries[0].time_us);
  uint32_t weight = 0;
  for (const PageEntry& entry : entries) {
    if (IsComing(entry.action)) weight = std::max(weight, entry.weight);
  }
  batch->set_weight(weight);
  AtColumn time_at(batch->mutable_time_at());
  AtColumn thread_at(batch->mutable_thread_at());
  AtColumn stack_at(batch->mutable_stack_at());
  AtColumn code_at(batch->mutable_code_at());
  AtColumn action_at(batch->mutable_action_at());
  AtColumn inferred_at(batch->mutable_inferred_at());
  AtColumn certain_at(batch->mutable_certain_at());
  AtColumn mapping_at(batch->mutable_mapping_at());
  uint32_t mapping = 0;
  uint64_t page = 0, time_us = entries[0].time_us;
  for (size_t i = 0; i < entries.size(); ++i) {
    const PageEntry& entry = entries[i];
    batch->add_page_step(static_cast<int64_t>(entry.page - page));
    page = entry.page;
    if (entry.time_us != time_us) {
      time_at.Add(i);
      batch->add_time_step(entry.time_us - time_us);
      time_us = entry.time_us;
    }
    thread_at.AddChanged(i, entry.thread, batch->mutable_thread());
    stack_at.AddChanged(i, entry.stack, batch->mutable_stack());
    code_at.AddChanged(i, entry.code_mapping, batch->mutable_code());
    if (entry.action != PAGE_CAME) {
      action_at.Add(i);
      batch->add_action(entry.action);
      batch->add_action_pages(entry.pages);
      batch->add_moved_to(entry.moved_to);
    }
    if (entry.inferred) inferred_at.Add(i);
    if (!IsComing(entry.action)) continue;
    if (entry.weight < weight) certain_at.Add(i);
    if (entry.mapping == mapping) continue;
    mapping_at.Add(i);
    batch->add_mapping(mapping = entry.mapping);
  }
}

void EncodeRanges(absl::Span<const ResidentRange> ranges,
                  Residency* residency) {
  residency->clear_gap_pages();
  residency->clear_pages();
  residency->clear_mapping_at();
  residency->clear_mapping();
  residency->clear_flags_at();
  residency->clear_flags();
  AtColumn mapping_at(residency->mutable_mapping_at());
  AtColumn flags_at(residency->mutable_flags_at());
  uint64_t end = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const ResidentRange& range = ranges[i];
    residency->add_gap_pages(range.page - end);
    residency->add_pages(range.pages);
    end = range.page + range.pages;
    mapping_at.AddChanged(i, range.mapping, residency->mutable_mapping());
    uint32_t flags = Residency::NONE;
    if (range.file_backed) flags |= Residency::FILE_BACKED;
    if (range.huge) flags |= Residency::HUGE;
    flags_at.AddChanged(i, flags, residency->mutable_flags());
  }
}

}  // namespace pymemrun
