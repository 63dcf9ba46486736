#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

constexpr RelationColumn kColumns[] = {
    {"what", ValueKind::kText, Unit::kNone, "CALL, RETURN, C_CALL, ..."},
    {"file", ValueKind::kText, Unit::kNone, "where"},
    {"line", ValueKind::kInteger, Unit::kNone, "where"},
    {"function", ValueKind::kText, Unit::kNone, "of C events the C function"},
    {"module", ValueKind::kText, Unit::kNone, "of the function"},
    {"thread", ValueKind::kText, Unit::kNone, "name#id"},
    {"events", ValueKind::kInteger, Unit::kNone, "how many were logged"},
    {"drss_bytes", ValueKind::kInteger, Unit::kBytes, "the sum of theirs"},
    {"grown_bytes", ValueKind::kInteger, Unit::kBytes,
     "the sum of those above 0"}};

struct Sum {
  uint32_t site, thread;
  int64_t events = 0, drss_bytes = 0, grown_bytes = 0;
};

// One reading of all rows.
class SumReader final : public RecordVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  bool OnRows(const Row* rows, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      if (rows[i].context) continue;  // not logged for its own sake
      Sum& sum = SumOf(rows[i]);
      ++sum.events;
      sum.drss_bytes += rows[i].drss_bytes;
      sum.grown_bytes += std::max<int64_t>(rows[i].drss_bytes, 0);
    }
    return true;
  }
  std::vector<Sum> Take() { return std::move(sums_); }

 private:
  Sum& SumOf(const Row& row) {
    const auto [found, is_new] =
        numbers_.try_emplace(std::pair(row.site, row.thread), sums_.size());
    if (is_new) sums_.push_back({row.site, row.thread});
    return sums_[found->second];
  }

  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, size_t> numbers_;
  std::vector<Sum> sums_;
};

class SumCursor final : public RowCursor {
 public:
  SumCursor(const RunIndex* index, const std::vector<Sum>* sums)
      : index_(*index), sums_(*sums) {}
  absl::StatusOr<bool> Next() override { return ++at_ < sums_.size(); }
  RelationValue At(int column) override {
    const Sum& sum = sums_[at_];
    const SourceLocation place = index_.Resolve(sum.site);
    switch (column) {
      case 0:
        return WhatName(place.kind);
      case 1:
        return TextOrNot(place.file);
      case 2:
        return IntegerOrNot(place.line);
      case 3:
        return TextOrNot(place.function);
      case 4:
        return TextOrNot(place.module);
      case 5:
        return TextOrNot(index_.LatestThreadLabel(sum.thread));
      case 6:
        return sum.events;
      case 7:
        return sum.drss_bytes;
      default:
        return sum.grown_bytes;
    }
  }

 private:
  const RunIndex& index_;
  const std::vector<Sum>& sums_;
  size_t at_ = SIZE_MAX;
};

class EventSums final : public Relation {
 public:
  explicit EventSums(const RelationRun* run) : run_(run) {}
  const char* name() const override { return "event_sums"; }
  const char* about() const override {
    return "what the events of a place and a thread come to, without those of "
           "context: much faster than events";
  }
  absl::Span<const RelationColumn> columns() const override { return kColumns; }
  uint64_t expected_rows() override { return 1 << 10; }
  std::unique_ptr<RowCursor> Rows() override {
    if (!was_read_) {
      SumReader reader;
      run_->file()->ReadAgain(&reader);
      sums_ = reader.Take();
    }
    was_read_ = true;
    return std::make_unique<SumCursor>(&run_->index(), &sums_);
  }
  std::string Missing() override {
    return run_->header().calls_off()
               ? "has no calls: it was not made with --trace calls"
               : "";
  }

 private:
  const RelationRun* const run_;
  std::vector<Sum> sums_;
  bool was_read_ = false;
};

}  // namespace

std::unique_ptr<Relation> EventSumsRelation(const RelationRun* run) {
  return std::make_unique<EventSums>(run);
}

}  // namespace pymemrun
