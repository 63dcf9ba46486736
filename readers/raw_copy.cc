#include "readers/raw_copy.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "format/stream_reader.h"

namespace pymemrun {
namespace {

void AppendDelimited(absl::string_view record, OutputBuffer* output) {
  char* out = output->Reserve(10);
  uint64_t size = record.size();
  for (; size >= 0x80; size >>= 7) *out++ = static_cast<char>(size | 0x80);
  *out++ = static_cast<char>(size);
  output->Commit(out);
  output->Append(record);
}

// A record's kind is its first key; the footer's is one byte.
bool IsFooter(absl::string_view record) {
  constexpr char kKey = Record::kFooterFieldNumber << 3 | 2;
  return !record.empty() && record[0] == kKey;
}

class RawCopy {
 public:
  RawCopy(OutputBuffer* output, ReadResult* result)
      : output_(output), result_(result), first_(&nothing_) {}

  // Copies one record; fails when the first is not a header that we know.
  absl::Status OnRecord(absl::string_view record, uint64_t offset,
                        const std::function<void()>& on_footer) {
    if (result_->records == 0) {
      if (result_->damages > 0) first_.NoteDamage();
      const absl::Status status = first_.Decode(record);
      if (!status.ok() && !absl::IsDataLoss(status)) {
        return absl::Status(status.code(), absl::StrCat("byte ", offset, ": ",
                                                        status.message()));
      }
    }
    ++result_->records;
    AppendDelimited(record, output_);
    if (IsFooter(record)) {
      result_->has_footer = true;
      on_footer();
    }
    return absl::OkStatus();
  }

 private:
  OutputBuffer* const output_;
  ReadResult* const result_;
  RecordVisitor nothing_;
  RecordDecoder first_;
};

}  // namespace

absl::Status CopyRaw(
    ByteSource* source, OutputBuffer* output,
    const std::function<void(const StreamReader::Damage&)>& on_damage,
    const std::function<void()>& on_footer, ReadResult* result) {
  const auto reader = StreamReader::Create(source, StreamReader::Options());
  RawCopy copy(output, result);
  absl::string_view record;
  while (output->ok()) {
    switch (reader->Next(&record)) {
      case StreamReader::Result::kRecord: {
        const absl::Status status =
            copy.OnRecord(record, reader->frame_offset(), on_footer);
        if (!status.ok()) return status;
        break;
      }
      case StreamReader::Result::kDamage:
        if (!absl::IsDataLoss(reader->damage().status)) {
          return absl::Status(
              reader->damage().status.code(),
              absl::StrCat("byte ", reader->damage().offset, ": ",
                           reader->damage().status.message()));
        }
        ++result->damages;
        on_damage(reader->damage());
        break;
      case StreamReader::Result::kTorn:
        result->torn = true;
        result->torn_offset = reader->damage().offset;
        return absl::OkStatus();
      case StreamReader::Result::kEnd:
        if (result->records > 0 || result->damages > 0) {
          return absl::OkStatus();
        }
        return absl::InvalidArgumentError(
            "byte 0: expected a zstd frame, found the end");
    }
  }
  result->stopped = true;
  return absl::OkStatus();
}

}  // namespace pymemrun
