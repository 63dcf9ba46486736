#include "readers/watch/watch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "readers/run/follow_watch.h"
#include "readers/run/input_file.h"
#include "readers/watch/child_files.h"
#include "readers/watch/screen.h"
#include "readers/watch/watch_model.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// How often the screen is drawn, lines are printed and the file is examined;
// kPoll is the wait at the file's present end.
constexpr absl::Duration kDrawEach = absl::Milliseconds(250);
constexpr absl::Duration kLookEach = absl::Seconds(1);
constexpr absl::Duration kPoll = absl::Milliseconds(50);
constexpr int kPollMs = 50, kNice = 10;
// Drawing may take one part in this many of its time.
constexpr int kDrawShare = 10;
constexpr size_t kOnceColumns = 80, kOnceRows = 40;

volatile sig_atomic_t caught = 0;

void Catch(int signal) { caught = signal; }

// While it exists, signals that would end the program are noted instead: the
// terminal has to be restored first. No SA_RESTART, so that waits end.
class Signals {
 public:
  Signals() {
    caught = 0;
    struct sigaction noted = {};
    noted.sa_handler = Catch;
    for (size_t i = 0; i < std::size(kNoted); ++i) {
      sigaction(kNoted[i], &noted, &before_[i]);
    }
  }
  ~Signals() {
    for (size_t i = 0; i < std::size(kNoted); ++i) {
      sigaction(kNoted[i], &before_[i], nullptr);
    }
  }

 private:
  static constexpr int kNoted[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kNoted)] = {};
};

// Limits how often something is done.
class Every {
 public:
  explicit Every(absl::Duration duration) : duration_(duration) {}
  bool IsDue() {
    const absl::Time now = absl::Now();
    if (now < next_) return false;
    next_ = now + duration_;
    return true;
  }
  void Delay(absl::Duration duration) {
    next_ = std::max(next_, absl::Now() + duration);
  }
  void Hurry() { next_ = absl::InfinitePast(); }

 private:
  const absl::Duration duration_;
  absl::Time next_ = absl::InfinitePast();
};

// The bytes of a growing file. At its present end it calls `at_end`: false ends
// the reading. Calls `on_bytes` whenever bytes came.
class GrowingSource final : public ByteSource {
 public:
  GrowingSource(FdSource* source, std::function<bool()> on_bytes,
                std::function<bool()> at_end)
      : source_(source),
        on_bytes_(std::move(on_bytes)),
        at_end_(std::move(at_end)) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    for (;;) {
      const absl::StatusOr<size_t> got = source_->Read(buffer, size);
      if (!got.ok()) return got;
      if (*got > 0) return on_bytes_() ? *got : 0;
      if (!at_end_()) return 0;
    }
  }

 private:
  FdSource* const source_;
  const std::function<bool()> on_bytes_, at_end_;
};

// The reader of the file drives everything. GrowingSource calls Tick() between
// reads and waits at the file's end, so drawing, keys and reading share one
// thread.
class Watcher {
 public:
  Watcher(const WatchRequest& request, const Console& console)
      : request_(request), console_(console), children_(request.path) {}

  int Run();

 private:
  bool Open();
  void PassOutput() const;
  absl::Status ReadOnce();
  bool AtEnd();
  bool IsDead();
  bool Tick(bool may_wait);
  void Take(int key);
  void Look();
  void FillFrame();
  void Draw();
  void PrintLine();
  int PrintOnce();
  void StayUntilQuit();
  int Ended();

  const WatchRequest& request_;
  const Console& console_;
  ChildFiles children_;
  std::unique_ptr<InputFile> file_;
  std::unique_ptr<FdSource> source_;
  std::unique_ptr<Screen> screen_;
  std::unique_ptr<WatchModel> model_;
  std::optional<FollowWatch> over_watch_;
  WatchFrame frame_;
  Every draw_{kDrawEach}, line_{kLookEach}, look_{kLookEach};
  std::vector<WatchFrame::Child> seen_children_;
  bool quit_ = false, over_ = false, shrunk_ = false, renamed_ = false;
  bool by_bytes_ = false, frozen_ = false;
  uint64_t damages_ = 0;
};

