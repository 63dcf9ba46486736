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
#include "readers/run/follow_watch.h"
#include "readers/run/forked_run.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Opens a file without a name. Returns a negative number if this fails.
// Unlinked at once: the system removes it when it is closed.
int MakeTemporary() {
  const char* folder = getenv("TMPDIR");
  std::string path =
      absl::StrCat(folder == nullptr || *folder == 0 ? "/tmp" : folder,
                   "/pymemreport.XXXXXX");
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd >= 0) unlink(path.c_str());
  return fd;
}

// Smaller files are read in one thread.
constexpr uint64_t kLargeBytes = 1 << 20;

// Readings shorter than this show no progress.
constexpr absl::Duration kQuiet = absl::Seconds(2);

// Progress counts from the program's start: a report may read a file several
// times.
absl::Time BeginOfProgram() {
  static const absl::Time begin = absl::Now();
  return begin;
}

uint64_t SizeOf(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 ? info.st_size : 0;
}

// Shows the progress of a reading on a terminal.
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
  // Prints the line, or wipes it.
  void Show(absl::string_view text, int terminal_fd) {
    is_shown_ |= absl::Now() - BeginOfProgram() >= kQuiet;
    if (is_shown_) FdSink(terminal_fd).Append(text).IgnoreError();
  }

  bool is_shown_ = false;
  Progress progress_;
  ProgressSource source_;
};

// Passes all records to each of several visitors, and keeps the footer.
class Readings final : public RecordVisitor {
 public:
  explicit Readings(Recordings* recorded) : recorded_(recorded) {}

  void Add(RecordVisitor* to) {
    // The reader decodes only what some visitor needs.
    to_.push_back({to, to->heap_use()});
    heap_use_ = std::max(heap_use_, to->heap_use());
  }
  void Add(ReplayVisitor* to, const std::string& path) {
    // The visitor first gets the blocks inherited from the parent.
    if (!to->wants_inherited()) return Add(to);
    with_parent_.push_back(WithInherited(path, to));
    Add(with_parent_.back().get());
  }

  HeapUse heap_use() const override { return heap_use_; }
  void OnHeapBatch(const HeapBatchFacts& facts) override {
    for (const One& one : to_) {
      if (!one.done && one.heap_use != HeapUse::kNone) {
        one.to->OnHeapBatch(facts);
      }
    }
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    recorded_->Add(Recorded::kHeap);
    // A visitor that does not read heap events needs no end because of them.
    return Give([=](One* one) {
      return one->heap_use != HeapUse::kEvents ||
             one->to->OnHeap(events, count);
    });
  }
#define PYMEMRUN_HAND_ON(Entry, Method)                                     \
  bool Method(const Entry* entries, size_t count) override {                \
    return Give([=](One* one) { return one->to->Method(entries, count); }); \
  }
  PYMEMRUN_HAND_ON(ObjectNode, OnObjects)
  PYMEMRUN_HAND_ON(ObjectReference, OnReferences)
#undef PYMEMRUN_HAND_ON
#define PYMEMRUN_HAND_ON(Entry, Method, what)                               \
  bool Method(const Entry* entries, size_t count) override {                \
    recorded_->Add(Recorded::what);                                         \
    return Give([=](One* one) { return one->to->Method(entries, count); }); \
  }
  PYMEMRUN_HAND_ON(Row, OnRows, kCalls)
  PYMEMRUN_HAND_ON(PageEntry, OnPages, kPages)
  PYMEMRUN_HAND_ON(GilEvent, OnGil, kGil)
  PYMEMRUN_HAND_ON(StateEvent, OnStates, kStates)
  PYMEMRUN_HAND_ON(SchedSample, OnSched, kStates)
  PYMEMRUN_HAND_ON(TaskEvent, OnTasks, kTasks)
#undef PYMEMRUN_HAND_ON
#define PYMEMRUN_HAND_ON(Fact, Method)     \
  void Method(const Fact& fact) override { \
    Know(fact);                            \
    for (const One& one : to_) {           \
      if (!one.done) one.to->Method(fact); \
    }                                      \
  }
  PYMEMRUN_HAND_ON(Header, OnHeader)
  PYMEMRUN_HAND_ON(CodeDef, OnCode)
  PYMEMRUN_HAND_ON(FunctionDef, OnFunction)
  PYMEMRUN_HAND_ON(SiteDef, OnSite)
  PYMEMRUN_HAND_ON(ThreadDef, OnThread)
  PYMEMRUN_HAND_ON(StackDef, OnStack)
  PYMEMRUN_HAND_ON(MappingDef, OnMapping)
  PYMEMRUN_HAND_ON(ResidencyView, OnResidency)
  PYMEMRUN_HAND_ON(ObjectTypeDef, OnObjectType)
  PYMEMRUN_HAND_ON(ObjectNameDef, OnObjectName)
  PYMEMRUN_HAND_ON(StreamReader::Damage, OnDamage)
#define PYMEMRUN_HAND_ON_FACT(kind, field, Message, Method, holds) \
  PYMEMRUN_HAND_ON(Message, Method)
  PYMEMRUN_FACTS(PYMEMRUN_HAND_ON_FACT)
#undef PYMEMRUN_HAND_ON_FACT
#undef PYMEMRUN_HAND_ON
  void OnFooter(const Footer& found) override {
    footer = found;
    recorded_->AddFooter(found);
    for (const One& one : to_) {
      if (!one.done) one.to->OnFooter(found);
    }
  }
  void OnStatesLost(uint64_t switches) override {
    for (const One& one : to_) {
      if (!one.done) one.to->OnStatesLost(switches);
    }
  }
  void OnUnknown() override {
    for (const One& one : to_) {
      if (!one.done) one.to->OnUnknown();
    }
  }

