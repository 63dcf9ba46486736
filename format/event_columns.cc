#include "format/event_columns.h"

#include <cstddef>
#include <cstdint>

namespace pymemrun {
namespace {

// States a row in a column of distances.
class AtColumn {
 public:
  explicit AtColumn(google::protobuf::RepeatedField<uint32_t>* at) : at_(at) {}
  void Add(size_t row) {
    at_->Add(static_cast<uint32_t>(row - last_));
    last_ = row;
  }

 private:
  google::protobuf::RepeatedField<uint32_t>* const at_;
  size_t last_ = 0;
};

}  // namespace

void EncodeRows(absl::Span<const Row> rows, bool stacks, EventBatch* batch) {
  batch->Clear();
  if (rows.empty()) return;
  batch->set_first_number(rows[0].number);
  batch->set_first_us(rows[0].time_us);
  batch->set_first_thread(rows[0].thread);
  batch->set_first_rss_bytes(rows[0].rss_bytes);
  AtColumn number_at(batch->mutable_number_at());
  AtColumn time_at(batch->mutable_time_at());
  AtColumn thread_at(batch->mutable_thread_at());
  AtColumn rss_at(batch->mutable_rss_at());
  AtColumn context_at(batch->mutable_context_at());
  AtColumn inexact_at(batch->mutable_inexact_at());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const Row& last = rows[i == 0 ? 0 : i - 1];
    batch->add_site(row.site);
    if (stacks) batch->add_stack(row.stack);
    if (i != 0 && row.number != last.number + 1) {
      number_at.Add(i);
      batch->add_number_skip(row.number - last.number - 1);
    }
    if (row.time_us != last.time_us) {
      time_at.Add(i);
      batch->add_time_step(row.time_us - last.time_us);
    }
    if (row.thread != last.thread) {
      thread_at.Add(i);
      batch->add_thread(row.thread);
    }
    if (row.rss_bytes != last.rss_bytes || row.drss_bytes != 0) {
      rss_at.Add(i);
      batch->add_rss_step(static_cast<int64_t>(row.rss_bytes - last.rss_bytes));
      batch->add_drss(row.drss_bytes);
    }
    if (row.context) context_at.Add(i);
    if (!row.exact) inexact_at.Add(i);
  }
}

}  // namespace pymemrun
