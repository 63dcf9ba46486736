#include "collector/session/run_end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/objects/object_recorder.h"
#include "collector/output/run_writer.h"
#include "collector/process/monotonic_clock.h"
#include "collector/ring/ring_reader.h"
#include "format/lock/writer_lock.h"
#include "format/summary/end_report.h"

namespace pymemrun {
namespace {

constexpr int kWaitForStatusMs = 500;
// Most events of a run that the end report analyses: longer ones take too long.
constexpr uint64_t kMostAnsweredEvents = 2000000;
constexpr int kWaitForAnswerMs = 2500;  // the launcher waits for 5 s

// What the gauge did, and what --verify-rss found of it.
void AddGaugeToFooter(const ControlPage& page, uint32_t page_bytes,
                      Footer* footer) {
  footer->set_rss_reads(page.rss_reads.load(std::memory_order_relaxed));
  const uint64_t events = page.verified_events.load(std::memory_order_relaxed);
  if (events == 0) return;
  RssVerification* found = footer->mutable_rss_verification();
  found->set_events(events);
  found->set_agreeing(page.agreeing_events.load(std::memory_order_relaxed));
  found->set_changing(page.changing_events.load(std::memory_order_relaxed));
  found->set_worst_staleness_ns(
      page.worst_staleness_ns.load(std::memory_order_relaxed));
  found->set_worst_error_bytes(
      page.worst_error_pages.load(std::memory_order_relaxed) * page_bytes);
}

// Some versions of CPython do not tell when they finalize. But finalization
// always leads to exit(), so a program that ended otherwise was not finalized.
void AddFinalizeToFooter(const ControlPage& page, const EndFacts& facts,
                         const ClockScale& clock, Footer* footer) {
  const uint64_t ns = page.finalize_ns.load(std::memory_order_acquire);
  if (ns != 0) {
    footer->set_finalize(Footer::FINALIZED);
    footer->set_finalize_us(clock.MicrosOfMonotonic(ns));
  } else if (page.tells_finalize != 0 || facts.reason != EndReason::kExit) {
    footer->set_finalize(Footer::NOT_FINALIZED);
  }
}

// Counts that only the traced process has.
void AddTracerFacts(const ControlPage& page, const LaunchText& launch,
                    Footer* footer) {
  footer->set_stalls(page.stalls.load(std::memory_order_relaxed));
  const uint32_t forks = page.forks.load(std::memory_order_relaxed);
  const uint32_t traced =
      ChildCountsOf(&page)->traced.load(std::memory_order_relaxed);
  // Which of the others became other programs is not known.
  const bool all_traced =
      launch.follow_all || (launch.traces_started && !launch.children.empty());
  footer->set_untraced_children(
      (all_traced ? 0 : forks - std::min(forks, traced)) +
      page.started[0].load(std::memory_order_relaxed));
  footer->set_tables_emptied(
      page.tables_emptied.load(std::memory_order_relaxed));
}

void AddLostOnWrite(const RowCounts& lost, Footer* footer) {
  footer->set_lost_on_write(lost.rows);
  footer->set_heap_events_lost(footer->heap_events_lost() + lost.heap_events);
  footer->set_page_samples_lost(footer->page_samples_lost() + lost.page_events);
  // It counts events in the file, so it is wrong where some are missing.
  if (lost.heap_events > 0) footer->clear_finalize_heap_events();
}

}  // namespace

void RunEnd::Write(ProcessWatch::State end, uint64_t now_ns, uint64_t events) {
  Record record;
  *record.mutable_footer() = MakeFooter(end, now_ns);
  record.mutable_footer()->set_events(
      std::max(events, in_.encoder->totals().next_number));
  in_.writer->WriteFooter(record);
  SetWriting(in_.output_fd, Writing::kNo);
  Answer(record.footer());
}

// A process that was killed has left no EndFacts: they stay 0, and the
// collector's own values take their place where it has any.
Footer RunEnd::MakeFooter(ProcessWatch::State end, uint64_t now_ns) const {
  const RowTotals& totals = in_.encoder->totals();
  Footer footer;
  EndFacts facts = {};  // zeros of a process that has said nothing
  const bool said = end == ProcessWatch::State::kSaidEnd;
  if (said) std::memcpy(&facts, &in_.page->end, sizeof(facts));
  SetExit(end, facts, &footer);
  footer.set_end_us(
      in_.clock->MicrosOfMonotonic(said ? facts.monotonic_ns : now_ns));
  // All rows are safe before a footer follows them, or lost for good.
  in_.writer->Settle();
  footer.set_rows(in_.writer->written().rows);
  footer.set_dropped(in_.page->dropped.load(std::memory_order_acquire));
  footer.set_context_rows(in_.writer->written().context);
  footer.set_max_rss_bytes(totals.max_rss_bytes);
  footer.set_max_rss_number(totals.max_rss_number);
  // Definitions may have been lost with their frame: then unknown.
  const bool whole = !in_.writer->lost_frames();
  footer.set_max_rss_site(whole ? totals.max_rss_site : 0);
  footer.set_max_rss_thread(whole ? totals.max_rss_thread : 0);
  footer.set_max_rss_us(totals.max_rss_us);
  AddMemory(facts, &footer);
  footer.set_clock_steps_back(totals.clock_steps_back);
  footer.set_worst_clock_step_back_ns(
      in_.clock->Nanos(totals.worst_clock_step_back));
  AddTracerFacts(*in_.page, *in_.launch, &footer);
  AddFinalizeToFooter(*in_.page, facts, *in_.clock, &footer);
  for (const auto& source : *in_.sources) source->AddToFooter(&footer);
  AddLostOnWrite(in_.writer->lost(), &footer);
  footer.set_output_name(FateOfOutput(in_.output_fd, MadeAt()).name);
  AddGaugeToFooter(*in_.page, in_.page_bytes, &footer);
  if (totals.gauge_changes > 0) {
    *footer.mutable_gauge_change() = totals.gauge_change;
    footer.set_gauge_changes(totals.gauge_changes);
  }
  if (totals.peak.hwm_bytes() > footer.seen_max_rss_bytes()) {
    *footer.mutable_peak() = totals.peak;
  }
  footer.set_user_us(in_.sample->user_us());
  footer.set_system_us(in_.sample->system_us());
  return footer;
}

void RunEnd::AddMemory(const EndFacts& facts, Footer* footer) const {
  footer->set_own_bytes(facts.own_bytes);
  footer->set_last_rss_bytes(facts.last_rss_bytes);
  footer->set_seen_max_rss_bytes(
      std::max(in_.encoder->totals().max_rss_bytes, facts.max_rss_bytes));
  // The kernel's high-water mark may lag behind what statm has shown.
  footer->set_hwm_bytes(
      std::max<uint64_t>({in_.sample->hwm_bytes(), facts.hwm_bytes,
                          footer->seen_max_rss_bytes()}));
  footer->set_line_array_bytes(facts.line_array_bytes);
  footer->set_frame_object_bytes(facts.frame_object_bytes);
  footer->set_bound_object_bytes(facts.bound_object_bytes);
}

// In this order: what the program said, the zombie in /proc, the pidfd. All of
// these may be missing; then the footer says KILLED_OR_EXITED.
void RunEnd::SetExit(ProcessWatch::State end, const EndFacts& facts,
                     Footer* footer) const {
  if (end == ProcessWatch::State::kExec ||
      (end == ProcessWatch::State::kSaidEnd &&
       facts.reason == EndReason::kExec)) {
    footer->set_end(Footer::EXEC);
    return;
  }
  if (end == ProcessWatch::State::kSaidEnd) {
    footer->set_end(facts.reason == EndReason::kSignal ? Footer::SIGNAL
                                                       : Footer::EXIT);
    footer->set_exit_status(facts.exit_status);
    return;
  }
  footer->set_end(Footer::KILLED_OR_EXITED);
  // A zombie shows its status on kernels of any age.
  absl::optional<int> status = in_.stats->ZombieWaitStatus();
  if (!status.has_value()) status = in_.watch->WaitStatus(kWaitForStatusMs);
  if (!status.has_value()) return;
  footer->set_end(WIFSIGNALED(*status) ? Footer::SIGNAL : Footer::EXIT);
  footer->set_exit_status(WIFSIGNALED(*status) ? WTERMSIG(*status)
                                               : WEXITSTATUS(*status));
}

// The path at which the file was created; the script may have changed it.
std::string RunEnd::MadeAt() const {
  return in_.encoder->output().empty() ? in_.launch->output
                                       : in_.encoder->output();
}

// Runs `pymemreport` on the file, for the answer in the end report. Only a
// program that ends through exit handlers waits for it.
std::string RunEnd::AnswerText(const Footer& footer) const {
  const bool is_awaited =
      in_.page->end.reason != EndReason::kUnknown &&
      (footer.end() == Footer::EXIT || footer.end() == Footer::SIGNAL);
  const uint64_t events = footer.rows() + footer.page_events() +
                          footer.heap_allocations() + footer.heap_frees();
  if (!is_awaited || footer.own_bytes() == 0 || events > kMostAnsweredEvents) {
    return "";
  }
  return AskForAnswer(
      in_.launch->reporter, in_.output_fd, kAnswerColumns, kWaitForAnswerMs,
      [this] { in_.reply->heartbeat.fetch_add(1, std::memory_order_relaxed); });
}

// The dumps are beside the run file, if the program named no other place.
void RunEnd::AddDumps(EndReportInput* input) const {
  const DumpsMade& dumps = in_.encoder->dumps();
  const std::string path = MadeAt();
  const std::string last =
      path.substr(0, path.rfind('/') + 1).append(dumps.last);
  if (dumps.count == 0 || access(last.c_str(), F_OK) != 0) return;
  input->dumps = dumps.count;
  input->last_dump = last;
}

// Puts the end report into the reply page and wakes the program, which prints
// it.
void RunEnd::Answer(const Footer& footer) const {
  EndReportInput input;
  input.header = in_.launch->header;
  input.footer = footer;
  input.file_name = FateOfOutput(in_.output_fd, MadeAt()).path;
  input.file_bytes = in_.writer->file_bytes();
  if (const int error = in_.writer->write_errno(); error != 0) {
    input.write_error = strerror(error);
  }
  input.answer = AnswerText(footer);
  input.traced_children =
      ChildCountsOf(in_.page)->all.load(std::memory_order_relaxed);
  if (in_.launch->follow_all) {
    input.started_children =
        in_.page->forks.load(std::memory_order_relaxed) +
        in_.page->started[1].load(std::memory_order_relaxed);
  }
  const std::string& children = in_.launch->children;
  input.children_name = children.substr(children.rfind('/') + 1);
  AddDumps(&input);
  input.names_next = true;
  static_assert(sizeof(in_.reply->report) >= kMaxEndReportBytes);
  const std::string text = EndReportText(input);
  const size_t bytes = std::min(text.size(), sizeof(in_.reply->report));
  std::memcpy(in_.reply->report, text.data(), bytes);
  in_.reply->report_bytes = static_cast<uint32_t>(bytes);
  in_.reply->write_errno = in_.writer->write_errno();
  in_.reply->file_bytes = in_.writer->file_bytes();
  in_.reply->rows_written = in_.writer->written().rows;
  in_.reply->rows_lost_on_write = in_.writer->lost().rows;
  // Releases all of the above to the launcher, which acquires it.
  in_.reply->done_state.store(1, std::memory_order_release);
  WakeSharedFutex(&in_.reply->done_state);
}

namespace {

constexpr int kBeatMs = 50;
constexpr int kFileFd = 3;  // in the program
constexpr size_t kMostTextBytes = 2000;

bool IsAnswered(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
         static_cast<uint64_t>(info.st_size) <= kMostAnsweredBytes;
}

// The environment of pymemreport: only the variables of the character set are
// passed on.
std::vector<std::string> Environment(int columns) {
  std::vector<std::string> all = {absl::StrCat("COLUMNS=", columns)};
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = getenv(name);
    if (value != nullptr) all.push_back(absl::StrCat(name, "=", value));
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  for (std::string& each : *strings) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the program with `out_fd` as its standard output. Returns below 0 if
// that fails.
pid_t Start(const std::string& program, int file_fd, int out_fd, int columns) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out_fd, 1);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, file_fd, kFileFd);
  posix_spawn_file_actions_addclosefrom_np(&files, kFileFd + 1);
  // By descriptor, because the file may have been renamed.
  std::vector<std::string> words = {program, "report", "--brief",
                                    absl::StrCat("/proc/self/fd/", kFileFd)};
  std::vector<std::string> variables = Environment(columns);
  pid_t pid = -1;
  if (posix_spawn(&pid, program.c_str(), &files, nullptr,
                  Pointers(&words).data(), Pointers(&variables).data()) != 0) {
    pid = -1;
  }
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

// The kernel kills the process with the highest oom_score_adj first (proc(5)).
void LetItDieFirst(pid_t pid) {
  const std::string path = absl::StrCat("/proc/", pid, "/oom_score_adj");
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "1000", 4) < 0) {
  }
  close(fd);
}

