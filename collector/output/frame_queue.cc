#include "collector/output/frame_queue.h"

#include <errno.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace pymemrun {
namespace {

// The thread only writes and waits.
constexpr size_t kStackBytes = 64 * 1024;
// How often `waiting` is called during a wait.
constexpr std::chrono::milliseconds kWaitStep(50);
// How long a disk that failed is left alone, and how often it is tried at the
// end.
constexpr std::chrono::milliseconds kPause(100);
constexpr int kLastTries = 3;

}  // namespace

FrameQueue::FrameQueue(int fd, size_t max_bytes, std::function<void()> waiting,
                       std::function<void(uint64_t rows)> wrote)
    : max_bytes_(max_bytes),
      waiting_(std::move(waiting)),
      wrote_(std::move(wrote)),
      fd_(fd) {
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

// Waits for a slow disk, but not for one that fails: there it takes up to twice
// the limit, and then refuses.
absl::Status FrameQueue::Append(absl::string_view frame) {
  std::unique_lock<std::mutex> lock(mutex_);
  // One frame is always taken, however large.
  WaitUntil(&lock, [&] {
    return frames_.empty() || fails_ ||
           queued_bytes_ + frame.size() <= max_bytes_;
  });
  const bool has_room = !fails_ || frames_.empty() ||
                        queued_bytes_ + frame.size() <= 2 * max_bytes_;
  if (progress_.gave_up || !has_room) {
    return absl::ErrnoToStatus(progress_.error, "run file");
  }
  bytes_taken_ += frame.size();
  frames_.push_back({std::string(frame), rows_});
  queued_bytes_ += frame.size();
  if (threaded_) {
    lock.unlock();
    changed_.notify_all();
  } else {
    while (!frames_.empty() && WriteFirst(&lock)) {
    }
  }
  return absl::OkStatus();
}

bool FrameQueue::IsStuck() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return fails_ && queued_bytes_ >= max_bytes_;
}

// Every frame that is written resets the number of tries, so the wait ends only
// when the disk fails kLastTries times in a row.
void FrameQueue::Settle() {
  std::unique_lock<std::mutex> lock(mutex_);
  // The thread is awake or will be: it was notified of each frame.
  tries_left_ = kLastTries;
  while (!threaded_ && !frames_.empty()) {
    if (WriteFirst(&lock)) continue;
    lock.unlock();
    waiting_();
    usleep(std::chrono::microseconds(kPause).count());
    lock.lock();
  }
  WaitUntil(&lock, [&] { return frames_.empty(); });
  tries_left_ = 0;
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
    if (WriteFirst(&lock)) continue;
    // Waits the full pause even if Settle() is called: its attempts are one
    // pause apart, too.
    changed_.wait_for(lock, kPause, [&] { return ends_; });
  }
}

// Writes the first frame without the lock. Returns false if it stays in the
// queue, or if all frames were given up. REQUIRES: there is a frame.
bool FrameQueue::WriteFirst(std::unique_lock<std::mutex>* lock) {
  // Other threads only append, and a deque does not move its elements then.
  const Frame& frame = frames_.front();
  const uint64_t end = progress_.bytes;
  lock->unlock();
  const bool written = WriteAtEnd(frame.bytes, end);
  if (written) wrote_(frame.rows.rows);
  lock->lock();
  fails_ = !written;
  if (written) {
    ++progress_.frames;
    progress_.bytes += frame.bytes.size();
    progress_.rows = frame.rows;
    if (tries_left_ > 0) tries_left_ = kLastTries;
    queued_bytes_ -= frame.bytes.size();
    frames_.pop_front();
  } else {
    TakeFailure();
  }
  // Whoever wakes up needs the lock.
  lock->unlock();
  changed_.notify_all();
  lock->lock();
  return written;
}

// What was written of a frame that failed is cut off: the room may be needed,
// and readers then find no damage. A pipe cannot be cut.
bool FrameQueue::WriteAtEnd(absl::string_view bytes, uint64_t end) {
  FdSink sink(fd_);
  if (sink.Append(bytes).ok()) return true;
  last_error_ = sink.last_errno();
  const auto offset = static_cast<off_t>(end);
  // If the file cannot be cut, the next try overwrites the rest.
  if (ftruncate(fd_, offset) != 0) errno = 0;
  lseek(fd_, offset, SEEK_SET);
  return false;
}

void FrameQueue::TakeFailure() {
  if (progress_.error == 0) progress_.error = last_error_;
  if (tries_left_ == 0 || --tries_left_ > 0) return;
  progress_.gave_up = true;
  queued_bytes_ = 0;
  frames_.clear();
}

}  // namespace pymemrun
