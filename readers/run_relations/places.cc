#include <cmath>

#include "readers/answer/answer.h"
#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

constexpr RelationColumn kColumns[] = {
    {"moment", ValueKind::kText, Unit::kNone, "peak or end"},
    {"file", ValueKind::kText, Unit::kNone, "of the line"},
    {"line", ValueKind::kInteger, Unit::kNone, "the line"},
    {"own", ValueKind::kInteger, Unit::kNone, "1: it is your own code"},
    {"bytes", ValueKind::kInteger, Unit::kBytes, "what it holds of RSS"},
    {"error_bytes", ValueKind::kInteger, Unit::kBytes,
     "one standard error, where some were sampled"},
    {"file_bytes", ValueKind::kInteger, Unit::kBytes, "of bytes: of files"},
    {"pool_bytes", ValueKind::kInteger, Unit::kBytes,
     "of bytes: in pools that libraries keep"},
    {"mapped_bytes", ValueKind::kInteger, Unit::kBytes,
     "of bytes: mapped by C code"},
    {"kept_by", ValueKind::kText, Unit::kNone, "the library that keeps most"},
    {"called", ValueKind::kText, Unit::kNone,
     "the library's function that the line called for most of it"},
    {"thread", ValueKind::kText, Unit::kNone,
     "the thread that did nearly all of it"}};

RelationValue WholeBytes(double bytes) {
  return static_cast<int64_t>(std::llround(bytes));
}

class PlaceCursor final : public RowCursor {
 public:
  // Null: nothing could be read.
  explicit PlaceCursor(const Answer* answer) : answer_(answer) {}
  absl::StatusOr<bool> Next() override {
    if (answer_ == nullptr) {
      return absl::FailedPreconditionError("places: nothing could be read");
    }
    ++at_;
    const size_t peak = answer_->peak.split.places.size();
    is_end_ = at_ >= peak;
    if (!is_end_) {
      place_ = &answer_->peak.split.places[at_];
      return true;
    }
    if (at_ - peak >= answer_->end.split.places.size()) return false;
    place_ = &answer_->end.split.places[at_ - peak];
    return true;
  }
  RelationValue At(int column) override {
    const PlaceHolding& of = *place_;
    switch (column) {
      case 0:
        return is_end_ ? "end" : "peak";
      case 1:
        return TextOrNot(of.place.file);
      case 2:
        return IntegerOrNot(of.place.line);
      case 3:
        return IntegerOf(of.is_own);
      case 4:
        return WholeBytes(of.bytes);
      case 5:
        return WholeBytes(std::sqrt(of.variance));
      case 6:
        return WholeBytes(of.file_bytes);
      case 7:
        return WholeBytes(of.pool_bytes);
      case 8:
        return WholeBytes(of.mapped_bytes);
      case 9:
        return TextOrNot(of.kept_by);
      case 10:
        return TextOrNot(of.called);
      default:
        return TextOrNot(of.thread);
    }
  }

 private:
  const Answer* const answer_;
  size_t at_ = SIZE_MAX;
  bool is_end_ = false;
  const PlaceHolding* place_ = nullptr;
};

class Places final : public Relation {
 public:
  explicit Places(RelationRun* run) : run_(run) {}
  const char* name() const override { return "places"; }
  const char* about() const override {
    return "a line, and what it holds of RSS: as the report has it";
  }
  absl::Span<const RelationColumn> columns() const override { return kColumns; }
  uint64_t expected_rows() override { return 1000; }
  std::unique_ptr<RowCursor> Rows() override {
    if (!was_read_) answer_ = ReadAnswer(run_->file(), /*with_curves=*/false);
    was_read_ = true;
    return std::make_unique<PlaceCursor>(answer_.get());
  }

 private:
  RelationRun* const run_;
  std::unique_ptr<Answer> answer_;
  bool was_read_ = false;
};

}  // namespace

std::unique_ptr<Relation> PlacesRelation(RelationRun* run) {
  return std::make_unique<Places>(run);
}

}  // namespace pymemrun
