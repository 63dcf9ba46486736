#include "format/batches/event_batch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "format/limits.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

constexpr size_t kSlackBytes = 16;  // the hot loop stores whole words

// The columns are sums of differences. A hostile file could make such sums
// overflow, so each sum is checked before any row is returned.
absl::Status CheckRss(const EventBatch& batch) {
  uint64_t rss = batch.first_rss_bytes();
  if (rss > kMaxSizeBytes)
    return WrongColumn("events.first_rss_bytes", "a size", rss);
  for (const int64_t step : batch.rss_step()) {
    rss += static_cast<uint64_t>(step);
    if (rss > kMaxSizeBytes)
      return WrongColumn("events.rss_step", "a size as the sum", rss);
  }
  return absl::OkStatus();
}

// Numbers rise within a batch and from batch to batch: each row's is one more
// than the last one's, plus what was skipped. Times only rise, too. Both sums
// are checked here once, so that the decoder need not look for overflow.
absl::Status CheckNumbers(const EventBatch& batch, uint64_t next_number,
                          uint64_t* end_number) {
  const uint64_t rows = static_cast<uint64_t>(batch.site_size());
  if (rows == 0) {
    *end_number = next_number;
    return absl::OkStatus();
  }
  if (batch.first_number() < next_number) {
    return WrongColumn("events.first_number",
                       absl::StrCat(next_number, " or more"),
                       batch.first_number());
  }
  uint64_t number = batch.first_number();
  RETURN_IF_ERROR(AddAll("events.number_skip", batch.number_skip(), &number));
  if (__builtin_add_overflow(number, rows, &number)) {
    return WrongColumn("events.first_number", "numbers of 64 bits",
                       batch.first_number());
  }
  *end_number = number;
  uint64_t time = batch.first_us();
  return AddAll("events.time_step", batch.time_step(), &time);
}

// Number, time and RSS of a row, as the sums of the difference columns up to
// it. Rows are visited in order, so all rows together cost one pass.
class RowSums {
 public:
  // REQUIRES: the batch's columns are good.
  explicit RowSums(const EventBatch& batch)
      : batch_(batch),
        number_(batch.number_at()),
        time_(batch.time_at()),
        rss_(batch.rss_at()),
        skipped_(batch.first_number()),
        time_us_(batch.first_us()),
        rss_bytes_(batch.first_rss_bytes()) {}

  // REQUIRES: `row` is not below that of the last call.
  void AdvanceTo(uint64_t row) {
    row_ = row;
    for (; number_.next <= row; number_.Advance()) {
      skipped_ += batch_.number_skip(number_.index);
    }
    for (; time_.next <= row; time_.Advance()) {
      time_us_ += batch_.time_step(time_.index);
    }
    for (; rss_.next <= row; rss_.Advance()) {
      rss_bytes_ += static_cast<uint64_t>(batch_.rss_step(rss_.index));
    }
  }
  uint64_t number() const { return skipped_ + row_; }
  uint64_t time_us() const { return time_us_; }
  uint64_t rss_bytes() const { return rss_bytes_; }

 private:
  const EventBatch& batch_;
  SparseCursor number_, time_, rss_;
  uint64_t row_ = 0, skipped_, time_us_, rss_bytes_;
};

// A RETURN says how many events, how much time and how much RSS lie between it
// and its CALL. The CALL must then be an event that can exist: not before event
// 0, not before time 0, and with an RSS that is a size. REQUIRES: all other
// columns are good.
absl::Status CheckCalls(const EventBatch& b) {
  const uint64_t rows = static_cast<uint64_t>(b.site_size());
  RETURN_IF_ERROR(CheckAt("events.call_at", b.call_at(), 0, rows));
  RETURN_IF_ERROR(CheckLength("events.call_events", b.call_at_size(),
                              b.call_events_size()));
  RETURN_IF_ERROR(
      CheckLength("events.call_us", b.call_at_size(), b.call_us_size()));
  RETURN_IF_ERROR(
      CheckLength("events.call_drss", b.call_at_size(), b.call_drss_size()));
  RowSums at(b);
  for (SparseCursor call(b.call_at()); call.next != SparseCursor::kNoRow;
       call.Advance()) {
    at.AdvanceTo(call.next);
    const uint64_t events = b.call_events(call.index);
    if (events == 0 || events > at.number()) {
      return WrongColumn("events.call_events",
                         absl::StrCat("1 to ", at.number()), events);
    }
    const uint64_t us = b.call_us(call.index);
    if (us > at.time_us()) {
      return WrongColumn("events.call_us",
                         absl::StrCat("at most ", at.time_us()), us);
    }
    const int64_t drss = b.call_drss(call.index);
    if (at.rss_bytes() - static_cast<uint64_t>(drss) > kMaxSizeBytes) {
      return WrongColumn("events.call_drss", "a change from a size", drss);
    }
  }
  return absl::OkStatus();
}

