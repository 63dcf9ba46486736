// The frames on their way to the run file. A thread of its own writes them, so
// that the ring is drained on while a slow disk takes its time.
#ifndef PYMEMRUN_COLLECTOR_FRAME_QUEUE_H_
#define PYMEMRUN_COLLECTOR_FRAME_QUEUE_H_

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "collector/record_sink.h"
#include "format/byte_io.h"

namespace pymemrun {

// Append() and the other functions are for one thread; the writing one is the
// queue's own. Where no thread can be made Append() writes itself.
class FrameQueue final : public ByteSink {
 public:
  // Frames wait in memory up to `max_bytes` of them; then Append() waits. While
  // any function waits it calls `waiting` several times a second. `fd` stays
  // the caller's, who touches it only when Settle() has returned. After each
  // frame that was written whole, `wrote` is called with the number of rows in
  // the file by whichever thread wrote it.
  FrameQueue(int fd, size_t max_bytes, std::function<void()> waiting,
             std::function<void(uint64_t rows)> wrote);
  // What was not written by then is not: call Settle() before.
  ~FrameQueue() override;
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  // What the file holds with the next frame taken, and all before it.
  void set_rows(RowCounts rows) { rows_ = rows; }
  // Takes one frame. Fails when a frame before it could not be written; then
  // and from then on nothing is taken.
  absl::Status Append(absl::string_view frame) override;
  // Taken, written or not.
  uint64_t bytes_written() const override { return bytes_taken_; }

  // Waits until every frame taken was written or given up.
  void Settle();
  // What has become of the frames so far. After a failure the first frame that
  // is not counted may stand in the file in part, the ones behind it not at
  // all.
  struct Progress {
    uint64_t frames = 0;  // written whole
    uint64_t bytes = 0;   // of these...
    RowCounts rows;       // ...and as set_rows() said
    int error = 0;        // errno of the failure, 0 if there was none
  };
  Progress progress() const;

 private:
  struct Frame {
    std::string bytes;
    RowCounts rows;  // in the file with it
  };

  static void* RunThread(void* queue);
  void WriteFrames();
  absl::Status WriteFrame(const Frame& frame);
  // Waits until `condition` holds, which it looks at with the mutex locked.
  template <typename Condition>
  void WaitUntil(std::unique_lock<std::mutex>* lock, Condition condition);

  const size_t max_bytes_;
  const std::function<void()> waiting_;
  const std::function<void(uint64_t rows)> wrote_;
  FdSink sink_;  // the writing thread's
  bool threaded_ = false;
  pthread_t thread_;
  uint64_t bytes_taken_ = 0;
  RowCounts rows_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Frame> frames_;  // the first stays until it is written
  size_t queued_bytes_ = 0;
  Progress progress_;
  bool ends_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_FRAME_QUEUE_H_
