#include <cmath>
#include <vector>

#include "readers/answer/memory/answer.h"
#include "readers/relations/engine/relation_columns.h"
#include "readers/relations/run/run_relations.h"

namespace pymemrun {
namespace {

struct PlaceRow {
  const PlaceHolding& of;
  bool is_end;
};

RelationValue WholeBytes(double bytes) {
  return static_cast<int64_t>(std::llround(bytes));
}

constexpr ColumnOf<PlaceRow> kPlaceColumns[] = {
    {"moment", kText, "peak or end",
     [](const PlaceRow& row) {
       return RelationValue(row.is_end ? "end" : "peak");
     }},
    {"file", kText, "file of the line",
     [](const PlaceRow& row) { return TextOrNot(row.of.place.file); }},
    {"line", kInteger, "the line",
     [](const PlaceRow& row) { return IntegerOrNot(row.of.place.line); }},
    {"own", kInteger, "1: it is your own code",
     [](const PlaceRow& row) { return IntegerOf(row.of.is_own); }},
    {"bytes", kBytes, "RSS that the line holds",
     [](const PlaceRow& row) { return WholeBytes(row.of.bytes); }},
    {"error_bytes", kBytes,
     "one standard error, if pages or blocks were sampled",
     [](const PlaceRow& row) {
       return WholeBytes(std::sqrt(row.of.variance));
     }},
    {"file_bytes", kBytes, "the part of bytes in pages of files",
     [](const PlaceRow& row) { return WholeBytes(row.of.file_bytes); }},
    {"pool_bytes", kBytes, "the part of bytes in pools that libraries keep",
     [](const PlaceRow& row) { return WholeBytes(row.of.pool_bytes); }},
    {"mapped_bytes", kBytes, "the part of bytes mapped by C code",
     [](const PlaceRow& row) { return WholeBytes(row.of.mapped_bytes); }},
    {"kept_by", kText, "the library that keeps most of the pools",
     [](const PlaceRow& row) { return TextOrNot(row.of.kept_by); }},
    {"called", kText,
     "the library's function that the line called for most of it",
     [](const PlaceRow& row) { return TextOrNot(row.of.called); }},
    {"thread", kText, "the thread that accounts for nearly all of it",
     [](const PlaceRow& row) { return TextOrNot(row.of.thread); }}};

// The rows are those of the command `report`, at both of its moments: first
// those of the peak.
class Places final : public NumberedRelation<PlaceRow> {
 public:
  explicit Places(RelationRun* run)
      : NumberedRelation({"places",
                          "a line, and the RSS that it holds at the peak and "
                          "at the end, as in the report",
                          kPlaceColumns}),
        run_(run) {}
  uint64_t expected_rows() override { return 1000; }
  std::string Missing() override {
    // Pages that were only scanned are some lines', too, as the answer has it.
    return run_->Lacks(Recorded::kPages).empty()
               ? ""
               : run_->Lacks(Recorded::kThreadMemory);
  }

 private:
  absl::StatusOr<uint64_t> End() override {
    if (!was_read_) answer_ = ReadAnswer(run_->file(), /*with_curves=*/false);
    was_read_ = true;
    if (answer_ == nullptr) {
      return absl::FailedPreconditionError("places: nothing could be read");
    }
    return AtPeak().size() + answer_->end.split.places.size();
  }
  PlaceRow RowAt(uint64_t number, std::string*) override {
    const size_t peak = AtPeak().size();
    if (number < peak) return {AtPeak()[number], false};
    return {answer_->end.split.places[number - peak], true};
  }
  const std::vector<PlaceHolding>& AtPeak() const {
    return answer_->peak.split.places;
  }

  RelationRun* const run_;
  std::unique_ptr<Answer> answer_;
  bool was_read_ = false;
};

}  // namespace

std::unique_ptr<Relation> PlacesRelation(RelationRun* run) {
  return std::make_unique<Places>(run);
}

}  // namespace pymemrun
