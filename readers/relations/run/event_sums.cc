#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/relations/engine/relation_columns.h"
#include "readers/relations/run/run_relations.h"

namespace pymemrun {
namespace {

struct Sum {
  uint32_t site, thread;
  int64_t events = 0, drss_bytes = 0, grown_bytes = 0;
};

// Sums up all rows in one reading. SQL over `events` would pass each of
// millions of rows through SQLite.
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

struct SumRow {
  const Sum& of;
  const RunIndex& index;
  SourceLocation place;
};
constexpr ColumnOf<SumRow> kSumColumns[] = {
    {"what", kText, "CALL, RETURN, C_CALL, ...",
     [](const SumRow& row) { return RelationValue(WhatName(row.place.kind)); }},
    {"file", kText, "where",
     [](const SumRow& row) { return TextOrNot(row.place.file); }},
    {"line", kInteger, "where",
     [](const SumRow& row) { return IntegerOrNot(row.place.line); }},
    {"function", kText, "the function; for C events the C function",
     [](const SumRow& row) { return TextOrNot(row.place.function); }},
    {"module", kText, "module of the function",
     [](const SumRow& row) { return TextOrNot(row.place.module); }},
    {"thread", kText, "name#id",
     [](const SumRow& row) {
       return TextOrNot(row.index.LatestThreadLabel(row.of.thread));
     }},
    {"events", kInteger, "how many were logged",
     [](const SumRow& row) { return RelationValue(row.of.events); }},
    {"drss_bytes", kBytes, "the sum of their drss_bytes",
     [](const SumRow& row) { return RelationValue(row.of.drss_bytes); }},
    {"grown_bytes", kBytes, "the sum of their drss_bytes above 0",
     [](const SumRow& row) { return RelationValue(row.of.grown_bytes); }}};

// Rows are in the order in which their place and thread occur first.
class EventSums final : public NumberedRelation<SumRow> {
 public:
  explicit EventSums(const RelationRun* run)
      : NumberedRelation({"event_sums",
                          "what the events of a place and a thread come to, "
                          "without those of context: much faster than events",
                          kSumColumns}),
        run_(run) {}
  uint64_t expected_rows() override { return 1 << 10; }
  std::string Missing() override { return run_->Lacks(Recorded::kCalls); }

 private:
  absl::StatusOr<uint64_t> End() override {
    if (!was_read_) {
      SumReader reader;
      if (!run_->file()->ReadAgain(&reader)) return RelationRun::NotRead();
      sums_ = reader.Take();
    }
    was_read_ = true;
    return sums_.size();
  }
  SumRow RowAt(uint64_t number, std::string*) override {
    const Sum& sum = sums_[number];
    return {sum, run_->index(), run_->index().Resolve(sum.site)};
  }

  const RelationRun* const run_;
  std::vector<Sum> sums_;
  bool was_read_ = false;
};

}  // namespace

std::unique_ptr<Relation> EventSumsRelation(const RelationRun* run) {
  return std::make_unique<EventSums>(run);
}

}  // namespace pymemrun