// A run that was just started has no file yet.
bool Watcher::Open() {
  for (;;) {
    auto file = InputFile::Open(request_.path);
    if (file.ok()) {
      file_ = *std::move(file);
      return true;
    }
    const bool may_come =
        request_.started != nullptr && !request_.started->ExitCode();
    if (!may_come) {
      if (request_.started == nullptr) {
        console_.Say(absl::StrCat(TerminalText(request_.path), ": ",
                                  file.status().message()));
      }
      return false;
    }
    if (caught != 0) return false;
    absl::SleepFor(kPoll);
  }
}

// Prints the output of a program that could not be traced: it may say why.
void Watcher::PassOutput() const {
  const auto output = InputFile::Open(request_.started->output_path());
  if (!output.ok()) return;
  FdSource source((*output)->fd());
  FdSink sink(console_.err_fd);
  char buffer[4096];
  for (;;) {
    const auto size = source.Read(buffer, sizeof buffer);
    if (!size.ok() || *size == 0) return;
    if (!sink.Append({buffer, *size}).ok()) return;
  }
}

// Reads from the file's start to its end, if it has one.
absl::Status Watcher::ReadOnce() {
  shrunk_ = false;
  lseek(file_->fd(), 0, SEEK_SET);
  source_ = std::make_unique<FdSource>(file_->fd());
  model_ = std::make_unique<WatchModel>();
  over_watch_.emplace([this] { return IsDead(); });
  GrowingSource source(
      source_.get(), [this] { return request_.once || Tick(false); },
      [this] { return AtEnd(); });
  ReadResult result;
  const absl::Status status =
      ReadStream(&source, StreamReader::Options(), model_.get(), &result);
  model_->Finish();
  damages_ = result.damages;
  return status;
}

// Everything written so far was read. Returns whether to try again.
bool Watcher::AtEnd() {
  if (request_.once || model_->ended()) return false;
  if (look_.IsDue()) Look();
  if (shrunk_ || over_) return false;
  return Tick(true);
}

// A file without a header does not name its process.
bool Watcher::IsDead() {
  if (model_->has_header()) return RunIsDead(model_->header());
  return request_.started != nullptr && request_.started->ExitCode();
}

// Checks what happened to the file. One that became shorter was overwritten: it
// is read from its start again.
void Watcher::Look() {
  struct stat open_file, named;
  if (fstat(file_->fd(), &open_file) == 0 && S_ISREG(open_file.st_mode)) {
    shrunk_ = static_cast<uint64_t>(open_file.st_size) < source_->bytes_read();
    renamed_ = stat(request_.path.c_str(), &named) != 0 ||
               named.st_dev != open_file.st_dev ||
               named.st_ino != open_file.st_ino;
  }
  over_ = over_watch_->IsOver(source_->bytes_read(), absl::Now());
  seen_children_ = children_.Look(model_->header());
}

// The curve gets the columns that the scale leaves.
void Watcher::FillFrame() {
  const size_t columns = screen_ == nullptr ? kOnceColumns : screen_->columns();
  frame_ = WatchFrame();
  model_->Fill(columns > kScaleColumns ? columns - kScaleColumns : 1, &frame_);
  if (over_ && !frame_.ended) {
    frame_.ended = true;
    frame_.end = "the process is gone and its file was not finished";
  }
  frame_.children = seen_children_;
  if (renamed_) {
    frame_.notes.push_back("the file was renamed or deleted");
  }
  if (request_.started != nullptr) {
    frame_.notes.push_back(absl::StrCat("the program's output: ",
                                        request_.started->output_path()));
  }
}

// A frame that takes long to draw delays the next one: drawing gets about a
// tenth of the time.
void Watcher::Draw() {
  const absl::Time begin = absl::Now();
  if (!frozen_) FillFrame();
  frame_.by_bytes = by_bytes_;
  frame_.frozen = frozen_;
  screen_->Show(FrameLines(frame_, screen_->columns(), screen_->rows(),
                           Terminal::Of(console_.out_fd).unicode));
  draw_.Delay((absl::Now() - begin) * kDrawShare);
}

void Watcher::PrintLine() {
  FillFrame();
  if (!console_.out->Append(absl::StrCat(FrameSummary(frame_), "\n")).ok()) {
    quit_ = true;
  }
}

