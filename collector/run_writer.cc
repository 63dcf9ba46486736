#include "collector/run_writer.h"

#include <errno.h>
#include <unistd.h>

#include <utility>

#include "tracer/ring_layout.h"

namespace pymemrun {

RunWriter::RunWriter(int fd, int level) : fd_(fd), sink_(fd) {
  options_.level = level == kNoCompression ? int{StreamWriter::kStored} : level;
  auto writer = StreamWriter::Create(&sink_, options_);
  if (writer.ok()) {
    writer_ = *std::move(writer);
  } else {
    write_errno_ = ENOMEM;
  }
}

void RunWriter::Write(absl::string_view record, uint64_t rows) {
  if (write_errno_ != 0) {
    rows_lost_ += rows;
    return;
  }
  rows_open_ += rows;
  if (!writer_->AppendSerialized(record).ok()) return Fail();
  if (sink_.bytes_written() != good_bytes_) {
    // The frame before this record was written; the record is in the next.
    good_bytes_ = sink_.bytes_written();
    rows_safe_ += rows_open_ - rows;
    rows_open_ = rows;
  }
}

void RunWriter::Flush() {
  if (write_errno_ != 0) return;
  if (!writer_->Flush().ok()) return Fail();
  good_bytes_ = sink_.bytes_written();
  rows_safe_ += rows_open_;
  rows_open_ = 0;
}

void RunWriter::Fail() {
  write_errno_ = sink_.last_errno() != 0 ? sink_.last_errno() : EIO;
  rows_lost_ += rows_open_;
  rows_open_ = 0;
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
  if (writer_->WriteIndex().ok()) {
    good_bytes_ = sink_.bytes_written();
  } else {
    CutToWholeFrames();
  }
}

void RunWriter::WriteFooter(const Record& footer) {
  if (write_errno_ == 0) Write(footer);
  Flush();
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
