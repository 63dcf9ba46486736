// ReadStream(): a StreamReader's records through a RecordDecoder.
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "format/read_plan.h"
#include "format/record_decoder.h"
#include "format/record_visitor.h"
#include "format/status_util.h"
#include "format/stream_reader.h"

namespace pymemrun {
namespace {

using Damage = StreamReader::Damage;

absl::Status AtOffset(uint64_t offset, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("byte ", offset, ": ", status.message()));
}

class StreamRead {
 public:
  StreamRead(ByteSource* source, StreamReader::Options options,
             RecordVisitor* visitor)
      : visitor_(visitor),
        plan_(options.plan),
        reader_(StreamReader::Create(source, options)),
        decoder_(visitor) {}

  absl::Status Run() {
    absl::string_view record;
    while (!decoder_.result().stopped && !decoder_.result().second_run) {
      switch (reader_->Next(&record)) {
        case StreamReader::Result::kRecord:
          RETURN_IF_ERROR(OnRecord(record));
          break;
        case StreamReader::Result::kDamage:
          RETURN_IF_ERROR(OnDamage(reader_->damage()));
          break;
        case StreamReader::Result::kTorn:
          decoder_.result().torn = true;
          decoder_.result().torn_offset = reader_->damage().offset;
          return OnEnd();
        case StreamReader::Result::kEnd:
          return OnEnd();
      }
    }
    return absl::OkStatus();
  }

  const ReadResult& result() const { return decoder_.result(); }

 private:
  absl::Status OnRecord(absl::string_view record) {
    if (plan_ != nullptr && !plan_->WantsRows(reader_->frame_offset()) &&
        HoldsRowsOnly(record)) {
      return absl::OkStatus();
    }
    const absl::Status status = decoder_.Decode(record);
    if (status.ok()) {
      GiveHeld();
      return absl::OkStatus();
    }
    const uint64_t offset = reader_->frame_offset();
    if (!absl::IsDataLoss(status)) return AtOffset(offset, status);
    GiveDamage({offset, 0, status});
    return absl::OkStatus();
  }

  absl::Status OnDamage(const Damage& damage) {
    if (!absl::IsDataLoss(damage.status)) {
      return AtOffset(damage.offset, damage.status);
    }
    decoder_.NoteDamage();
    GiveDamage(damage);
    return absl::OkStatus();
  }

  // The very first damage is held back until something else is found: a file
  // with nothing but damage is one that cannot be read at all.
  void GiveDamage(const Damage& damage) {
    if (decoder_.result().damages++ == 0 && decoder_.result().records == 0) {
      held_ = damage;
      return;
    }
    GiveHeld();
    visitor_->OnDamage(damage);
  }

  void GiveHeld() {
    if (!held_.has_value()) return;
    visitor_->OnDamage(*held_);
    held_.reset();
  }

  absl::Status OnEnd() {
    if (held_.has_value()) return AtOffset(held_->offset, held_->status);
    ReadResult& result = decoder_.result();
    if (plan_ != nullptr && plan_->ended()) result.stopped = true;
    if (result.records == 0 && result.damages == 0 && !result.torn) {
      return absl::InvalidArgumentError(
          "byte 0: expected a zstd frame (28 b5 2f fd), found the end: "
          "the file holds no records");
    }
    return absl::OkStatus();
  }

  RecordVisitor* const visitor_;
  const ReadPlan* const plan_;  // null: everything is wanted
  const std::unique_ptr<StreamReader> reader_;
  RecordDecoder decoder_;
  std::optional<Damage> held_;
};

}  // namespace

absl::Status SecondRunError() {
  return absl::DataLossError(
      "a second run begins here; a run file holds one, and only the first was "
      "read");
}

absl::Status ReadStream(ByteSource* source, StreamReader::Options options,
                        RecordVisitor* visitor, ReadResult* result) {
  StreamRead read(source, options, visitor);
  const absl::Status status = read.Run();
  *result = read.result();
  return status;
}

}  // namespace pymemrun
