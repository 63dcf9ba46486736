// Codec of PageBatch: page events to columns and back. The collector and tests
// encode; RecordDecoder decodes.
#ifndef PYMEMRUN_FORMAT_BATCHES_PAGE_BATCH_H_
#define PYMEMRUN_FORMAT_BATCHES_PAGE_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/batches/page_event.h"
#include "format/batches/sparse_column.h"
#include "format/batches/wire_record.h"

namespace pymemrun {

// Not thread-safe.
class PageBatchEncoder {
 public:
  static constexpr uint32_t kMaxEntries = 1u << 16;

  // REQUIRES: max_entries is below 2^21, and no batch has more entries.
  explicit PageBatchEncoder(size_t max_entries = kMaxEntries);

  // Adds an entry. Times must not fall. A page that became resident with a
  // weight below that of set_weight() stands only for itself.
  void Append(const PageEntry& entry);
  uint32_t entries() const { return entries_; }
  // REQUIRES: weight >= 1, and there are no entries.
  void set_weight(uint32_t weight) { weight_.value = weight > 1 ? weight : 0; }
  uint32_t weight() const {
    return weight_.value == 0 ? 1 : static_cast<uint32_t>(weight_.value);
  }
  // Returns the batch as a serialised pymemrun.Record, valid until the next
  // call.
  absl::string_view Serialize() {
    return record_.Serialize(Record::kPagesFieldNumber);
  }
  void Clear();

 private:
  // A value that holds until another is stated.
  struct Lasting {
    Lasting(WireRecord* record, int at_number, int number, size_t max_entries)
        : at(record, at_number, max_entries),
          value(record, number, max_entries * kMaxIdBytes) {}
    RowColumn at;
    PackedColumn value;
    uint32_t last = 0;
  };
  void State(uint32_t value, Lasting* column);

  uint32_t entries_ = 0;
  uint64_t last_us_ = 0;
  uint64_t last_page_ = 0;

  WireRecord record_;
  // What stands in PageBatch under these names.
  WireScalar first_us_;
  PackedColumn page_step_;
  RowColumn time_at_;
  PackedColumn time_step_;
  Lasting thread_, stack_, code_;
  RowColumn action_at_;
  PackedColumn action_, action_pages_, moved_to_;
  RowColumn inferred_at_;
  WireScalar weight_;
  RowColumn certain_at_;
  Lasting mapping_;
  RowColumn collecting_at_;
};

// Returns the entries of a batch in portions. The batch must outlive it.
class PageBatchDecoder {
 public:
  // Checks lengths of parallel columns, distances, overflow and ranges of
  // pages. Does not check whether ids are defined. Fails with kDataLoss.
  static absl::Status Check(const PageBatch& batch, BatchIds* ids);

  // REQUIRES: Check() succeeded, and all ids are defined.
  explicit PageBatchDecoder(const PageBatch& batch);
  // Fills up to `size` entries. Returns the number filled, 0 at the end.
  size_t Next(PageEntry* entries, size_t size);

 private:
  const PageBatch& batch_;
  SparseCursor time_, thread_, stack_, code_, action_, inferred_, certain_,
      mapping_, collecting_;
  const uint32_t weight_;
  uint32_t last_mapping_ = 0;
  uint64_t row_ = 0;
  PageEntry last_ = {};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_PAGE_BATCH_H_
