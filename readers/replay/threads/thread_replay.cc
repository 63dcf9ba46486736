#include "readers/replay/threads/thread_replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "format/records/stack_depths.h"
#include "readers/places/place_table.h"
#include "readers/replay/page_errors/sample_errors.h"

namespace pymemrun {
namespace {

// The line with most bytes, by thread. Several stacks may lead to a line.
class TopLines {
 public:
  struct Top {
    uint64_t bytes = 0;
    uint32_t stack = 0;
    bool has_code = false;  // the line is in a file
  };

  // Adds bytes to a thread's line. Ties go to the lower stack, so that results
  // do not depend on hashing.
  void Add(uint32_t thread, uint32_t line, Top one) {
    if (one.bytes == 0) return;
    one.bytes = bytes_of_[{thread, line}] += one.bytes;
    Top& top = tops_[thread];
    const bool is_first = one.bytes == top.bytes && one.stack < top.stack;
    if (one.bytes > top.bytes || is_first) top = one;
  }
  Top Of(uint32_t thread) const {
    const auto found = tops_.find(thread);
    return found != tops_.end() ? found->second : Top();
  }

 private:
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint64_t> bytes_of_;
  absl::flat_hash_map<uint32_t, Top> tops_;
};

}  // namespace

ThreadTotals* ThreadReplay::Of(uint32_t thread) {
  return &threads_[thread < threads_.size() ? thread : 0];
}

// Ids are consecutive: this is the next one. Threads that did not fit in the
// index count as no thread.
void ThreadReplay::OnThread(const ThreadDef& thread) {
  ResidentReplay::OnThread(thread);
  if (threads_.size() > index().threads()) return;
  threads_.push_back({});
  threads_.back().first_us = threads_.back().last_us = thread.first_us();
}

void ThreadReplay::See(uint32_t thread, uint64_t time_us) {
  ThreadTotals* const totals = Of(thread);
  totals->first_us = std::min(totals->first_us, time_us);
  totals->last_us = std::max(totals->last_us, time_us);
}

bool ThreadReplay::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    ThreadTotals* const totals = Of(rows[i].thread);
    ++totals->rows;
    totals->is_python = true;
    See(rows[i].thread, rows[i].time_us);
  }
  return ResidentReplay::OnRows(rows, count);
}

bool ThreadReplay::OnHeap(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    See(events[i].thread, events[i].time_us);
    SeeStack(events[i].thread, events[i].stack);
  }
  return true;
}

void ThreadReplay::SeeStack(uint32_t thread, uint32_t stack) {
  ThreadTotals* const totals = Of(thread);
  // One Python frame is enough evidence.
  if (totals->is_python || stack == 0) return;
  totals->is_python =
      index().ResolveStack(stack).code_name != kNativeThreadName;
}

void ThreadReplay::OnChanged(const PageOwner& by, int64_t bytes) {
  if (now_us() == 0) return;  // the program's own code has not started
  if (!range_.HasMicros(now_us())) return;
  See(by.thread, now_us());
  SeeStack(by.thread, by.stack);
  std::tuple<uint32_t, uint32_t, uint32_t> key(by.thread, by.stack, by.task);
  // New stacks no longer fit: their changes count at stack 0.
  if (changes_.size() >= kMaxStacks && !changes_.contains(key)) {
    key = {by.thread, 0, 0};
  }
  Bytes& at_stack = changes_[key];
  ThreadTotals* const totals = Of(by.thread);
  if (bytes < 0) {
    totals->shrinkage_bytes -= static_cast<uint64_t>(bytes);
    at_stack.shrinkage -= static_cast<uint64_t>(bytes);
  } else {
    totals->growth_bytes += static_cast<uint64_t>(bytes);
    at_stack.growth += static_cast<uint64_t>(bytes);
  }
}

