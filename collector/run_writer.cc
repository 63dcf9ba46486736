#include "collector/run_writer.h"

#include <errno.h>
#include <unistd.h>

#include <utility>

#include "tracer/ring_layout.h"

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
    write_errno_ = ENOMEM;
  }
}

void RunWriter::Write(absl::string_view record, RowCounts holds) {
  if (write_errno_ != 0) {
    lost_ += holds;
    return;
  }
  // Does the record not fit? Then it is in the next frame.
  queue_.set_rows(taken_);
  taken_ += holds;
  if (!writer_->AppendSerialized(record).ok()) return Fail();
  if (queue_.bytes_written() == ended_bytes_) return;
  ended_bytes_ = queue_.bytes_written();
  TakeProgress();
}

void RunWriter::Flush() {
  if (write_errno_ != 0) return;
  queue_.set_rows(taken_);
  if (!writer_->Flush().ok()) return Fail();
  ended_bytes_ = queue_.bytes_written();
  TakeProgress();
}

void RunWriter::Settle() {
  Flush();
  queue_.Settle();
  TakeProgress();
}

void RunWriter::TakeProgress() {
  const FrameQueue::Progress progress = queue_.progress();
  safe_ = progress.rows;
  good_bytes_ = progress.bytes;
  if (progress.error != 0 && write_errno_ == 0) Fail();
}

void RunWriter::Fail() {
  write_errno_ = EIO;  // unless the queue knows better
  queue_.Settle();
  TakeProgress();
  const int error = queue_.progress().error;
  if (error != 0) write_errno_ = error;
  lost_ += taken_;
  lost_ -= safe_;
  CutToWholeFrames();
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
  if (!taken.ok() || progress.error != 0) CutToWholeFrames();
}

void RunWriter::WriteFooter(const Record& footer) {
  if (write_errno_ == 0) Write(footer);
  Settle();
  if (write_errno_ == 0) return WriteIndex();
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
