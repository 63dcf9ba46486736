// The run file as the collector writes it: the stream writer, and what becomes
// of it when the disk fails.
#ifndef PYMEMRUN_COLLECTOR_RUN_WRITER_H_
#define PYMEMRUN_COLLECTOR_RUN_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/strings/string_view.h"
#include "collector/frame_queue.h"
#include "collector/record_sink.h"
#include "format/stream_writer.h"

namespace pymemrun {

// After the first failure nothing more is written, rows are only counted, and
// the file is cut back to its last whole frame: it stays readable up to there.
// Not thread safe.
class RunWriter final : public RecordSink {
 public:
  // `fd` stays the caller's. `level` as in ControlPage. While the disk keeps a
  // call waiting, `waiting` is called several times a second. `wrote` is called
  // with the number of rows in the file whenever that has grown; by another
  // thread.
  RunWriter(int fd, int level, std::function<void()> waiting,
            std::function<void(uint64_t rows)> wrote);

  using RecordSink::Write;
  void Write(absl::string_view record, RowCounts holds) override;
  // Ends the frame.
  void Flush();
  // Ends the frame, and waits until what came so far is in the file or lost.
  void Settle();
  // Writes the last record, and the index of frames behind it; after a failure
  // tries once more, in case room came back meanwhile. Waits as Settle() does.
  void WriteFooter(const Record& footer);

  // What is known of frames that were handed to the disk; all, after Settle().
  // errno of the first failure, 0 if there was none.
  int write_errno() const { return write_errno_; }
  uint64_t rows_written() const { return safe_.rows; }
  uint64_t context_rows_written() const { return safe_.context; }
  uint64_t rows_lost() const { return lost_.rows; }
  const RowCounts& lost() const { return lost_; }
  // Bytes in whole frames.
  uint64_t file_bytes() const { return good_bytes_; }

 private:
  void TakeProgress();
  void Fail();
  void CutToWholeFrames();
  void WriteIndex();

  const int fd_;
  StreamWriter::Options options_;
  FrameQueue queue_;
  std::unique_ptr<StreamWriter> writer_;
  int write_errno_ = 0;
  uint64_t ended_bytes_ = 0;  // in frames that were ended
  uint64_t good_bytes_ = 0;   // of these, in frames that were written
  RowCounts taken_;           // until the first failure
  RowCounts safe_;            // of these, in frames that were written
  RowCounts lost_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RUN_WRITER_H_
