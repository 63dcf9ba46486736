#include "readers/watch/watch_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/series/series.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// How often sums are kept for comparison.
constexpr uint64_t kStepUs = 500000;

// Numbers come as they are found, so a vector grows when needed.
void AddTo(size_t number, double bytes, std::vector<double>* sums) {
  if (number >= sums->size()) sums->resize(number + 1);
  (*sums)[number] += bytes;
}

std::string EndOf(const Footer& footer) {
  switch (footer.end()) {
    case Footer::EXIT:
      return absl::StrCat("exit ", footer.exit_status());
    case Footer::SIGNAL:
      return absl::StrCat("signal ", footer.exit_status());
    case Footer::EXEC:
      return "became another program";
    default:
      return "killed, or ended without running exit functions";
  }
}

}  // namespace

WatchModel::WatchModel()
    : of_sources_(GroupBy::kLine, &index(), &lines_),
      of_stacks_(GroupBy::kLine, &index(), &lines_) {}

void WatchModel::OnHeader(const Header& header) {
  HeapReplay::OnHeader(header);
  profile_.SetHeader(header);
  has_header_ = true;
  See(0, header.first_rss_bytes());
}

// 0 bytes: only the time is known. Times of threads may be out of order a
// little.
void WatchModel::See(uint64_t time_us, uint64_t rss_bytes) {
  now_us_ = std::max(now_us_, time_us);
  if (rss_bytes == 0) return;
  rss_bytes_ = rss_bytes;
  peak_bytes_ = std::max(peak_bytes_, rss_bytes);
  curve_.Add(time_us, rss_bytes);
}

bool WatchModel::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    profile_.Add(rows[i], index());
    See(rows[i].time_us, rows[i].rss_bytes);
  }
  has_rows_ |= count > 0;
  Remember(count);
  return true;
}

bool WatchModel::OnHeap(const HeapEvent* events, size_t count) {
  const bool more = HeapReplay::OnHeap(events, count);
  if (count > 0) now_us_ = std::max(now_us_, events[count - 1].time_us);
  Remember(count);
  return more;
}

void WatchModel::Remember(size_t events) {
  events_ += events;
  // The cost of taking all sums. It is spent only after as many events.
  const size_t work = model().sources().size() + came_by_stack_.size() +
                      profile_.own_lines().size();
  if (events_ < work || before_.back().time_us + kStepUs > now_us_) return;
  Keep(Take());
}

void WatchModel::Keep(Sums now) {
  events_ = 0;
  before_.push_back(std::move(now));
  // Keeps one entry that is at least kRecentUs old, to compare with.
  while (before_.size() > 1 && before_[1].time_us + kRecentUs <= now_us_) {
    before_.pop_front();
  }
}

bool WatchModel::OnPages(const PageEntry* entries, size_t count) {
  const double page_bytes = std::max(header().page_bytes(), 1u);
  for (size_t i = 0; i < count; ++i) {
    const PageEntry& entry = entries[i];
    See(entry.time_us, 0);
    if (entry.action != PAGE_CAME && entry.action != PAGES_POPULATED) continue;
    has_pages_ = true;
    const double bytes =
        // What came, as the pages that left are not followed here.
        page_bytes * static_cast<double>(entry.pages) * entry.weight;
    // A stack that did not fit in the index counts for no line.
    if (entry.stack <= index().stacks()) {
      AddTo(entry.stack, bytes, &came_by_stack_);
    }
    if (entry.thread <= index().threads()) {
      AddTo(entry.thread, bytes, &came_by_thread_);
    }
  }
  Remember(count);
  return true;
}

void WatchModel::OnResidency(const ResidencyView& seen) {
  See(seen.time_us, seen.rss_bytes);
}

void WatchModel::OnProcess(const ProcessSample& sample) {
  HeapReplay::OnProcess(sample);
  See(sample.time_us(), sample.rss_bytes());
  peak_bytes_ = std::max<uint64_t>(peak_bytes_, sample.hwm_bytes());
}

void WatchModel::OnPause(const Pause& pause) { profile_.Add(pause); }

void WatchModel::OnFooter(const Footer& footer) {
  HeapReplay::OnFooter(footer);
  footer_ = footer;
  ended_ = true;
  now_us_ = std::max<uint64_t>(now_us_, footer.end_us());
  peak_bytes_ = std::max<uint64_t>(peak_bytes_, footer.hwm_bytes());
}

void WatchModel::OnDamage(const StreamReader::Damage& damage) { ++damages_; }

// Blocks show what is alive. Pages show only what came, but at the line that
// touched them. Calls see growth of the whole process.
WatchModel::Basis WatchModel::basis() const {
  if (has_heap_events()) return Basis::kHeap;
  if (has_pages_) return Basis::kPages;
  return has_rows_ ? Basis::kCalls : Basis::kNone;
}

// Each Take...() makes sums by line and thread out of the replay's sums by
// stack. Cost: linear in sources or stacks, see Remember().
void WatchModel::TakeHeap(Sums* sums) {
  const std::vector<HeapSource>& sources = model().sources();
  for (uint32_t i = 0; i < sources.size(); ++i) {
    const HeapSource& source = sources[i];
    if (source.live.recorded == 0 || !source.counts()) continue;
    AddTo(of_sources_.NumberOf(i, OriginOf(source.key)), source.live.bytes,
          &sums->lines);
    AddTo(source.key.thread, source.live.bytes, &sums->threads);
  }
}

