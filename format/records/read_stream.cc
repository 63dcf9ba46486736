// ReadStream(): a StreamReader's records through a RecordDecoder.
#include "absl/strings/str_cat.h"
#include "format/records/read_steps.h"
#include "format/stream/foreign_file.h"
#include "format/stream/status_util.h"

namespace pymemrun {

ReadSteps::ReadSteps(ByteSource* source, StreamReader::Options options,
                     RecordVisitor* visitor)
    : visitor_(visitor),
      plan_(options.plan),
      reader_(StreamReader::Create(source, options)),
      decoder_(visitor) {}

absl::StatusOr<bool> ReadSteps::Step() {
  if (decoder_.result().stopped || decoder_.result().second_run) return false;
  absl::string_view record;
  switch (reader_->Next(&record)) {
    case StreamReader::Result::kRecord:
      RETURN_IF_ERROR(OnRecord(record));
      return true;
    case StreamReader::Result::kDamage:
      RETURN_IF_ERROR(OnDamage(reader_->damage()));
      return true;
    case StreamReader::Result::kTorn:
      decoder_.result().torn = true;
      break;
    case StreamReader::Result::kEnd:
      break;
  }
  decoder_.result().end_offset = reader_->damage().offset;
  RETURN_IF_ERROR(OnEnd());
  return false;
}

absl::Status ReadSteps::OnRecord(absl::string_view record) {
  if (plan_ != nullptr && !plan_->WantsRows(reader_->frame_offset()) &&
      HoldsRowsOnly(record)) {
    return absl::OkStatus();
  }
  if (plan_ != nullptr && !plan_->wants_events() && HoldsEvents(record)) {
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

absl::Status ReadSteps::OnDamage(const StreamReader::Damage& damage) {
  // Another kind of file is that from its first byte on.
  if (damage.offset == 0 && absl::IsInvalidArgument(damage.status)) {
    return damage.status;
  }
  if (!absl::IsDataLoss(damage.status)) {
    return AtOffset(damage.offset, damage.status);
  }
  decoder_.NoteDamage();
  GiveDamage(damage);
  return absl::OkStatus();
}

void ReadSteps::GiveDamage(const StreamReader::Damage& damage) {
  if (decoder_.result().damages++ == 0 && decoder_.result().records == 0) {
    held_ = damage;
    return;
  }
  GiveHeld();
  visitor_->OnDamage(damage);
}

void ReadSteps::GiveHeld() {
  if (!held_.has_value()) return;
  visitor_->OnDamage(*held_);
  held_.reset();
}

absl::Status ReadSteps::OnEnd() {
  if (held_.has_value()) {
    const absl::Status status = AtOffset(held_->offset, held_->status);
    return absl::Status(status.code(),
                        absl::StrCat("not a pymemrun run file, or damaged: ",
                                     status.message()));
  }
  ReadResult& result = decoder_.result();
  if (plan_ != nullptr && plan_->ended()) result.stopped = true;
  if (result.records == 0 && result.damages == 0) {
    if (!result.torn) return NotARunFile("");
    return absl::InvalidArgumentError(
        "the file ends inside its first frame: it holds no records");
  }
  return absl::OkStatus();
}

absl::Status SecondRunError() {
  return absl::DataLossError(
      "a second run begins here; a run file holds one, and only the first was "
      "read");
}

absl::Status ReadStream(ByteSource* source, StreamReader::Options options,
                        RecordVisitor* visitor, ReadResult* result) {
  ReadSteps steps(source, options, visitor);
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = steps.Step();
  *result = steps.result();
  return more.status();
}

}  // namespace pymemrun
