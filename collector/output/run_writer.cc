#include "collector/output/run_writer.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "format/stream/record_span.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

// Frames that wait for a slow disk. At a hundred bytes for a thousand rows they
// are many seconds of a busy program.
constexpr size_t kMaxQueuedBytes = 8 * 1024 * 1024;

}  // namespace

RunWriter::RunWriter(int fd, int level, std::function<void()> waiting,
                     std::function<void(uint64_t rows)> wrote)
    : fd_(fd),
      queue_(fd, kMaxQueuedBytes, std::move(waiting), std::move(wrote)) {
  options_.level = level == kNoCompression ? int{StreamWriter::kStored} : level;
  auto writer = StreamWriter::Create(&queue_, options_);
  if (writer.ok()) {
    writer_ = *std::move(writer);
  } else {
    error_ = ENOMEM;
    lost_frames_ = true;
  }
}

void RunWriter::Write(absl::string_view record, RowCounts holds) {
  const bool rows_only = HoldsRowsOnly(record);
  if (lost_frames_ || (rows_only && queue_.IsStuck())) {
    return Drop(record, holds);
  }
  if (rows_only) SayDropped();
  Take(record, holds);
}

void RunWriter::Take(absl::string_view record, RowCounts holds) {
  // Does the record not fit? Then it is in the next frame.
  queue_.set_rows(taken_);
  const absl::Status taken = writer_->AppendSerialized(record);
  if (taken.ok()) {
    taken_ += holds;
  } else {
    // Larger than any that readers accept; or the queue takes no more.
    lost_frames_ |= !absl::IsInvalidArgument(taken);
    Drop(record, holds);
  }
}

void RunWriter::Drop(absl::string_view record, RowCounts holds) {
  dropped_ += holds;
  const FrameSpan span = SpanOfRecord(record);
  if (span.has_rows() && unsaid_.counts.rows == 0) {
    unsaid_.first_number = span.first_number;
  }
  if (span.has_rows()) unsaid_.last_number = span.end_number - 1;
  unsaid_.last_us = std::max(unsaid_.last_us, span.last_us);
  unsaid_.counts += holds;
}

void RunWriter::SayDropped() {
  const Dropped said = std::exchange(unsaid_, {});
  Record record;
  if (said.counts.rows > 0) {
    Loss* const loss = record.mutable_loss();
    loss->set_rows(said.counts.rows);
    loss->set_from_number(said.first_number);
    loss->set_to_number(said.last_number);
    loss->set_time_us(said.last_us);
    Take(record.SerializeAsString(), {});
  }
  if (said.counts.heap_events > 0) {
    record.mutable_heap_loss()->set_time_us(said.last_us);
    record.mutable_heap_loss()->set_events(said.counts.heap_events);
    Take(record.SerializeAsString(), {});
  }
  if (said.counts.page_events > 0) {
    record.mutable_page_loss()->set_time_us(said.last_us);
    record.mutable_page_loss()->set_samples(said.counts.page_events);
    Take(record.SerializeAsString(), {});
  }
}

void RunWriter::Flush() {
  if (lost_frames_ || queue_.IsStuck()) return;
  queue_.set_rows(taken_);
  lost_frames_ = !writer_->Flush().ok();
}

void RunWriter::Settle() {
  if (!lost_frames_) {
    SayDropped();
    queue_.set_rows(taken_);
    lost_frames_ = !writer_->Flush().ok();
  }
  queue_.Settle();
  TakeProgress();
  if (lost_frames_) CutToWholeFrames();
}

void RunWriter::TakeProgress() {
  const FrameQueue::Progress progress = queue_.progress();
  safe_ = progress.rows;
  good_bytes_ = progress.bytes;
  lost_frames_ |= progress.gave_up;
  if (error_ == 0) error_ = progress.error;
}

int RunWriter::write_errno() const {
  if (!lost_frames_ && dropped_.is_nothing()) return 0;
  return error_ != 0 ? error_ : EIO;
}

RowCounts RunWriter::lost() const {
  RowCounts lost = dropped_;
  lost += taken_;
  lost -= safe_;
  return lost;
}

void RunWriter::CutToWholeFrames() {
  // Best effort: a pipe cannot be cut, and readers bear a torn frame as well.
  if (ftruncate(fd_, static_cast<off_t>(good_bytes_)) == 0) {
    lseek(fd_, static_cast<off_t>(good_bytes_), SEEK_SET);
  }
}

void RunWriter::WriteIndex() {
  // Where the disk has no room for it the file is whole without.
  const absl::Status taken = writer_->WriteIndex();
  queue_.Settle();
  const FrameQueue::Progress progress = queue_.progress();
  good_bytes_ = progress.bytes;
  if (!taken.ok() || progress.gave_up) CutToWholeFrames();
}

void RunWriter::WriteFooter(const Record& footer) {
  if (!lost_frames_) Take(footer.SerializeAsString(), {});
  Settle();
  if (!lost_frames_) return WriteIndex();
  if (lseek(fd_, 0, SEEK_CUR) < 0) return;
  // Cutting the torn frame off may have made the room that a footer needs.
  FdSink sink(fd_);
  auto writer = StreamWriter::Create(&sink, options_);
  if (writer.ok() && (*writer)->Append(footer).ok() &&
      (*writer)->Flush().ok()) {
    good_bytes_ += sink.bytes_written();
  } else {
    CutToWholeFrames();
  }
}

}  // namespace pymemrun
