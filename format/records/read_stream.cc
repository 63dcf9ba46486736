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
      skips_heap_(options.was_checked && visitor->heap_use() == HeapUse::kNone),
      ahead_(options.ahead && options.plan == nullptr
                 ? AheadReader::Start(source, options, visitor->heap_use())
                 : nullptr),
      reader_(ahead_ == nullptr ? StreamReader::Create(source, options)
                                : nullptr),
      decoder_(visitor) {}

absl::StatusOr<bool> ReadSteps::Step() {
  if (decoder_.result().stopped || decoder_.result().second_run) return false;
  if (ahead_ != nullptr) return StepAhead();
  absl::string_view record;
  const StreamReader::Result result = reader_->Next(&record);
  if (result != StreamReader::Result::kRecord) {
    return OnResult(result, reader_->damage());
  }
  RETURN_IF_ERROR(OnRecord(record, reader_->frame_offset()));
  return true;
}

// The same as Step(), with pieces of the second thread. Events of a heap batch
// that was refused still come, and are dropped.
absl::StatusOr<bool> ReadSteps::StepAhead() {
  const AheadReader::Piece& piece = ahead_->Next();
  switch (piece.kind) {
    case AheadReader::Piece::kRecord:
      RETURN_IF_ERROR(OnRecord(piece.bytes, piece.frame_offset));
      return true;
    case AheadReader::Piece::kHeapBatch: {
      const absl::Status status = decoder_.BeginHeap(piece.heap);
      wants_batch_ = status.ok();
      decoder_.result().records += status.ok();
      RETURN_IF_ERROR(OnDecoded(status, piece.frame_offset));
      return true;
    }
    case AheadReader::Piece::kHeapEvents:
      if (wants_batch_) decoder_.GiveHeap(piece.events, piece.event_count);
      return true;
    case AheadReader::Piece::kOther:
      break;
  }
  return OnResult(piece.result, piece.damage);
}

// REQUIRES: `result` is not kRecord.
absl::StatusOr<bool> ReadSteps::OnResult(StreamReader::Result result,
                                         const StreamReader::Damage& damage) {
  if (result == StreamReader::Result::kDamage) {
    RETURN_IF_ERROR(OnDamage(damage));
    return true;
  }
  decoder_.result().torn = result == StreamReader::Result::kTorn;
  decoder_.result().end_offset = damage.offset;
  RETURN_IF_ERROR(OnEnd());
  return false;
}

// Leaves out what is not asked for before it is parsed. Only rows may be left
// out: later records refer to definitions.
absl::Status ReadSteps::OnRecord(absl::string_view record,
                                 uint64_t frame_offset) {
  if (skips_heap_ && HoldsHeap(record)) return absl::OkStatus();
  if (plan_ != nullptr && !plan_->WantsRows(frame_offset) &&
      HoldsRowsOnly(record)) {
    return absl::OkStatus();
  }
  if (plan_ != nullptr && !plan_->wants_events() && HoldsEvents(record)) {
    return absl::OkStatus();
  }
  return OnDecoded(decoder_.Decode(record), frame_offset);
}

// Damage is told to the visitor, and reading goes on. Any other error, such as
// a newer format, ends it.
absl::Status ReadSteps::OnDecoded(const absl::Status& status,
                                  uint64_t frame_offset) {
  if (status.ok()) {
    GiveHeld();
    return absl::OkStatus();
  }
  if (!absl::IsDataLoss(status)) return AtOffset(frame_offset, status);
  GiveDamage({frame_offset, 0, status});
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

// The first damage is held back as long as no record was good. If none follows,
// the file as a whole is refused, with this damage as the reason.
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

// Tells apart a run file that was damaged, one that is cut in its first frame,
// and what is no run file.
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
