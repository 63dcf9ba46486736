// Batches of rows and entries that are all there. For tests only.
#ifndef PYMEMRUN_FORMAT_BATCHES_ENCODE_BATCH_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_BATCHES_ENCODE_BATCH_FOR_TESTS_H_

#include <algorithm>

#include "absl/types/span.h"
#include "format/batches/event_batch.h"
#include "format/batches/page_batch.h"

namespace pymemrun {

// A batch of these rows; with `stacks` each row's stack is stored.
// REQUIRES: numbers rise, times do not sink.
inline Record EncodeRows(absl::Span<const Row> rows, bool stacks) {
  Record record;
  record.mutable_events();
  if (rows.empty()) return record;
  EventBatchEncoder encoder(rows.size());
  Row last = rows[0];
  encoder.Begin(last.number, last.time_us, last.thread, last.rss_bytes);
  --last.number;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    encoder.set_site_end(PutVarint(encoder.site_end(), row.site));
    const uint64_t skip = row.number - last.number - 1;
    if (skip != 0) encoder.SkipNumbers(i, skip);
    const uint64_t step_us = row.time_us - last.time_us;
    if (step_us != 0) encoder.StepTime(i, step_us);
    if (row.thread != last.thread) encoder.SetThread(i, row.thread);
    const auto step = static_cast<int64_t>(row.rss_bytes - last.rss_bytes);
    if (step != 0 || row.drss_bytes != 0) {
      encoder.StepRss(i, step, row.drss_bytes);
    }
    if (row.context) encoder.SetContext(i);
    if (!row.exact) encoder.SetInexact(i);
    if (stacks) encoder.SetStack(i, row.stack);
    if (row.call_events != 0) {
      encoder.SetCall(i, row.call_events, row.call_us, row.call_drss);
    }
    last = row;
  }
  const absl::string_view bytes =
      encoder.Serialize(static_cast<uint32_t>(rows.size()));
  record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  return record;
}

// A batch of these entries. Its weight is the highest.
// REQUIRES: times do not sink; what came has that weight or 1.
inline Record EncodePages(absl::Span<const PageEntry> entries) {
  PageBatchEncoder encoder(entries.size());
  uint32_t weight = 1;
  for (const PageEntry& entry : entries) {
    if (IsComing(entry.action)) weight = std::max(weight, entry.weight);
  }
  encoder.set_weight(weight);
  for (const PageEntry& entry : entries) encoder.Append(entry);
  const absl::string_view bytes = encoder.Serialize();
  Record record;
  record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  return record;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_ENCODE_BATCH_FOR_TESTS_H_
