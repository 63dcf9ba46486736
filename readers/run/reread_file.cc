#include "readers/run/reread_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "readers/run/forked_run.h"
#include "text/report_text.h"
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

// What takes no longer shows no progress.
constexpr absl::Duration kQuiet = absl::Seconds(2);

absl::Time BeginOfProgram() {
  static const absl::Time begin = absl::Now();
  return begin;
}

uint64_t SizeOf(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 ? info.st_size : 0;
}

// Shows on a terminal how far a reading of a file is.
class ShownReading {
 public:
  ShownReading(ByteSource* source, int fd, int terminal_fd)
      : progress_(isatty(terminal_fd) ? SizeOf(fd) : 0,
                  [this, terminal_fd](absl::string_view text) {
                    Show(text, terminal_fd);
                  }),
        source_(source, &progress_) {}

  ByteSource* source() { return &source_; }

 private:
  // The line, and what wipes it once it is there.
  void Show(absl::string_view text, int terminal_fd) {
    is_shown_ |= absl::Now() - BeginOfProgram() >= kQuiet;
    if (is_shown_) FdSink(terminal_fd).Append(text).IgnoreError();
  }

  bool is_shown_ = false;
  Progress progress_;
  ProgressSource source_;
};

// Hands on all records, and keeps the footer.
class FooterKeeper final : public RecordVisitor {
 public:
  explicit FooterKeeper(RecordVisitor* to) : to_(*to) {}

  void OnHeader(const Header& header) override { to_.OnHeader(header); }
  void OnCode(const CodeDef& code) override { to_.OnCode(code); }
  void OnFunction(const FunctionDef& function) override {
    to_.OnFunction(function);
  }
  void OnSite(const SiteDef& site) override { to_.OnSite(site); }
  void OnThread(const ThreadDef& thread) override { to_.OnThread(thread); }
  void OnStack(const StackDef& node) override { to_.OnStack(node); }
  void OnMapping(const MappingDef& def) override { to_.OnMapping(def); }
  void OnResidency(const ResidencyView& view) override {
    to_.OnResidency(view);
  }
  void OnStatesLost(uint64_t switches) override { to_.OnStatesLost(switches); }
  void OnObjectType(const ObjectTypeDef& type) override {
    to_.OnObjectType(type);
  }
  void OnObjectName(const ObjectNameDef& name) override {
    to_.OnObjectName(name);
  }
#define PYMEMRUN_HAND_ON(Entry, Method)                      \
  bool Method(const Entry* entries, size_t count) override { \
    return to_.Method(entries, count);                       \
  }
  PYMEMRUN_HAND_ON(Row, OnRows)
  PYMEMRUN_HAND_ON(PageEntry, OnPages)
  PYMEMRUN_HAND_ON(HeapEvent, OnHeap)
  PYMEMRUN_HAND_ON(GilEvent, OnGil)
  PYMEMRUN_HAND_ON(StateEvent, OnStates)
  PYMEMRUN_HAND_ON(SchedSample, OnSched)
  PYMEMRUN_HAND_ON(TaskEvent, OnTasks)
  PYMEMRUN_HAND_ON(ObjectNode, OnObjects)
  PYMEMRUN_HAND_ON(ObjectReference, OnReferences)
#undef PYMEMRUN_HAND_ON
#define PYMEMRUN_HAND_ON(kind, field, Message, Method, holds) \
  void Method(const Message& fact) override { to_.Method(fact); }
  PYMEMRUN_FACTS(PYMEMRUN_HAND_ON)
#undef PYMEMRUN_HAND_ON
  void OnFooter(const Footer& found) override {
    footer = found;
    to_.OnFooter(found);
  }
  void OnUnknown() override { to_.OnUnknown(); }
  void OnDamage(const StreamReader::Damage& damage) override {
    to_.OnDamage(damage);
  }

  std::optional<Footer> footer;

 private:
  RecordVisitor& to_;
};

}  // namespace

void SayLosses(const Console& console, const std::string& name,
               const Footer& footer) {
  const uint64_t lost = footer.dropped() + footer.lost_on_write() +
                        footer.page_samples_lost() + footer.heap_events_lost();
  if (lost == 0) return;
  console.Say(absl::StrCat(name, ": ",
                           Counted(lost, "event was", "events were"),
                           " lost, as the disk was full or the collector too "
                           "slow: figures are not exact"));
}

std::unique_ptr<RereadFile> RereadFile::Open(const std::string& path,
                                             const Console& console) {
  BeginOfProgram();
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
  ShownReading shown(&source, fd_, console_->err_fd);
  ReadResult result;
  const absl::Status status =
      ReadStream(shown.source(), StreamReader::Options(), visitor, &result);
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
  FooterKeeper keeper(with_parent == nullptr ? replay : with_parent.get());
  FdSource source(fd_);
  std::optional<ShownReading> shown;
  shown.emplace(&source, fd_, console_->err_fd);
  ReadResult result;
  const absl::Status status =
      ReadStream(shown->source(), StreamReader::Options(), &keeper, &result);
  shown.reset();
  replay->TellDamage(nullptr);
  replay->Finish();
  if (!was_read_) {
    whole_ = status.ok() && !result.torn && result.damages == 0;
    code_ = std::max(code_, SayResult(*console_, shown_name(), status, result));
    threads_.AddThreadsOf(replay->index());
  }
  was_read_ = true;
  if (keeper.footer.has_value() && !std::exchange(losses_said_, true)) {
    SayLosses(*console_, shown_name(), *keeper.footer);
  }
  return IsRun(status, result);
}

}  // namespace pymemrun