// Checks all lengths first. Afterwards the values can be read by index without
// a check of each. `number_at` and `time_at` begin at row 1, because row 0 has
// first_number and first_us.
absl::Status CheckColumns(const EventBatch& b) {
  const uint64_t rows = static_cast<uint64_t>(b.site_size());
  RETURN_IF_ERROR(CheckAt("events.number_at", b.number_at(), 1, rows));
  RETURN_IF_ERROR(CheckAt("events.time_at", b.time_at(), 1, rows));
  RETURN_IF_ERROR(CheckAt("events.thread_at", b.thread_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("events.rss_at", b.rss_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("events.context_at", b.context_at(), 0, rows));
  RETURN_IF_ERROR(CheckAt("events.inexact_at", b.inexact_at(), 0, rows));
  RETURN_IF_ERROR(CheckLength("events.number_skip", b.number_at_size(),
                              b.number_skip_size()));
  RETURN_IF_ERROR(
      CheckLength("events.time_step", b.time_at_size(), b.time_step_size()));
  RETURN_IF_ERROR(
      CheckLength("events.thread", b.thread_at_size(), b.thread_size()));
  RETURN_IF_ERROR(
      CheckLength("events.rss_step", b.rss_at_size(), b.rss_step_size()));
  RETURN_IF_ERROR(CheckLength("events.drss", b.rss_at_size(), b.drss_size()));
  if (b.stack_size() != 0) {
    RETURN_IF_ERROR(CheckLength("events.stack", b.site_size(), b.stack_size()));
  }
  return absl::OkStatus();
}

}  // namespace

EventBatchEncoder::EventBatchEncoder(size_t max_rows)
    : site_(&record_, EventBatch::kSiteFieldNumber,
            max_rows * kMaxIdBytes + kSlackBytes),
      first_number_(&record_, EventBatch::kFirstNumberFieldNumber),
      first_us_(&record_, EventBatch::kFirstUsFieldNumber),
      first_thread_(&record_, EventBatch::kFirstThreadFieldNumber),
      first_rss_bytes_(&record_, EventBatch::kFirstRssBytesFieldNumber),
      number_at_(&record_, EventBatch::kNumberAtFieldNumber, max_rows),
      number_skip_(&record_, EventBatch::kNumberSkipFieldNumber,
                   max_rows * kMaxVarintBytes),
      time_at_(&record_, EventBatch::kTimeAtFieldNumber, max_rows),
      time_step_(&record_, EventBatch::kTimeStepFieldNumber,
                 max_rows * kMaxVarintBytes),
      thread_at_(&record_, EventBatch::kThreadAtFieldNumber, max_rows),
      thread_(&record_, EventBatch::kThreadFieldNumber, max_rows * kMaxIdBytes),
      rss_at_(&record_, EventBatch::kRssAtFieldNumber, max_rows),
      rss_step_(&record_, EventBatch::kRssStepFieldNumber,
                max_rows * kMaxVarintBytes),
      drss_(&record_, EventBatch::kDrssFieldNumber, max_rows * kMaxVarintBytes),
      context_at_(&record_, EventBatch::kContextAtFieldNumber, max_rows),
      inexact_at_(&record_, EventBatch::kInexactAtFieldNumber, max_rows),
      stack_(&record_, EventBatch::kStackFieldNumber, max_rows * kMaxIdBytes),
      call_at_(&record_, EventBatch::kCallAtFieldNumber, max_rows),
      call_events_(&record_, EventBatch::kCallEventsFieldNumber,
                   max_rows * kMaxVarintBytes),
      call_us_(&record_, EventBatch::kCallUsFieldNumber,
               max_rows * kMaxVarintBytes),
      call_drss_(&record_, EventBatch::kCallDrssFieldNumber,
                 max_rows * kMaxVarintBytes) {}

void EventBatchEncoder::Begin(uint64_t number, uint64_t time_us,
                              uint32_t thread, uint64_t rss_bytes) {
  first_number_.value = number;
  first_us_.value = time_us;
  first_thread_.value = thread;
  first_rss_bytes_.value = rss_bytes;
}

// The stack column is dense if it exists: rows without a stack have 0.
void EventBatchEncoder::PadStacks(uint32_t rows) {
  for (; stack_rows_ < rows; ++stack_rows_) stack_.Append(0);
}

absl::string_view EventBatchEncoder::Serialize(uint32_t rows) {
  if (stack_rows_ > 0) PadStacks(rows);
  return record_.Serialize(Record::kEventsFieldNumber);
}

void EventBatchEncoder::Clear() {
  record_.Clear();
  stack_rows_ = 0;
}

// Columns first, since the other checks index into them; calls last, since they
// need the sums of all others.
absl::Status EventBatchDecoder::Check(const EventBatch& batch,
                                      uint64_t next_number, BatchIds* ids,
                                      uint64_t* end_number) {
  RETURN_IF_ERROR(CheckColumns(batch));
  RETURN_IF_ERROR(CheckNumbers(batch, next_number, end_number));
  RETURN_IF_ERROR(CheckRss(batch));
  RETURN_IF_ERROR(CheckCalls(batch));
  if (batch.site_size() != 0) {
    if (batch.first_thread() == 0)
      return WrongColumn("events.first_thread", "an id", 0);
    ids->thread = batch.first_thread();
  }
  RETURN_IF_ERROR(CheckIds("events.site", batch.site(), 1, &ids->site));
  RETURN_IF_ERROR(CheckIds("events.thread", batch.thread(), 1, &ids->thread));
  return CheckIds("events.stack", batch.stack(), 0, &ids->stack);
}

EventBatchDecoder::EventBatchDecoder(const EventBatch& batch,
                                     const std::vector<What>& site_what)
    : batch_(batch),
      site_what_(site_what),
      number_(batch.number_at()),
      time_(batch.time_at()),
      thread_(batch.thread_at()),
      rss_(batch.rss_at()),
      context_(batch.context_at()),
      inexact_(batch.inexact_at()),
      call_(batch.call_at()),
      last_{} {
  // One less, because each row adds 1.
  last_.number = batch.first_number() - 1;
  last_.time_us = batch.first_us();
  last_.rss_bytes = batch.first_rss_bytes();
  last_.thread = batch.first_thread();
}

// The entry is used up even if the row is no RETURN. After damage a placeholder
// stands for the site, and then its kind is not known.
void EventBatchDecoder::TakeCall(Row* row) {
  if (row->what == RETURN) {
    row->call_events = batch_.call_events(call_.index);
    row->call_us = batch_.call_us(call_.index);
    row->call_drss = batch_.call_drss(call_.index);
  }
  call_.Advance();
}

// The hot loop of every reader: some ten comparisons per row, and no virtual
// calls. A column is touched only at the rows that it lists; the rest of a row
// is that of the row before.
size_t EventBatchDecoder::Next(Row* rows, size_t size) {
  const auto batch_rows = static_cast<uint64_t>(batch_.site_size());
  const uint64_t begin = row_, end = std::min(batch_rows, row_ + size);
  const uint32_t* const sites = batch_.site().data();
  const bool stacks = batch_.stack_size() != 0;
  // Copies for registers: the compiler cannot know that `rows` does not alias
  // the members.
  SparseCursor number = number_, time = time_, rss = rss_;
  Row row = last_;
  for (uint64_t i = begin; i < end; ++i) {
    ++row.number;
    if (i == number.next) {
      row.number += batch_.number_skip(number.index);
      number.Advance();
    }
    if (i == time.next) {
      row.time_us += batch_.time_step(time.index);
      time.Advance();
    }
    row.drss_bytes = 0;
    if (i == rss.next) {
      row.rss_bytes += static_cast<uint64_t>(batch_.rss_step(rss.index));
      row.drss_bytes = batch_.drss(rss.index);
      rss.Advance();
    }
    if (i == thread_.next) {
      row.thread = batch_.thread(thread_.index);
      thread_.Advance();
    }
    row.context = context_.Take(i);
    row.exact = !inexact_.Take(i);
    row.site = sites[i];
    row.what = site_what_[row.site];
    if (stacks) row.stack = batch_.stack(static_cast<int>(i));
    rows[i - begin] = row;
    if (i == call_.next) TakeCall(&rows[i - begin]);
  }
  number_ = number, time_ = time, rss_ = rss, last_ = row;
  row_ = end;
  return static_cast<size_t>(end - begin);
}

}  // namespace pymemrun
