#include "readers/cat/pymemcat.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "format/stream/read_plan.h"
#include "readers/cat/cat_options.h"
#include "readers/cat/first_reading.h"
#include "readers/cat/merge_reader.h"
#include "readers/cat/raw_copy.h"
#include "readers/cat/run_printer.h"
#include "readers/replay/summary/run_facts.h"
#include "readers/run/follow_watch.h"
#include "readers/run/input_file.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// How often --follow looks for more bytes.
constexpr absl::Duration kFollowPoll = absl::Milliseconds(50);

// Whether the receiver of `fd` has gone. poll() reports POLLERR for a pipe
// without a reader, even if no event is asked for, see poll(2).
bool IsHungUp(int fd) {
  pollfd state = {fd, 0, 0};
  return poll(&state, 1, 0) > 0 && (state.revents & POLLERR) != 0;
}

PrintTarget::MakeWriter WriterOf(CatOptions::Format format,
                                 OutputBuffer* output) {
  return [format, output](const RowWriter::Options& options) {
    if (format == CatOptions::Format::kCsv) {
      return NewCsvWriter(options, output);
    }
    if (format == CatOptions::Format::kJsonl) {
      return NewJsonlWriter(options, output);
    }
    return NewTextWriter(options, output);
  };
}

RowWriter::Options WriterOptions(const CatOptions& options) {
  RowWriter::Options writer;
  writer.columns = options.columns;
  writer.with_header = options.with_header;
  writer.raw_text = options.raw_text;
  writer.extra = options.filter.extra;
  writer.with_pid = options.files.size() > 1;
  return writer;
}

// What --follow needs to know of the run.
struct FollowedRun {
  Header header;
  std::atomic<bool> ended{false};  // the footer was read
};

// Passes each record on, notes header and footer, and prints damage.
template <typename Visitor>
class Watched final : public Visitor {
 public:
  template <typename... Args>
  Watched(DamageTeller* teller, FollowedRun* run, Args&&... args)
      : Visitor(std::forward<Args>(args)...), teller_(teller), run_(run) {}
  void OnHeader(const Header& header) override {
    Visitor::OnHeader(header);
    run_->header = header;
  }
  void OnFooter(const Footer& footer) override {
    Visitor::OnFooter(footer);
    run_->ended = true;
  }
  void OnDamage(const StreamReader::Damage& damage) override {
    teller_->Say(damage);
  }

 private:
  DamageTeller* const teller_;
  FollowedRun* const run_;
};

class Pymemcat {
 public:
  Pymemcat(const CatOptions& options, const Console& console,
           const std::atomic<bool>* interrupted)
      : options_(options),
        console_(console),
        interrupted_(interrupted),
        output_(console.out),
        target_(WriterOf(options.format, &output_), WriterOptions(options),
                &output_) {}

  int Run() {
    int code = OpenAll();
    if (inputs_.empty()) return code;
    StartProgress();
    if (options_.format == CatOptions::Format::kSummary) {
      for (auto& input : inputs_) code = std::max(code, Summarise(&input));
    } else if (options_.format == CatOptions::Format::kRaw) {
      code = std::max(code, PrintRaw(&inputs_[0]));
    } else if (options_.files.size() == 1) {
      Plan(&inputs_[0]);
      code = std::max(code, PrintOne(&inputs_[0]));
    } else {
      code = std::max(code, PrintAll());
    }
    progress_.reset();
    code = std::max(code, FinishOutput(console_, &output_));
    // As in `pymemcat run.pb | head`: that is no failure.
    if (ReaderHasGone(console_)) return kExitOk;
    WarnOfSpreadsheet();
    return code;
  }

 private:
  // A file, and the sources that its bytes pass through.
  struct Input {
    std::unique_ptr<InputFile> file;
    FilterOptions filter;
    FdSource* descriptor;  // the first of the sources
    std::vector<std::unique_ptr<ByteSource>> sources;
    std::unique_ptr<ReadPlan> plan;
    std::unique_ptr<ThreadDrss> thread_drss;
    // It can be read more than once.
    bool MaySeek() const {
      return file->size_bytes() > 0 && file->path() != "-";
    }
    ByteSource* source() { return sources.back().get(); }
    StreamReader::Options options() const {
      StreamReader::Options options;
      options.plan = plan.get();
      return options;
    }
  };

  int OpenAll();
  void Plan(Input* input);
  void ReadThreads(Input* input, RunPrinter* printer);
  void StartProgress();
  int Summarise(Input* input);
  int PrintRaw(Input* input);
  int PrintOne(Input* input);
  int PrintAll();
  int Told(const Input& input, const absl::Status& status,
           const ReadResult& result);
  void SayMissing(const Input& input, const RunPrinter& printer,
                  const ReadResult& result);
  void Follow(Input* input);
  bool Idle();
  void WarnOfSpreadsheet();