// Moments that have no event of their own are met here, between two events.
void ThreadReplay::OnTime(uint64_t time_us) {
  // RSS at the ends of the range, from the model between the events.
  if (range_.BeginsBetween(now_us(), time_us)) {
    begin_rss_bytes_ = model().RssBytes();
  }
  if (range_.EndsBetween(now_us(), time_us)) {
    end_rss_bytes_ = model().RssBytes();
  }
  // The peak is between the last event and this one: the model is at it now.
  if (!has_peak_ && now_us() <= peak_us_ && peak_us_ < time_us) TakePeak();
}

void ThreadReplay::TakePeak() {
  has_peak_ = true;
  const std::vector<PageOwner>& owners = model().owners();
  for (uint32_t id = 1; id < owners.size(); ++id) {
    Of(owners[id].thread)->peak_bytes +=
        model().PagesOf(id) * model().page_bytes();
  }
  const std::vector<double> variances = VariancesByThread(model());
  for (uint32_t id = 0; id < variances.size(); ++id) {
    Of(id)->peak_variance += variances[id];
  }
}

void ThreadTotals::Add(const ThreadTotals& other) {
  growth_bytes += other.growth_bytes;
  shrinkage_bytes += other.shrinkage_bytes;
  peak_bytes += other.peak_bytes;
  peak_variance += other.peak_variance;
  rows += other.rows;
  first_us = std::min(first_us, other.first_us);
  last_us = std::max(last_us, other.last_us);
  is_python |= other.is_python;
}

void ThreadReplay::FoldRenamed() {
  for (uint32_t id = 1; id < threads_.size(); ++id) {
    // A renamed thread is one row, under its last name.
    const uint32_t latest = index().LatestThread(id);
    if (latest == id || latest >= threads_.size()) continue;
    threads_[latest].Add(threads_[id]);
    threads_[id] = {};
  }
}

void ThreadReplay::FindTopLines() {
  PlaceTable lines;
  TopLines came, went;
  ForEachChange([&](const Change& at) {
    if (at.stack == 0) return;
    const uint32_t line =
        lines.NumberOf(GroupBy::kLine, index(), Origin{.stack = at.stack});
    const bool has_code = lines.places()[line].line != 0;
    came.Add(at.thread, line, {at.growth_bytes, at.stack, has_code});
    went.Add(at.thread, line, {at.shrinkage_bytes, at.stack, has_code});
  });
  for (uint32_t id = 0; id < threads_.size(); ++id) {
    TopLines::Top top = came.Of(id);
    const TopLines::Top gone = went.Of(id);
    // The line that released most replaces a line without code.
    if (!top.has_code && gone.has_code && gone.bytes > top.bytes) top = gone;
    threads_[id].top_stack = top.stack;
  }
}

void ThreadReplay::Finish() {
  ResidentReplay::Finish();
  if (!has_peak_) TakePeak();
  FoldRenamed();
  FindTopLines();
}

// What is left of the change of RSS after all threads' changes.
int64_t ThreadReplay::unattributed_bytes() const {
  int64_t by_threads = 0;
  for (size_t id = 1; id < threads_.size(); ++id) {
    by_threads += threads_[id].net_bytes();
  }
  // Wraps correctly if RSS fell.
  const uint64_t from = begin_rss_bytes_.value_or(header().first_rss_bytes());
  const uint64_t to = end_rss_bytes_.value_or(model().RssBytes());
  return static_cast<int64_t>(to - from) - by_threads;
}

std::vector<double> VariancesByThread(const ResidentModel& model) {
  std::vector<double> variances;
  if (!model.sampled()) return variances;
  SampleErrors errors(model.page_bytes());
  size_t threads = 0;
  model.pages().ForEach([&](const PageMap::Run& run) {
    const PageOwner& owner = model.owners()[run.owner];
    if (owner.weight <= 1) return;
    threads = std::max<size_t>(threads, owner.thread + size_t{1});
    for (uint64_t page = run.begin; page < run.end; ++page) {
      errors.Add(owner.thread, page, owner.weight, owner.weight);
    }
  });
  const auto page_bytes = static_cast<double>(model.page_bytes());
  for (size_t thread = 0; thread < threads; ++thread) {
    variances.push_back(errors.VarianceOf(thread) * page_bytes * page_bytes);
  }
  return variances;
}

}  // namespace pymemrun
