#include "collector/output/run_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "format/records/read_steps.h"
#include "format/records/record_visitor.h"
#include "format/stream/record_span.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

// Limit of frames that wait for a slow disk. A thousand rows take about a
// hundred bytes, so this is many seconds of a busy program.
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

// Only records of rows and events may be dropped. The loss is reported before
// the next record of this kind.
void RunWriter::Write(absl::string_view record, RowCounts holds) {
  const bool rows_only = HoldsRowsOnly(record);
  if (lost_frames_ || (rows_only && queue_.IsStuck())) {
    return Drop(record, holds);
  }
  if (rows_only) SayDropped();
  Take(record, holds);
}

void RunWriter::Take(absl::string_view record, RowCounts holds) {
  // The count before this record: if it does not fit, the frame ends before it.
  queue_.set_rows(taken_);
  const absl::Status taken = writer_->AppendSerialized(record);
  if (taken.ok()) {
    taken_ += holds;
  } else {
    // InvalidArgument: the record is larger than readers accept. Any other
    // error: the queue refuses frames.
    lost_frames_ |= !absl::IsInvalidArgument(taken);
    Drop(record, holds);
  }
}

// Keeps the range of numbers and the last time, for the loss record.
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
  // The index only speeds up readers: without room for it the file is complete.
  const absl::Status taken = writer_->WriteIndex();
  queue_.Settle();
  const FrameQueue::Progress progress = queue_.progress();
  good_bytes_ = progress.bytes;
  if (!taken.ok() || progress.gave_up) CutToWholeFrames();
}

// A stream's writer keeps its first failure. So after a loss a second writer
// puts the footer behind the last whole frame.
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

namespace {

// Keeps the header, which is a file's first record.
class HeaderVisitor final : public RecordVisitor {
 public:
  void OnHeader(const Header& header) override { header_ = header; }
  const std::optional<Header>& header() const { return header_; }

 private:
  std::optional<Header> header_;
};

}  // namespace

absl::StatusOr<std::string> RunName(ByteSource* source) {
  HeaderVisitor visitor;
  ReadSteps steps(source, StreamReader::Options(), &visitor);
  absl::StatusOr<bool> more = true;
  // Not beyond the header: a dump of the object graph may have gigabytes.
  while (more.ok() && *more && !visitor.header().has_value()) {
    more = steps.Step();
  }
  if (!visitor.header().has_value()) {
    return more.ok() ? absl::InvalidArgumentError("no header") : more.status();
  }
  const absl::Time start =
      absl::FromUnixNanos(visitor.header()->start_realtime_ns());
  return absl::StrCat(
      absl::FormatTime("%Y%m%d_%H%M%S_", start, absl::LocalTimeZone()),
      visitor.header()->pid());
}

int PrintRunName(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    std::fprintf(stderr, "pymemrun-collector: %s: %m\n", path);
    return 1;
  }
  FdSource source(fd);
  const absl::StatusOr<std::string> name = RunName(&source);
  close(fd);
  if (!name.ok()) {
    std::fprintf(stderr, "pymemrun-collector: %s: %s\n", path,
                 std::string(name.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", name->c_str());
  return 0;
}

namespace {

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// The current path of an open file, from /proc/self/fd. Empty: not known, or
// the name belongs to another file by now.
std::string PathOf(int fd, const struct stat& file) {
  char path[PATH_MAX];
  const std::string link = absl::StrCat("/proc/self/fd/", fd);
  const ssize_t size = readlink(link.c_str(), path, sizeof(path));
  if (size <= 0 || size == sizeof(path)) return {};
  const std::string found(path, static_cast<size_t>(size));
  struct stat there;
  const bool is_there =
      lstat(found.c_str(), &there) == 0 && SameFile(there, file);
  return is_there ? found : std::string();
}

}  // namespace

// A name that cannot be looked at counts as kept: only ENOENT and ENOTDIR show
// that it has gone.
OutputFate FateOfOutput(int fd, const std::string& path) {
  OutputFate fate{.path = path};
  struct stat file, there;
  if (!absl::StartsWith(path, "/") || fstat(fd, &file) != 0 ||
      !S_ISREG(file.st_mode)) {
    return fate;
  }
  if (file.st_nlink == 0) {
    fate.name = Footer::OUTPUT_DELETED;
    return fate;
  }
  const bool seen = lstat(path.c_str(), &there) == 0;
  if (seen ? SameFile(there, file) : errno != ENOENT && errno != ENOTDIR) {
    return fate;
  }
  fate.name = Footer::OUTPUT_MOVED;
  const std::string now = PathOf(fd, file);
  if (!now.empty()) fate.path = now;
  return fate;
}

}  // namespace pymemrun