// Reads until the end of the pipe. Returns an empty text if `end_ns` passes or
// if there is more than kMostTextBytes.
std::string ReadUntil(uint64_t end_ns, int fd, absl::FunctionRef<void()> beat) {
  std::string text;
  while (MonotonicNs() < end_ns && text.size() <= kMostTextBytes) {
    beat();
    char buffer[4096];
    const ssize_t size = ReadPipe(fd, buffer, sizeof(buffer), kBeatMs);
    if (size < 0 && errno != EINTR && errno != EAGAIN) return "";
    if (size == 0) return text;
    text.append(buffer, std::max<ssize_t>(size, 0));
  }
  return "";
}

}  // namespace

std::string AskForAnswer(const std::string& program, int file_fd, int columns,
                         int most_ms, absl::FunctionRef<void()> beat) {
  int fds[2];
  if (program.empty() || !IsAnswered(file_fd) || pipe2(fds, O_CLOEXEC) != 0) {
    return "";
  }
  const uint64_t end_ns = MonotonicNs() + uint64_t{1000000} * most_ms;
  const pid_t pid = Start(program, file_fd, fds[1], columns);
  close(fds[1]);
  std::string text;
  int status = -1;
  if (pid > 0) {
    LetItDieFirst(pid);
    text = ReadUntil(end_ns, fds[0], beat);
    if (text.empty()) kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  close(fds[0]);
  return status == 0 ? text : "";
}

}  // namespace pymemrun