  const CatOptions& options_;
  const Console& console_;
  const std::atomic<bool>* const interrupted_;
  OutputBuffer output_;
  PrintTarget target_;
  std::unique_ptr<Progress> progress_;
  std::vector<Input> inputs_;
  FollowedRun run_;
  FdSource* followed_ = nullptr;  // what --follow reads
  FollowWatch watch_{[this] { return RunIsDead(run_.header); }};
};

// A file that cannot be opened does not keep the others from being printed.
int Pymemcat::OpenAll() {
  int code = kExitOk;
  for (const std::string& path : options_.files) {
    auto file = InputFile::Open(path);
    if (!file.ok()) {
      console_.Say(
          absl::StrCat(TerminalText(path), ": ", file.status().message()));
      code = kExitFailed;
      continue;
    }
    Input input;
    input.file = *std::move(file);
    input.filter = options_.filter;
    if (options_.SeekMoments() &&
        !FindTimes(options_, *input.file, console_, &input.filter, &code)) {
      continue;
    }
    auto descriptor = std::make_unique<FdSource>(input.file->fd());
    input.descriptor = descriptor.get();
    input.sources.push_back(std::move(descriptor));
    if (options_.follow) Follow(&input);
    inputs_.push_back(std::move(input));
  }
  return code;
}

void Pymemcat::Follow(Input* input) {
  followed_ = input->descriptor;
  if (input->file->size_bytes() == 0) {
    console_.Say(absl::StrCat("waiting for ", input->file->shown_name(),
                              ": it is still empty"));
  }
  input->sources.push_back(std::make_unique<FollowSource>(
      input->source(), [this] { return run_.ended || *interrupted_; },
      [this] { return Idle(); }, kFollowPoll));
}

// For --from and --to: skips the parts of the file that are of other times, by
// its index.
void Pymemcat::Plan(Input* input) {
  if (!input->MaySeek() || options_.follow || !input->filter.HasTimes()) {
    return;
  }
  auto plan = ReadPlan::Create(input->descriptor, input->file->size_bytes(),
                               input->filter.from_us, input->filter.to_us);
  if (plan.ok()) {
    input->plan = *std::move(plan);
    return;
  }
  console_.Say(absl::StrCat(
      input->file->shown_name(), ": the index of frames is wrong (",
      TerminalText(plan.status().message()), "); the whole file is read"));
}

// Changes of RSS by thread take a reading of their own, so they are read only
// if a column shows them.
void Pymemcat::ReadThreads(Input* input, RunPrinter* printer) {
  if (!options_.HasColumn(Column::kThreadDrss) &&
      !options_.HasColumn(Column::kCallThreadDrss)) {
    return;
  }
  if (!input->MaySeek() || options_.follow) return;
  input->thread_drss = ReadThreadDrss(input->file->fd(), input->filter.from_us);
  printer->SetThreadDrss(input->thread_drss.get());
}

// Flushes what was printed before each wait for more.
bool Pymemcat::Idle() {
  return output_.Flush().ok() && !*interrupted_ && !IsHungUp(console_.out_fd) &&
         !watch_.IsOver(followed_->bytes_read(), absl::Now());
}

// Only if output goes elsewhere: on a terminal it would be mixed with the rows.
void Pymemcat::StartProgress() {
  uint64_t size_bytes = 0;
  for (const Input& input : inputs_) size_bytes += input.file->size_bytes();
  if (options_.follow || size_bytes < kProgressBytes ||
      isatty(console_.out_fd) || !isatty(console_.err_fd)) {
    return;
  }
  progress_ = std::make_unique<Progress>(
      size_bytes, [fd = console_.err_fd](absl::string_view text) {
        FdSink(fd).Append(text).IgnoreError();
      });
  for (Input& input : inputs_) {
    input.sources.push_back(
        std::make_unique<ProgressSource>(input.source(), progress_.get()));
  }
}

// The exit code of a file's reading, and the messages about it. An interrupt
// during --follow is the usual end.
int Pymemcat::Told(const Input& input, const absl::Status& status,
                   const ReadResult& result) {
  progress_.reset();
  const bool cut_short = options_.follow && *interrupted_;
  if (!output_.ok() || (cut_short && status.ok() && result.damages == 0)) {
    return kExitOk;
  }
  return SayResultOf(input.file->fd(), console_, input.file->shown_name(),
                     status, result);
}

// A run that was read, but has none of the records asked for.
void Pymemcat::SayMissing(const Input& input, const RunPrinter& printer,
                          const ReadResult& result) {
  const std::string missing = printer.Missing();
  if (!result.has_header || missing.empty()) return;
  console_.Say(absl::StrCat(input.file->shown_name(), ": ", missing));
}

