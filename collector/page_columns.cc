#include "collector/page_columns.h"

#include "collector/wire_put.h"
#include "format/page_event.h"
#include "format/trace.pb.h"

namespace pymemrun {

void PageColumns::State(uint32_t value, Lasting* column) {
  if (entries_ != 0 && column->last == value) return;
  column->at.Append(entries_);
  column->value.Append(value);
  column->last = value;
}

void PageColumns::Append(const PageRow& entry) {
  page_step_.Append(ZigZag(static_cast<int64_t>(entry.page - last_page_)));
  last_page_ = entry.page;
  if (entries_ == 0) {
    first_us_ = last_us_ = entry.time_us;
  } else if (entry.time_us != last_us_) {
    time_at_.Append(entries_);
    time_step_.Append(entry.time_us - last_us_);
    last_us_ = entry.time_us;
  }
  State(entry.thread, &thread_);
  State(entry.stack, &stack_);
  State(entry.code, &code_);
  if (entry.action != PAGE_CAME) {
    action_at_.Append(entries_);
    action_.Append(entry.action);
    action_pages_.Append(entry.pages);
    moved_to_.Append(entry.moved_to);
  }
  if (entry.inferred) inferred_at_.Append(entries_);
  if (entry.certain && weight_ > 1) certain_at_.Append(entries_);
  if (IsComing(static_cast<PageAction>(entry.action)) &&
      entry.mapping != mapping_.last) {
    mapping_.at.Append(entries_);
    mapping_.value.Append(mapping_.last = entry.mapping);
  }
  ++entries_;
}

// In the order of the fields; first_us stands before them, weight and the
// columns of ForEachBehind() behind them.
template <typename F>
void PageColumns::ForEach(F f) const {
  f(PageBatch::kPageStepFieldNumber, page_step_);
  f(PageBatch::kTimeAtFieldNumber, time_at_.steps());
  f(PageBatch::kTimeStepFieldNumber, time_step_);
  f(PageBatch::kThreadAtFieldNumber, thread_.at.steps());
  f(PageBatch::kThreadFieldNumber, thread_.value);
  f(PageBatch::kStackAtFieldNumber, stack_.at.steps());
  f(PageBatch::kStackFieldNumber, stack_.value);
  f(PageBatch::kCodeAtFieldNumber, code_.at.steps());
  f(PageBatch::kCodeFieldNumber, code_.value);
  f(PageBatch::kActionAtFieldNumber, action_at_.steps());
  f(PageBatch::kActionFieldNumber, action_);
  f(PageBatch::kActionPagesFieldNumber, action_pages_);
  f(PageBatch::kMovedToFieldNumber, moved_to_);
  f(PageBatch::kInferredAtFieldNumber, inferred_at_.steps());
}

template <typename F>
void PageColumns::ForEachBehind(F f) const {
  f(PageBatch::kCertainAtFieldNumber, certain_at_.steps());
  f(PageBatch::kMappingAtFieldNumber, mapping_.at.steps());
  f(PageBatch::kMappingFieldNumber, mapping_.value);
}

absl::string_view PageColumns::Serialize() {
  size_t needed =
      kMaxFieldHeadBytes + 3 * (kMaxFieldHeadBytes + kMaxVarintBytes);
  const auto add = [&](int, const PackedColumn& column) {
    needed += kMaxFieldHeadBytes + column.size();
  };
  ForEach(add);
  ForEachBehind(add);
  if (record_capacity_ < needed) {
    record_capacity_ = needed + needed / 2;
    record_.reset(new uint8_t[record_capacity_]);
  }
  uint8_t* const body = record_.get() + kMaxFieldHeadBytes;
  uint8_t* out = PutScalar(body, PageBatch::kFirstUsFieldNumber, first_us_);
  const auto put = [&](int field, const PackedColumn& column) {
    out = PutColumn(out, field, column);
  };
  ForEach(put);
  if (weight_ > 1) {
    out = PutScalar(out, PageBatch::kWeightFieldNumber, weight_);
  }
  ForEachBehind(put);
  uint8_t* const begin =
      PutHeadBefore(body, Record::kPagesFieldNumber, out - body);
  return {reinterpret_cast<const char*>(begin),
          static_cast<size_t>(out - begin)};
}

void PageColumns::Clear() {
  entries_ = 0;
  last_page_ = 0;
  mapping_.last = 0;
  for (PackedColumn* column :
       {&page_step_, &time_step_, &thread_.value, &stack_.value, &code_.value,
        &action_, &action_pages_, &moved_to_, &mapping_.value}) {
    column->Clear();
  }
  for (RowColumn* column :
       {&time_at_, &thread_.at, &stack_.at, &code_.at, &action_at_,
        &inferred_at_, &certain_at_, &mapping_.at}) {
    column->Clear();
  }
}

}  // namespace pymemrun
