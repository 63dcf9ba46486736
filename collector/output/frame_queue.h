// The frames on their way to the run file. A thread of its own writes them, so
// that the ring is drained on while a slow disk takes its time.
#ifndef PYMEMRUN_COLLECTOR_OUTPUT_FRAME_QUEUE_H_
#define PYMEMRUN_COLLECTOR_OUTPUT_FRAME_QUEUE_H_

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "collector/output/record_sink.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// Append() and the other functions are for one thread; the writing one is the
// queue's own. Where no thread can be made Append() writes itself.
//
// A frame that cannot be written stays, and those behind it: frames hold
// definitions that later ones need. The file is cut back to its last whole
// frame. The write is tried again after a pause of 100 ms, until Settle().
class FrameQueue final : public ByteSink {
 public:
  // Frames wait in memory up to `max_bytes` of them; then Append() waits for a
  // slow disk, but not for one that fails. While any function waits it calls
  // `waiting` several times a second. `fd` stays the caller's, who touches it
  // only when Settle() has returned. After each frame that was written whole,
  // `wrote` is called with the number of rows in the file by whichever thread
  // wrote it.
  FrameQueue(int fd, size_t max_bytes, std::function<void()> waiting,
             std::function<void(uint64_t rows)> wrote);
  // What was not written by then is not: call Settle() before.
  ~FrameQueue() override;
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  // What the file holds with the next frame taken, and all before it.
  void set_rows(RowCounts rows) { rows_ = rows; }
  // Takes one frame. Fails where the disk does and twice `max_bytes` wait, and
  // after a Settle() that gave frames up.
  absl::Status Append(absl::string_view frame) override;
  // Taken, written or not.
  uint64_t bytes_written() const override { return bytes_taken_; }
  // The disk fails, and `max_bytes` wait: who can should keep what it has, or
  // drop it.
  bool IsStuck() const;

  // Waits until every frame taken was written or given up: where the disk fails
  // still, after a few tries.
  void Settle();
  // What has become of the frames so far. Those that are not counted stand in
  // the file neither whole nor, where it can be cut, in part.
  struct Progress {
    uint64_t frames = 0;   // written whole
    uint64_t bytes = 0;    // of these...
    RowCounts rows;        // ...and as set_rows() said
    int error = 0;         // errno of the first failure, 0 if there was none
    bool gave_up = false;  // frames were given up
  };
  Progress progress() const;

 private:
  struct Frame {
    std::string bytes;
    RowCounts rows;  // in the file with it
  };

  static void* RunThread(void* queue);
  void WriteFrames();
  bool WriteFirst(std::unique_lock<std::mutex>* lock);
  bool WriteAtEnd(absl::string_view bytes, uint64_t end);
  void TakeFailure();
  // Waits until `condition` holds, which it looks at with the mutex locked.
  template <typename Condition>
  void WaitUntil(std::unique_lock<std::mutex>* lock, Condition condition);

  const size_t max_bytes_;
  const std::function<void()> waiting_;
  const std::function<void(uint64_t rows)> wrote_;
  const int fd_;
  int last_error_ = 0;  // the writing thread's
  bool threaded_ = false;
  pthread_t thread_;
  uint64_t bytes_taken_ = 0;
  RowCounts rows_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Frame> frames_;  // the first stays until it is written
  size_t queued_bytes_ = 0;
  Progress progress_;
  bool fails_ = false;  // the last try did
  int tries_left_ = 0;  // until all is given up; 0: it is not yet
  bool ends_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_FRAME_QUEUE_H_