int Pymemcat::PrintOne(Input* input) {
  DamageTeller teller(&console_, input->file->shown_name());
  ReadResult result;
  Watched<RunPrinter> printer(&teller, &run_, &input->filter, options_.net,
                              /*slot=*/0u, &target_);
  ReadThreads(input, &printer);
  const absl::Status status =
      ReadStream(input->source(), input->options(), &printer, &result);
  // Prints its header, even without rows.
  if (result.has_header) target_.Writer();
  output_.Flush().IgnoreError();
  SayMissing(*input, printer, result);
  return Told(*input, status, result);
}

// Damage is told on the reading threads, as it is found. Results are asked for
// when all have ended.
int Pymemcat::PrintAll() {
  std::vector<std::unique_ptr<DamageTeller>> tellers;
  std::vector<std::unique_ptr<MergeInput>> merged;
  for (Input& input : inputs_) {
    Plan(&input);
    tellers.push_back(
        std::make_unique<DamageTeller>(&console_, input.file->shown_name()));
    merged.push_back(std::make_unique<MergeInput>(
        input.source(), input.options(),
        [teller = tellers.back().get()](const StreamReader::Damage& damage) {
          teller->Say(damage);
        },
        &input.filter, options_.net, static_cast<uint32_t>(merged.size()),
        &target_));
    ReadThreads(&input, merged.back().get());
  }
  PrintMerged(merged, target_);
  output_.Flush().IgnoreError();
  int code = kExitOk;
  bool any_header = false;
  for (size_t i = 0; i < merged.size(); ++i) {
    any_header |= merged[i]->result().has_header;
    SayMissing(inputs_[i], *merged[i], merged[i]->result());
    code = std::max(code,
                    Told(inputs_[i], merged[i]->status(), merged[i]->result()));
  }
  // A header row even if no row passed the filters.
  if (any_header) target_.Writer();
  return code;
}

int Pymemcat::PrintRaw(Input* input) {
  DamageTeller teller(&console_, input->file->shown_name());
  ReadResult result;
  Watched<RecordVisitor> watcher(&teller, &run_);
  const absl::Status status =
      CopyRaw(input->source(), &output_, &watcher, &result);
  output_.Flush().IgnoreError();
  return Told(*input, status, result);
}

// A dump of objects is no run: the message of its result says what it is.
int Pymemcat::Summarise(Input* input) {
  DamageTeller teller(&console_, input->file->shown_name());
  ReadResult result;
  Watched<RunFacts> facts(&teller, &run_);
  const absl::Status status =
      ReadStream(input->source(), StreamReader::Options(), &facts, &result);
  if (result.has_header && result.objects == 0) {
    const InputFile& file = *input->file;
    output_.Append(EndReportOf(
        facts, file.path() == "-" ? file.shown_name() : file.path(),
        std::max(file.size_bytes(), input->descriptor->bytes_read())));
    output_.Flush().IgnoreError();
  }
  return Told(*input, status, result);
}

void Pymemcat::WarnOfSpreadsheet() {
  if (options_.format != CatOptions::Format::kCsv || !output_.ok()) return;
  // --every thins neither marks nor page and heap events.
  const uint64_t others = target_.marks + target_.extra;
  const uint64_t step = SpreadsheetStep(target_.next_rows, target_.context_rows,
                                        others, target_.most_context);
  if (step == 0) return;
  console_.Say(absl::StrCat(target_.next_rows + target_.context_rows + others,
                            " rows exceed the ", kSpreadsheetRows,
                            " of a spreadsheet; --every ",
                            step * options_.filter.every, " stays below"));
}

}  // namespace

uint64_t SpreadsheetStep(uint64_t next_rows, uint64_t context_rows,
                         uint64_t marks, uint64_t most_context) {
  const uint64_t room = kSpreadsheetRows - 1;  // one is for the header
  if (next_rows + context_rows + marks <= room) return 0;
  // Each row that is kept may bring as many context rows as any did.
  const uint64_t rows_each = 1 + most_context;
  const uint64_t kept = marks < room ? (room - marks) / rows_each : 0;
  if (kept == 0) return std::max<uint64_t>(next_rows, 2);
  return std::max<uint64_t>(2, (next_rows + kept - 1) / kept);
}

int RunPymemcat(const std::vector<std::string>& arguments,
                const Console& console, const std::atomic<bool>* interrupted) {
  CatOptions options;
  const std::optional<int> ended =
      ParseCatOptions(arguments, console, &options);
  if (ended.has_value()) return *ended;
  return Pymemcat(options, console, interrupted).Run();
}

}  // namespace pymemrun
