#include "readers/cat/merge_reader.h"

#include <limits>
#include <queue>
#include <utility>

namespace pymemrun {

// The thread uses this object, so it has to end first.
MergeInput::~MergeInput() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void MergeInput::Start() {
  thread_ = std::thread([this] {
    // Runs until the file ends, or Stop() was called.
    status_ = ReadStream(source_, options_, this, &result_);
    std::lock_guard<std::mutex> lock(mutex_);
    state_ = State::kDone;
    changed_.notify_all();
  });
}

MergeInput::State MergeInput::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return state_ != State::kReading; });
  return state_;
}

uint64_t MergeInput::time_us() const {
  if (items_.mark != nullptr) return items_.mark->time_us();
  if (items_.pages != nullptr) return items_.pages[next_].time_us;
  if (items_.heap != nullptr) return items_.heap[next_].time_us;
  if (items_.gil != nullptr) return items_.gil[next_].time_ns / 1000;
  return items_.rows[next_].time_us;
}

uint64_t MergeInput::time_ns() const { return AbsoluteNs(time_us()); }

bool MergeInput::PrintNext() {
  if (items_.pages != nullptr) return PrintPage(items_.pages[next_]);
  if (items_.heap != nullptr) return PrintHeap(items_.heap[next_]);
  if (items_.gil != nullptr) return PrintGil(items_.gil[next_]);
  return PrintRow(items_.rows[next_]);
}

// Prints a run of items without asking the other files again: until the first
// item that is later than all of theirs.
bool MergeInput::Print(uint64_t until_ns) {
  bool wanted = true;
  // A mark is alone: it has no further items.
  if (items_.mark != nullptr) {
    RunPrinter::OnMark(*items_.mark);
  } else {
    do {
      wanted = PrintNext();
      ++next_;
    } while (wanted && next_ < items_.count && time_ns() <= until_ns);
    if (wanted && next_ < items_.count) return true;
  }
  if (!wanted) {
    Stop();
  } else {
    Release();
  }
  return wanted;
}

void MergeInput::Stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  // Wakes the reading thread, which then returns false to its reader.
  if (state_ != State::kDone) state_ = State::kReading;
  changed_.notify_all();
}

void MergeInput::Release() {
  std::lock_guard<std::mutex> lock(mutex_);
  state_ = State::kReading;
  changed_.notify_all();
}

// On the reading thread. The two threads take turns, by state_: the file's
// index changes only in kReading, when the merging thread does not use it.
bool MergeInput::HandOver(const Items& items) {
  std::unique_lock<std::mutex> lock(mutex_);
  // The merging thread needs nothing more.
  if (stopped_) return false;
  items_ = items;
  next_ = 0;
  state_ = State::kItems;
  changed_.notify_all();
  // The items are valid until Release(): the reading thread waits for it.
  changed_.wait(lock, [this] { return state_ == State::kReading || stopped_; });
  return !stopped_;
}

bool MergeInput::OnRows(const Row* rows, size_t count) {
  if (count == 0) return true;
  return HandOver({.rows = rows, .count = count});
}

bool MergeInput::OnPages(const PageEntry* entries, size_t count) {
  if (count == 0 || !wants_pages()) return true;
  return HandOver({.pages = entries, .count = count});
}

bool MergeInput::OnHeap(const HeapEvent* events, size_t count) {
  if (count == 0 || !wants_heap()) return true;
  return HandOver({.heap = events, .count = count});
}

bool MergeInput::OnGil(const GilEvent* events, size_t count) {
  if (count == 0 || !wants_gil()) return true;
  return HandOver({.gil = events, .count = count});
}

void MergeInput::OnMark(const Mark& mark) { HandOver({.mark = &mark}); }

// Merges k files by a heap of their first items: log k for each run of items
// from one file.
void PrintMerged(const std::vector<std::unique_ptr<MergeInput>>& inputs,
                 const PrintTarget& target) {
  // The next item of each input that has one: (time, input), earliest first.
  using Head = std::pair<uint64_t, size_t>;
  std::priority_queue<Head, std::vector<Head>, std::greater<Head>> heads;
  const auto add = [&](size_t i) {
    if (inputs[i]->Wait() != MergeInput::State::kDone) {
      heads.emplace(inputs[i]->time_ns(), i);
    }
  };
  for (const auto& input : inputs) input->Start();
  for (size_t i = 0; i < inputs.size(); ++i) add(i);
  while (!heads.empty() && target.ok()) {
    const size_t first = heads.top().second;
    heads.pop();
    const uint64_t until = heads.empty() ? std::numeric_limits<uint64_t>::max()
                                         : heads.top().first;
    inputs[first]->Print(until);
    add(first);
  }
  for (const auto& input : inputs) {
    // Every thread has to end before results are asked for.
    if (!target.ok()) input->Stop();
    while (input->Wait() != MergeInput::State::kDone) input->Stop();
  }
}

}  // namespace pymemrun