void WatchModel::TakePages(Sums* sums) {
  sums->threads = came_by_thread_;
  for (uint32_t stack = 1; stack < came_by_stack_.size(); ++stack) {
    if (came_by_stack_[stack] == 0) continue;
    AddTo(of_stacks_.NumberOf(stack, Origin{.stack = stack}),
          came_by_stack_[stack], &sums->lines);
  }
}

// A damaged file may have rows of stacks and threads that it does not define.
void WatchModel::TakeCalls(Sums* sums) {
  const std::vector<RssTotals>& lines = profile_.own_lines();
  for (uint32_t stack = 1; stack < lines.size(); ++stack) {
    if (lines[stack].rows == 0 || stack > index().stacks()) continue;
    AddTo(of_stacks_.NumberOf(stack, Origin{.stack = stack}),
          static_cast<double>(lines[stack].net_bytes()), &sums->lines);
  }
  const std::vector<RssTotals>& threads = profile_.threads();
  for (size_t thread = 1; thread < threads.size(); ++thread) {
    if (thread > index().threads()) break;
    AddTo(thread, static_cast<double>(threads[thread].net_bytes()),
          &sums->threads);
  }
}

WatchModel::Sums WatchModel::Take() {
  Sums sums;
  sums.time_us = now_us_;
  switch (basis()) {
    case Basis::kHeap:
      TakeHeap(&sums);
      break;
    case Basis::kPages:
      TakePages(&sums);
      break;
    case Basis::kCalls:
      TakeCalls(&sums);
      break;
    case Basis::kNone:
      break;
  }
  return sums;
}

std::vector<double> WatchModel::ByThread(
    const std::vector<double>& sums) const {
  std::vector<double> threads;
  for (uint32_t i = 0; i < sums.size(); ++i) {
    AddTo(index().LatestThread(i), sums[i], &threads);
  }
  return threads;
}

std::vector<WatchFrame::Amount> WatchModel::AmountsOf(
    const std::vector<double>& now, const std::vector<double>& before,
    bool threads) const {
  std::vector<WatchFrame::Amount> amounts;
  // Thread 0 means no thread.
  for (size_t i = threads ? 1 : 0; i < now.size() || i < before.size(); ++i) {
    const double bytes = i < now.size() ? now[i] : 0;
    const double change = bytes - (i < before.size() ? before[i] : 0);
    if (bytes == 0 && change == 0) continue;
    amounts.push_back(
        {threads ? std::string(index().ThreadLabel(static_cast<uint32_t>(i)))
                 : LabelOf(lines_.places()[i]),
         bytes, change});
  }
  return amounts;
}

void WatchModel::Fill(size_t curve_columns, WatchFrame* frame) {
  frame->pid = header().pid();
  frame->script = header().script().empty() ? "a program" : header().script();
  if (!has_header_) frame->script.clear();
  frame->time_us = now_us_;
  frame->ended = ended_;
  if (ended_) frame->end = EndOf(footer_);
  frame->rss_bytes = rss_bytes_;
  frame->peak_bytes = peak_bytes_;
  frame->curve = curve_.Values(now_us_, curve_columns);
  // By Basis.
  static constexpr absl::string_view kMeanings[] = {
      "", "live heap", "pages that came", "growth of RSS at its events"};
  frame->meaning = std::string(kMeanings[static_cast<size_t>(basis())]);
  // Changes are against the sums of kRecentUs ago, or the start if the run is
  // younger. A slow run has few events: these sums are then kept for later.
  Sums now = Take();
  while (before_.size() > 1 && before_[1].time_us + kRecentUs <= now_us_) {
    before_.pop_front();
  }
  const Sums& before = before_.front();
  frame->lines = AmountsOf(now.lines, before.lines, false);
  frame->threads =
      AmountsOf(ByThread(now.threads), ByThread(before.threads), true);
  if (damages_ > 0) {
    frame->notes.push_back(
        absl::StrCat(Counted(damages_, "damaged place"), " in the file"));
  }
  if (before_.back().time_us + kStepUs <= now_us_) Keep(std::move(now));
}

// Steps of 1 ms at first. When time exceeds the last step, each pair becomes
// one step of twice the length. So memory is constant, whatever the run's
// length.
void RssCurve::Add(uint64_t time_us, uint64_t rss_bytes) {
  if (rss_bytes == 0) return;
  while (time_us / step_us_ >= kMostSteps) {
    for (size_t i = 0; i < highest_.size(); i += 2) {
      const uint64_t next = i + 1 < highest_.size() ? highest_[i + 1] : 0;
      highest_[i / 2] = std::max(highest_[i], next);
    }
    highest_.resize((highest_.size() + 1) / 2);
    step_us_ *= 2;
  }
  const size_t step = time_us / step_us_;
  if (highest_.size() <= step) highest_.resize(step + 1);
  highest_[step] = std::max(highest_[step], rss_bytes);
}

std::vector<double> RssCurve::Values(uint64_t end_us, size_t count) const {
  std::vector<TimedValue> readings;
  for (size_t i = 0; i < highest_.size(); ++i) {
    if (highest_[i] == 0) continue;
    readings.push_back({i * step_us_, static_cast<double>(highest_[i])});
  }
  return Resampled(readings, 0, end_us, count, 0);
}

}  // namespace pymemrun