  std::optional<Footer> footer;

 private:
  struct One {
    RecordVisitor* to;
    HeapUse heap_use;
    bool done = false;  // it needs no more
  };
  // Notes what a fact shows to be recorded.
  template <typename Fact>
  void Know(const Fact&) {}
  void Know(const Header& header) { recorded_->Add(header); }
  void Know(const ResidencyView&) { recorded_->Add(Recorded::kPages); }
  void Know(const HeapRates&) { recorded_->AddHeapRates(); }
  void Know(const GilRecording&) { recorded_->Add(Recorded::kGil); }
  void Know(const StateRecording&) { recorded_->Add(Recorded::kStates); }
  void Know(const TaskRecording&) { recorded_->Add(Recorded::kTasks); }
  void Know(const CounterPlan&) { recorded_->Add(Recorded::kCounters); }

  // Returns false if no visitor needs more.
  template <typename GiveOne>
  bool Give(const GiveOne& give) {
    bool any = false;
    for (One& one : to_) {
      if (!one.done) one.done = !give(&one);
      any |= !one.done;
    }
    return any;
  }

  Recordings* const recorded_;
  std::vector<One> to_;
  std::vector<std::unique_ptr<RecordVisitor>> with_parent_;
  HeapUse heap_use_ = HeapUse::kNone;
};

}  // namespace

void SayLosses(const Console& console, const std::string& name,
               const Footer& footer) {
  const uint64_t lost = footer.dropped() + footer.lost_on_write() +
                        footer.page_samples_lost() + footer.heap_events_lost();
  if (lost == 0) return;
  console.Say(absl::StrCat(name, ": ",
                           Counted(lost, "event was", "events were"),
                           " lost because the disk was full or the collector "
                           "too slow: figures are not exact"));
}

// pread(2) leaves the descriptor's own position to the other reader.
absl::StatusOr<size_t> BesideSource::Read(char* buffer, size_t size) {
  ssize_t read = 0;
  do {
    read = pread(fd_, buffer, size, static_cast<off_t>(offset_));
  } while (read < 0 && errno == EINTR);
  if (read < 0) return absl::ErrnoToStatus(errno, "read");
  offset_ += static_cast<uint64_t>(read);
  return static_cast<size_t>(read);
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
                   ": cannot be stored to be read twice: ", strerror(errno)));
  return nullptr;
}

RereadFile::~RereadFile() {
  if (kept_fd_ >= 0) close(kept_fd_);
}

// A pipe can be read only once, so its bytes are copied before the first
// reading.
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

// Whether it is a run whose records could be read, and not a dump of objects.
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

// Frames that are skipped need no check in a file that was read without damage.
StreamReader::Options RereadFile::Options() const {
  StreamReader::Options options;
  options.ahead = SizeOf(fd_) >= kLargeBytes;
  options.was_checked = whole_;
  return options;
}

bool RereadFile::ReadAgain(RecordVisitor* visitor) {
  if (!Rewind()) return false;
  FdSource source(fd_);
  ShownReading shown(&source, fd_, console_->err_fd);
  ReadResult result;
  const absl::Status status =
      ReadStream(shown.source(), Options(), visitor, &result);
  read_bytes_ = std::max(file_->size_bytes(), source.bytes_read());
  return IsRun(status, result);
}

// If a part of the file is damaged, it may have been recorded there. The user
// then made no mistake.
bool RereadFile::Has(Recorded what) {
  if (recorded_.Has(what)) return true;
  console_->Say(absl::StrCat(shown_name(), ": ",
                             whole_ ? LackText(what) : UnreadText(what)));
  if (whole_) code_ = std::max(code_, kExitUsage);
  return false;
}

bool RereadFile::Read(ReplayVisitor* replay) {
  return Read(absl::MakeConstSpan(&replay, 1));
}

// Only the first reading prints. Later ones know the last names of threads from
// it.
bool RereadFile::Read(absl::Span<ReplayVisitor* const> replays,
                      RecordVisitor* also) {
  if (!Rewind()) return false;
  std::optional<DamageTeller> teller;
  if (!was_read_) teller.emplace(console_, shown_name());
  Readings readings(&recorded_);
  for (ReplayVisitor* const replay : replays) {
    replay->KnowThreads(threads_);
    readings.Add(replay, file_->path());
  }
  ReplayVisitor* const first = replays.front();
  first->TellDamage(teller.has_value() ? &*teller : nullptr);
  if (also != nullptr) readings.Add(also);
  FdSource source(fd_);
  std::optional<ShownReading> shown;
  shown.emplace(&source, fd_, console_->err_fd);
  ReadResult result;
  const absl::Status status =
      ReadStream(shown->source(), Options(), &readings, &result);
  shown.reset();
  read_bytes_ = std::max(file_->size_bytes(), source.bytes_read());
  first->TellDamage(nullptr);
  for (ReplayVisitor* const replay : replays) replay->Finish();
  if (!was_read_) {
    whole_ = status.ok() && !result.torn && result.damages == 0;
    code_ = std::max(code_, SayResultOf(file_->fd(), *console_, shown_name(),
                                        status, result));
    threads_.AddThreadsOf(first->index());
  }
  was_read_ = true;
  if (readings.footer.has_value() && !std::exchange(losses_said_, true)) {
    SayLosses(*console_, shown_name(), *readings.footer);
  }
  return IsRun(status, result);
}

}  // namespace pymemrun
