#include "collector/frame_queue.h"

#include <errno.h>

#include <chrono>
#include <utility>

namespace pymemrun {
namespace {

// It writes and waits: no more stack than that takes.
constexpr size_t kStackBytes = 64 * 1024;
constexpr std::chrono::milliseconds kWaitStep(50);

}  // namespace

FrameQueue::FrameQueue(int fd, size_t max_bytes, std::function<void()> waiting,
                       std::function<void(uint64_t rows)> wrote)
    : max_bytes_(max_bytes),
      waiting_(std::move(waiting)),
      wrote_(std::move(wrote)),
      sink_(fd) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  threaded_ = pthread_create(&thread_, &attributes, RunThread, this) == 0;
  pthread_attr_destroy(&attributes);
}

FrameQueue::~FrameQueue() {
  if (!threaded_) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  pthread_join(thread_, nullptr);
}

template <typename Condition>
void FrameQueue::WaitUntil(std::unique_lock<std::mutex>* lock,
                           Condition condition) {
  while (!changed_.wait_for(*lock, kWaitStep, condition)) {
    lock->unlock();
    waiting_();
    lock->lock();
  }
}

absl::Status FrameQueue::Append(absl::string_view frame) {
  std::unique_lock<std::mutex> lock(mutex_);
  // One frame is always taken, however large.
  WaitUntil(&lock, [&] {
    return frames_.empty() || progress_.error != 0 ||
           queued_bytes_ + frame.size() <= max_bytes_;
  });
  if (progress_.error != 0) {
    return absl::ErrnoToStatus(progress_.error, "run file");
  }
  bytes_taken_ += frame.size();
  frames_.push_back({std::string(frame), rows_});
  queued_bytes_ += frame.size();
  lock.unlock();
  changed_.notify_all();
  return threaded_ ? absl::OkStatus() : WriteFrame(frames_.front());
}

void FrameQueue::Settle() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntil(&lock, [&] { return frames_.empty(); });
}

FrameQueue::Progress FrameQueue::progress() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return progress_;
}

void* FrameQueue::RunThread(void* queue) {
  static_cast<FrameQueue*>(queue)->WriteFrames();
  return nullptr;
}

void FrameQueue::WriteFrames() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !frames_.empty(); });
    if (ends_) return;
    // Stays where it is while others are put behind it.
    const Frame& frame = frames_.front();
    lock.unlock();
    WriteFrame(frame).IgnoreError();  // progress_ has it
    lock.lock();
  }
}

absl::Status FrameQueue::WriteFrame(const Frame& frame) {
  const absl::Status written = sink_.Append(frame.bytes);
  if (written.ok()) wrote_(frame.rows.rows);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (written.ok()) {
      ++progress_.frames;
      progress_.bytes += frame.bytes.size();
      progress_.rows = frame.rows;
      queued_bytes_ -= frame.bytes.size();
      frames_.pop_front();
    } else {
      progress_.error = sink_.last_errno() != 0 ? sink_.last_errno() : EIO;
      queued_bytes_ = 0;
      frames_.clear();
    }
  }
  changed_.notify_all();
  return written;
}

}  // namespace pymemrun
