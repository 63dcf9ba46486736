#include "readers/run/reread_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "readers/run/forked_run.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Opens a file without a name; below 0: it could not be made.
int MakeTemporary() {
  const char* folder = getenv("TMPDIR");
  std::string path =
      absl::StrCat(folder == nullptr || *folder == 0 ? "/tmp" : folder,
                   "/pymemreport.XXXXXX");
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd >= 0) unlink(path.c_str());
  return fd;
}

}  // namespace

std::unique_ptr<RereadFile> RereadFile::Open(const std::string& path,
                                             const Console& console) {
  auto input = InputFile::Open(path);
  if (!input.ok()) {
    console.Say(
        absl::StrCat(TerminalText(path), ": ", input.status().message()));
    return nullptr;
  }
  auto file = absl::WrapUnique(new RereadFile(&console, *std::move(input)));
  file->fd_ = file->file_->fd();
  if (lseek(file->fd_, 0, SEEK_SET) == 0 || file->Keep()) return file;
  console.Say(
      absl::StrCat(file->shown_name(),
                   ": cannot be kept to be read twice: ", strerror(errno)));
  return nullptr;
}

RereadFile::~RereadFile() {
  if (kept_fd_ >= 0) close(kept_fd_);
}

bool RereadFile::Keep() {
  kept_fd_ = MakeTemporary();
  if (kept_fd_ < 0) return false;
  FdSink sink(kept_fd_);
  FdSource source(fd_);
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const auto size = source.Read(buffer.data(), buffer.size());
    if (!size.ok()) return false;
    if (*size == 0) break;
    if (!sink.Append({buffer.data(), *size}).ok()) return false;
  }
  fd_ = kept_fd_;
  return true;
}

namespace {

// Of a run, whose records could be read as far as they go: no dump of objects.
bool IsRun(const absl::Status& status, const ReadResult& result) {
  return (status.ok() || result.has_header) && result.objects == 0;
}

}  // namespace

bool RereadFile::Rewind() {
  if (lseek(fd_, 0, SEEK_SET) == 0) return true;
  console_->Say(absl::StrCat(shown_name(), ": ", strerror(errno)));
  code_ = kExitFailed;
  return false;
}

bool RereadFile::ReadAgain(RecordVisitor* visitor) {
  if (!Rewind()) return false;
  FdSource source(fd_);
  ReadResult result;
  const absl::Status status =
      ReadStream(&source, StreamReader::Options(), visitor, &result);
  read_bytes_ = std::max(file_->size_bytes(), source.bytes_read());
  return IsRun(status, result);
}

bool RereadFile::Read(ReplayVisitor* replay) {
  if (!Rewind()) return false;
  std::optional<DamageTeller> teller;
  if (!was_read_) teller.emplace(console_, shown_name());
  replay->KnowThreads(threads_);
  replay->TellDamage(teller.has_value() ? &*teller : nullptr);
  std::unique_ptr<RecordVisitor> with_parent;
  if (replay->wants_inherited()) {
    with_parent = WithInherited(file_->path(), replay);
  }
  FdSource source(fd_);
  ReadResult result;
  const absl::Status status =
      ReadStream(&source, StreamReader::Options(),
                 with_parent == nullptr ? replay : with_parent.get(), &result);
  replay->TellDamage(nullptr);
  replay->Finish();
  if (!was_read_) {
    whole_ = status.ok() && !result.torn && result.damages == 0;
    code_ = std::max(code_, SayResult(*console_, shown_name(), status, result));
    threads_.AddThreadsOf(replay->index());
  }
  was_read_ = true;
  return IsRun(status, result);
}

}  // namespace pymemrun
