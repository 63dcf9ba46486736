// The columns of one PageBatch while it fills, kept as packed varints.
#ifndef PYMEMRUN_COLLECTOR_PAGE_COLUMNS_H_
#define PYMEMRUN_COLLECTOR_PAGE_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "collector/batch_columns.h"

namespace pymemrun {

// One page that came, or a range of pages that something happened to; as in
// trace.proto.
struct PageRow {
  uint64_t time_us;  // not below that of the entry before
  uint64_t page;
  uint32_t thread;
  uint32_t stack;
  uint32_t code;
  uint32_t action;  // PageAction
  uint64_t pages;   // of any but PAGE_CAME
  uint64_t moved_to;
  bool inferred;
  uint32_t mapping;  // of what comes; 0: not known
  // Recorded in any case: its pages do not stand for `weight` of them.
  bool certain;
};

// Not thread safe.
class PageColumns {
 public:
  // REQUIRES: at most kMaxEntries between two calls of Clear().
  void Append(const PageRow& entry);
  static constexpr uint32_t kMaxEntries = 1u << 16;

  uint32_t entries() const { return entries_; }
  // How many each page stands for that came and is not certain. REQUIRES: there
  // are no entries.
  void set_weight(uint32_t weight) { weight_ = weight; }
  // The batch as a serialised pymemrun.Record, valid until the next call.
  absl::string_view Serialize();
  void Clear();

 private:
  // A value that holds until another is stated.
  struct Lasting {
    RowColumn at{kMaxEntries * 3};
    PackedColumn value{kMaxEntries * 5};
    uint32_t last = 0;
  };
  void State(uint32_t value, Lasting* column);
  template <typename F>
  void ForEach(F f) const;
  template <typename F>
  void ForEachBehind(F f) const;

  uint32_t entries_ = 0;
  uint64_t first_us_ = 0;
  uint64_t last_us_ = 0;
  uint64_t last_page_ = 0;
  PackedColumn page_step_{kMaxEntries * 10};
  RowColumn time_at_{kMaxEntries * 3};
  PackedColumn time_step_{kMaxEntries * 10};
  Lasting thread_, stack_, code_;
  RowColumn action_at_{kMaxEntries * 3};
  PackedColumn action_{kMaxEntries};
  PackedColumn action_pages_{kMaxEntries * 10};
  PackedColumn moved_to_{kMaxEntries * 10};
  RowColumn inferred_at_{kMaxEntries * 3};
  uint32_t weight_ = 1;
  RowColumn certain_at_{kMaxEntries * 3};
  Lasting mapping_;

  size_t record_capacity_ = 0;
  std::unique_ptr<uint8_t[]> record_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGE_COLUMNS_H_