void Watcher::Take(int key) {
  if (key == Screen::kNoKey) return;
  if (key == 'q') quit_ = true;
  if (key == ' ') frozen_ = !frozen_;
  if (key == 's') by_bytes_ = !by_bytes_;
  draw_.Hurry();  // also if the size has changed
}

// Returns false if the user quits.
bool Watcher::Tick(bool may_wait) {
  if (screen_ != nullptr) {
    if (draw_.IsDue()) Draw();
    Take(screen_->Key(may_wait ? kPollMs : 0));
  } else {
    if (line_.IsDue()) PrintLine();
    if (may_wait) absl::SleepFor(kPoll);
  }
  return !quit_ && caught == 0;
}

void Watcher::StayUntilQuit() {
  draw_.Hurry();
  while (Tick(true)) {
  }
}

// A screen of fixed size, without the line of keys and the empty ones above it.
int Watcher::PrintOnce() {
  seen_children_ = children_.Look(model_->header());
  FillFrame();
  std::vector<WatchLine> lines = FrameLines(
      frame_, kOnceColumns, kOnceRows, Terminal::Of(console_.out_fd).unicode);
  lines.pop_back();  // the keys
  while (!lines.empty() && lines.back().text.empty()) lines.pop_back();
  std::string text;
  for (const WatchLine& line : lines) absl::StrAppend(&text, line.text, "\n");
  const int code = PrintText(console_, text);
  if (damages_ == 0) return code;
  console_.Say(absl::StrCat(file_->shown_name(), ": damaged at ", damages_,
                            damages_ == 1 ? " place" : " places",
                            "; what could be read is shown"));
  return kExitFailed;
}

// The exit code of the program that was started. Unless the user has left, it
// waits for the program, whose file ends a little earlier.
int Watcher::Ended() {
  StartedRun& started = *request_.started;
  const bool is_watched = !quit_ && caught == 0;
  while ((is_watched || frame_.ended) && !started.ExitCode() && caught == 0) {
    absl::SleepFor(kPoll);
  }
  const std::optional<int> code = started.ExitCode();
  if (file_ == nullptr) PassOutput();
  if (!code.has_value()) {
    console_.Say(absl::StrCat("the program is still running as process ",
                              started.pid(), "; pymemreport watch ",
                              TerminalText(started.run_path()),
                              " shows it again"));
  }
  console_.Say(absl::StrCat(
      "the program's output: ", TerminalText(started.output_path()),
      "; its run file: ", TerminalText(started.run_path())));
  return code.value_or(kExitOk);
}

int Watcher::Run() {
  // Before the screen: curses leaves a signal alone that has a handler.
  std::optional<Signals> signals;
  if (!request_.once) signals.emplace();
  line_.Delay(kLookEach);  // a run that has ended gets one line
  int code = kExitFailed;
  if (Open()) {
    if (!request_.once) screen_ = Screen::Open(console_.out_fd);
    absl::Status status;
    do {
      status = ReadOnce();
    } while (shrunk_ && !quit_ && caught == 0);
    const bool is_left = quit_ || caught != 0;
    if (status.ok() && !is_left && screen_ != nullptr) StayUntilQuit();
    if (status.ok() && !is_left && screen_ == nullptr && !request_.once) {
      PrintLine();
    }
    screen_.reset();
    code = status.ok() || is_left ? kExitOk : kExitFailed;
    if (code == kExitFailed) {
      const bool is_lost = over_ && !model_->has_header();
      console_.Say(absl::StrCat(file_->shown_name(), ": ",
                                is_lost ? "the program has ended, and nothing "
                                          "of its run can be read"
                                        : TerminalText(status.message())));
    } else if (request_.once) {
      code = PrintOnce();
    }
  }
  if (request_.started != nullptr) code = Ended();
  signals.reset();
  // So that the caller sees which signal ended this program.
  if (caught == SIGTERM || caught == SIGHUP) raise(caught);
  return code;
}

}  // namespace

int WatchRun(const WatchRequest& request, const Console& console) {
  // On a busy machine the program has priority over its view.
  if (!request.once) setpriority(PRIO_PROCESS, 0, kNice);
  return Watcher(request, console).Run();
}

}  // namespace pymemrun
