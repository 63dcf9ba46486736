#include "readers/cat/raw_copy.h"

#include "format/records/record_decoder.h"
#include "format/stream/foreign_file.h"
#include "format/stream/status_util.h"
#include "format/stream/stream_reader.h"
#include "format/stream/varint.h"

namespace pymemrun {
namespace {

// A varint has at most 10 bytes.
void AppendDelimited(absl::string_view record, OutputBuffer* output) {
  auto* const out = reinterpret_cast<uint8_t*>(output->Reserve(10));
  output->Commit(reinterpret_cast<char*>(PutVarint(out, record.size())));
  output->Append(record);
}

// Whether the record is of this kind, by its first key. REQUIRES:
// `field_number` is below 16, so that the key is one byte.
bool IsKind(int field_number, absl::string_view record) {
  return !record.empty() && record[0] == (field_number << 3 | 2);
}

// Records are copied without being decoded, except the first: it says whether
// this is a run file, and in which format.
class RawCopy {
 public:
  RawCopy(OutputBuffer* output, RecordVisitor* watcher, ReadResult* result)
      : output_(output), watcher_(watcher), result_(result), first_(watcher) {}

  // Copies one record. Fails if the first one is not a known header; a later
  // header is damage.
  absl::Status Copy(absl::string_view record, uint64_t offset) {
    if (result_->records == 0) {
      if (result_->damages > 0) first_.NoteDamage();
      const absl::Status status = first_.Decode(record);
      if (!status.ok() && !absl::IsDataLoss(status)) {
        return AtOffset(offset, status);
      }
    } else if (IsKind(Record::kHeaderFieldNumber, record)) {
      result_->second_run = true;
      return Tell({offset, 0, SecondRunError()});
    }
    ++result_->records;
    AppendDelimited(record, output_);
    result_->has_footer |= IsKind(Record::kFooterFieldNumber, record);
    return absl::OkStatus();
  }

  // Fails if nothing after this damage can be read.
  absl::Status Tell(const StreamReader::Damage& damage) {
    if (!absl::IsDataLoss(damage.status)) {
      return AtOffset(damage.offset, damage.status);
    }
    ++result_->damages;
    watcher_->OnDamage(damage);
    return absl::OkStatus();
  }

 private:
  OutputBuffer* const output_;
  RecordVisitor* const watcher_;
  ReadResult* const result_;
  RecordDecoder first_;
};

}  // namespace

// Ends at a second header: run files may have been joined, and a stream of two
// runs would be read as one.
absl::Status CopyRaw(ByteSource* source, OutputBuffer* output,
                     RecordVisitor* watcher, ReadResult* result) {
  const auto reader = StreamReader::Create(source, StreamReader::Options());
  RawCopy copy(output, watcher, result);
  absl::string_view record;
  while (output->ok() && !result->second_run) {
    switch (reader->Next(&record)) {
      case StreamReader::Result::kRecord:
        RETURN_IF_ERROR(copy.Copy(record, reader->frame_offset()));
        if (result->has_footer) watcher->OnFooter(Footer());
        break;
      case StreamReader::Result::kDamage:
        RETURN_IF_ERROR(copy.Tell(reader->damage()));
        break;
      case StreamReader::Result::kTorn:
        result->torn = true;
        result->end_offset = reader->damage().offset;
        return absl::OkStatus();
      case StreamReader::Result::kEnd:
        result->end_offset = reader->damage().offset;
        if (result->records > 0 || result->damages > 0) {
          return absl::OkStatus();
        }
        return NotARunFile("");
    }
  }
  result->stopped = true;
  return absl::OkStatus();
}

}  // namespace pymemrun
