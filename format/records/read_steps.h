// ReadStream() in steps, for a reader that is itself asked for one thing after
// the other.
#ifndef PYMEMRUN_FORMAT_RECORDS_READ_STEPS_H_
#define PYMEMRUN_FORMAT_RECORDS_READ_STEPS_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/records/ahead_reader.h"
#include "format/records/record_decoder.h"
#include "format/records/record_visitor.h"
#include "format/stream/read_plan.h"
#include "format/stream/stream_reader.h"

namespace pymemrun {

// Not thread safe. Source, visitor and plan must outlive it.
class ReadSteps {
 public:
  ReadSteps(ByteSource* source, StreamReader::Options options,
            RecordVisitor* visitor);

  // Reads one record, or one damage, into the visitor. False: the end has been
  // reached. Fails as ReadStream() does. After either it is not to be called
  // again.
  absl::StatusOr<bool> Step();
  const ReadResult& result() const { return decoder_.result(); }

 private:
  absl::StatusOr<bool> StepAhead();
  absl::StatusOr<bool> OnResult(StreamReader::Result result,
                                const StreamReader::Damage& damage);
  absl::Status OnRecord(absl::string_view record, uint64_t frame_offset);
  absl::Status OnDecoded(const absl::Status& status, uint64_t frame_offset);
  absl::Status OnDamage(const StreamReader::Damage& damage);
  void GiveDamage(const StreamReader::Damage& damage);
  void GiveHeld();
  absl::Status OnEnd();

  RecordVisitor* const visitor_;
  const ReadPlan* const plan_;  // null: everything is wanted
  const bool skips_heap_;
  const std::unique_ptr<AheadReader> ahead_;  // or else
  const std::unique_ptr<StreamReader> reader_;
  RecordDecoder decoder_;
  bool wants_batch_ = false;  // the events of the heap batch that came last
  // The very first damage is held back until something else is found: a file
  // with nothing but damage is one that cannot be read at all.
  std::optional<StreamReader::Damage> held_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_READ_STEPS_H_
