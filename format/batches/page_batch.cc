#include "format/batches/page_batch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "format/batches/residency.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

// Checks that each `X_at` column is as long as its values, so that they can be
// read by index. Thread, stack and code are stated at row 0 and whenever they
// change. Mappings and actions are stated only where an entry has one.
absl::Status CheckPageColumns(const PageBatch& b) {
  const auto rows = static_cast<uint64_t>(b.page_step_size());
  RETURN_IF_ERROR(CheckAt("pages.time_at", b.time_at(), 1, rows));
  RETURN_IF_ERROR(CheckAtFromZero("pages.thread_at", b.thread_at(), rows));
  RETURN_IF_ERROR(CheckAtFromZero("pages.stack_at", b.stack_at(), rows));
  RETURN_IF_ERROR(CheckAtFromZero("pages.code_at", b.code_at(), rows));
  RETURN_IF_ERROR(CheckAt("pages.action_at", b.action_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("pages.inferred_at", b.inferred_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("pages.certain_at", b.certain_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("pages.collecting_at", b.collecting_at(), 0, rows));
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

// Checks the pages of entries, and the ends of ranges. Entries with an action
// cover action_pages pages, all others one.
absl::Status CheckAddresses(const PageBatch& b) {
  SparseCursor action(b.action_at());
  uint64_t page = 0;
  for (int i = 0; i < b.page_step_size(); ++i) {
    // Modulo 2^64: pages outside are above kMaxPage.
    page += static_cast<uint64_t>(b.page_step(i));
    if (page >= kMaxPage) {
      return WrongColumn("pages.page_step", "a page below 2^45", page);
    }
    if (static_cast<uint64_t>(i) != action.next) continue;
    const int at = action.index;
    RETURN_IF_ERROR(
        CheckPagesEnd("pages.action_pages", page, b.action_pages(at)));
    RETURN_IF_ERROR(
        CheckPagesEnd("pages.moved_to", b.moved_to(at), b.action_pages(at)));
    action.Advance();
  }
  return absl::OkStatus();
}

// PAGE_CAME is the default and is never stated.
absl::Status CheckActions(const PageBatch& b) {
  for (const int action : b.action()) {
    if (!PageAction_IsValid(action) || action == PAGE_CAME) {
      return WrongColumn("pages.action", absl::StrCat("1 to ", PageAction_MAX),
                         action);
    }
  }
  return absl::OkStatus();
}

}  // namespace

PageBatchEncoder::PageBatchEncoder(size_t max_entries)
    : first_us_(&record_, PageBatch::kFirstUsFieldNumber),
      page_step_(&record_, PageBatch::kPageStepFieldNumber,
                 max_entries * kMaxVarintBytes),
      time_at_(&record_, PageBatch::kTimeAtFieldNumber, max_entries),
      time_step_(&record_, PageBatch::kTimeStepFieldNumber,
                 max_entries * kMaxVarintBytes),
      thread_(&record_, PageBatch::kThreadAtFieldNumber,
              PageBatch::kThreadFieldNumber, max_entries),
      stack_(&record_, PageBatch::kStackAtFieldNumber,
             PageBatch::kStackFieldNumber, max_entries),
      code_(&record_, PageBatch::kCodeAtFieldNumber,
            PageBatch::kCodeFieldNumber, max_entries),
      action_at_(&record_, PageBatch::kActionAtFieldNumber, max_entries),
      action_(&record_, PageBatch::kActionFieldNumber, max_entries),
      action_pages_(&record_, PageBatch::kActionPagesFieldNumber,
                    max_entries * kMaxVarintBytes),
      moved_to_(&record_, PageBatch::kMovedToFieldNumber,
                max_entries * kMaxVarintBytes),
      inferred_at_(&record_, PageBatch::kInferredAtFieldNumber, max_entries),
      weight_(&record_, PageBatch::kWeightFieldNumber),
      certain_at_(&record_, PageBatch::kCertainAtFieldNumber, max_entries),
      mapping_(&record_, PageBatch::kMappingAtFieldNumber,
               PageBatch::kMappingFieldNumber, max_entries),
      collecting_at_(&record_, PageBatch::kCollectingAtFieldNumber,
                     max_entries) {}

// States the value of this entry if it is another one than that of the last.
// Row 0 always states it, so nothing need be cleared between batches.
void PageBatchEncoder::State(uint32_t value, Lasting* column) {
  if (entries_ != 0 && column->last == value) return;
  column->at.Append(entries_);
  column->value.Append(value);
  column->last = value;
}

// The addresses are differences from the last entry's page. Pages that come one
// after the other, as in a loop over an array, so take one byte each.
void PageBatchEncoder::Append(const PageEntry& entry) {
  page_step_.Append(ZigZag(static_cast<int64_t>(entry.page - last_page_)));
  last_page_ = entry.page;
  if (entries_ == 0) {
    first_us_.value = last_us_ = entry.time_us;
  } else if (entry.time_us != last_us_) {
    time_at_.Append(entries_);
    time_step_.Append(entry.time_us - last_us_);
    last_us_ = entry.time_us;
  }
  State(entry.thread, &thread_);
  State(entry.stack, &stack_);
  State(entry.code_mapping, &code_);
  if (entry.action != PAGE_CAME) {
    action_at_.Append(entries_);
    action_.Append(entry.action);
    action_pages_.Append(entry.pages);
    moved_to_.Append(entry.moved_to);
  }
  if (entry.inferred) inferred_at_.Append(entries_);
  if (entry.collecting) collecting_at_.Append(entries_);
  // Only a page that comes has a weight and a mapping.
  if (IsComing(entry.action)) {
    if (entry.weight < weight_.value) certain_at_.Append(entries_);
    if (entry.mapping != mapping_.last) {
      mapping_.at.Append(entries_);
      mapping_.value.Append(mapping_.last = entry.mapping);
    }
  }
  ++entries_;
}

// `last_page_` and the last mapping start at 0, as in the decoder.
void PageBatchEncoder::Clear() {
  record_.Clear();
  entries_ = 0;
  last_page_ = 0;
  mapping_.last = 0;
}

// Columns first, since the other checks index into them.
absl::Status PageBatchDecoder::Check(const PageBatch& batch, BatchIds* ids) {
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

PageBatchDecoder::PageBatchDecoder(const PageBatch& batch)
    : batch_(batch),
      time_(batch.time_at()),
      thread_(batch.thread_at()),
      stack_(batch.stack_at()),
      code_(batch.code_at()),
      action_(batch.action_at()),
      inferred_(batch.inferred_at()),
      certain_(batch.certain_at()),
      mapping_(batch.mapping_at()),
      collecting_(batch.collecting_at()),
      weight_(std::max<uint32_t>(1, batch.weight())) {
  last_.time_us = batch.first_us();
}

// Values that last are kept from entry to entry in `entry`. The mapping is kept
// apart, since entries that do not come show none but do not end it.
size_t PageBatchDecoder::Next(PageEntry* entries, size_t size) {
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
    entry.collecting = collecting_.Take(i);
    // In a sample of one page in N each page that came stands for N, apart from
    // those that were seen with certainty.
    entry.weight = !certain_.Take(i) && IsComing(entry.action) ? weight_ : 1;
    entries[i - begin] = entry;
  }
  last_ = entry;
  row_ = end;
  return static_cast<size_t>(end - begin);
}

}  // namespace pymemrun
