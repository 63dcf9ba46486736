#include "collector/batch_columns.h"

#include "collector/wire_put.h"
#include "format/trace.pb.h"

namespace pymemrun {
namespace {

constexpr size_t kMaxRowBytes = 3;  // a batch has fewer than 2^21 rows
constexpr size_t kMaxIdBytes = 5;
constexpr size_t kSlackBytes = 16;  // the hot loop stores whole words
constexpr size_t kScalarsBytes = 4 * (1 + kMaxVarintBytes);

}  // namespace

BatchColumns::BatchColumns(size_t max_rows)
    : site(max_rows * kMaxIdBytes + kSlackBytes),
      number_at(max_rows * kMaxRowBytes),
      number_skip(max_rows * kMaxVarintBytes),
      time_at(max_rows * kMaxRowBytes),
      time_step(max_rows * kMaxVarintBytes),
      thread_at(max_rows * kMaxRowBytes),
      thread(max_rows * kMaxIdBytes),
      rss_at(max_rows * kMaxRowBytes),
      rss_step(max_rows * kMaxVarintBytes),
      drss(max_rows * kMaxVarintBytes),
      context_at(max_rows * kMaxRowBytes),
      inexact_at(max_rows * kMaxRowBytes),
      stack(max_rows * kMaxIdBytes) {}

template <typename F>
void BatchColumns::ForEachSparse(F f) const {
  f(EventBatch::kNumberAtFieldNumber, number_at.steps());
  f(EventBatch::kNumberSkipFieldNumber, number_skip);
  f(EventBatch::kTimeAtFieldNumber, time_at.steps());
  f(EventBatch::kTimeStepFieldNumber, time_step);
  f(EventBatch::kThreadAtFieldNumber, thread_at.steps());
  f(EventBatch::kThreadFieldNumber, thread);
  f(EventBatch::kRssAtFieldNumber, rss_at.steps());
  f(EventBatch::kRssStepFieldNumber, rss_step);
  f(EventBatch::kDrssFieldNumber, drss);
  f(EventBatch::kContextAtFieldNumber, context_at.steps());
  f(EventBatch::kInexactAtFieldNumber, inexact_at.steps());
  f(EventBatch::kStackFieldNumber, stack);
}

size_t BatchColumns::size_bytes() const {
  size_t bytes = 2 * kMaxFieldHeadBytes + kScalarsBytes + site.size();
  ForEachSparse([&](int, const PackedColumn& column) {
    bytes += kMaxFieldHeadBytes + column.size();
  });
  return bytes;
}

absl::string_view BatchColumns::Serialize() {
  const size_t needed = size_bytes();
  if (record_capacity_ < needed) {
    record_capacity_ = needed + needed / 2;
    record_.reset(new uint8_t[record_capacity_]);
  }
  // The body first, behind the most room that its head can need.
  uint8_t* const body = record_.get() + kMaxFieldHeadBytes;
  uint8_t* out = PutColumn(body, EventBatch::kSiteFieldNumber, site);
  out = PutScalar(out, EventBatch::kFirstNumberFieldNumber, first_number);
  out = PutScalar(out, EventBatch::kFirstUsFieldNumber, first_us);
  out = PutScalar(out, EventBatch::kFirstThreadFieldNumber, first_thread);
  out = PutScalar(out, EventBatch::kFirstRssBytesFieldNumber, first_rss_bytes);
  ForEachSparse([&](int field, const PackedColumn& column) {
    out = PutColumn(out, field, column);
  });
  uint8_t* const begin =
      PutHeadBefore(body, Record::kEventsFieldNumber, out - body);
  return {reinterpret_cast<const char*>(begin),
          static_cast<size_t>(out - begin)};
}

void BatchColumns::Clear() {
  for (PackedColumn* column :
       {&site, &number_skip, &time_step, &thread, &rss_step, &drss, &stack}) {
    column->Clear();
  }
  for (RowColumn* column :
       {&number_at, &time_at, &thread_at, &rss_at, &context_at, &inexact_at}) {
    column->Clear();
  }
}

}  // namespace pymemrun
