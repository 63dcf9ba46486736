// The run file as the collector writes it: the stream writer, and what becomes
// of it when the disk fails.
#ifndef PYMEMRUN_COLLECTOR_OUTPUT_RUN_WRITER_H_
#define PYMEMRUN_COLLECTOR_OUTPUT_RUN_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collector/output/frame_queue.h"
#include "collector/output/record_sink.h"
#include "format/stream/byte_io.h"
#include "format/stream/stream_writer.h"
#include "format/trace.pb.h"

namespace pymemrun {

// While the disk fails, frames wait in memory. When they are many, records that
// hold rows or events are dropped and counted; all others are kept, because
// later ones need them. Once the disk takes frames again, records say what was
// dropped, and it goes on. What still waits at the end is lost: then the file
// ends with its last whole frame, and a footer where there is room.
// Not thread safe.
class RunWriter final : public RecordSink {
 public:
  // `fd` stays the caller's. `level` as zstd has it, or kNoCompression. While
  // the disk keeps a call waiting, `waiting` is called several times a second.
  // `wrote` is called with the number of rows in the file whenever that has
  // grown; by another thread.
  RunWriter(int fd, int level, std::function<void()> waiting,
            std::function<void(uint64_t rows)> wrote);

  using RecordSink::Write;
  void Write(absl::string_view record, RowCounts holds) override;
  // Ends the frame, unless the disk takes none now.
  void Flush();
  // Ends the frame, and waits until what came so far is in the file or lost.
  void Settle();
  // Writes the last record, and the index of frames behind it; where frames
  // were lost it tries once more, in case room came back meanwhile. Waits as
  // Settle() does.
  void WriteFooter(const Record& footer);

  // So far, because too many frames waited.
  const RowCounts& dropped() const { return dropped_; }

  // What is known after Settle(). errno of the first failure, if it cost
  // anything; else 0.
  int write_errno() const;
  // Frames were lost, and with them what later ones need.
  bool lost_frames() const { return lost_frames_; }
  const RowCounts& written() const { return safe_; }
  RowCounts lost() const;
  // Bytes in whole frames.
  uint64_t file_bytes() const { return good_bytes_; }

 private:
  // What was dropped and is not yet said.
  struct Dropped {
    RowCounts counts;
    uint64_t first_number = 0;  // of rows...
    uint64_t last_number = 0;
    uint64_t last_us = 0;
  };

  void Take(absl::string_view record, RowCounts holds);
  void Drop(absl::string_view record, RowCounts holds);
  void SayDropped();
  void TakeProgress();
  void CutToWholeFrames();
  void WriteIndex();

  const int fd_;
  StreamWriter::Options options_;
  FrameQueue queue_;
  std::unique_ptr<StreamWriter> writer_;
  int error_ = 0;             // errno of the first failure
  bool lost_frames_ = false;  // from here on nothing is taken
  uint64_t good_bytes_ = 0;   // in frames that were written
  RowCounts taken_;           // into frames
  RowCounts safe_;            // of these, in frames that were written
  RowCounts dropped_;         // instead of taken
  Dropped unsaid_;
};

// The name that a finished run is kept under when a new one takes its place.

// "YYYYMMDD_HHMMSS_PID" of the run file that `source` gives: local time of its
// start. Fails when it is no run file.
absl::StatusOr<std::string> RunName(ByteSource* source);

// For `pymemrun-collector --name-of PATH`: prints it. Returns the exit code.
int PrintRunName(const char* path);

// What became of the run file's name while the file was written.

struct OutputFate {
  Footer::OutputName name = Footer::OUTPUT_KEPT;
  std::string path;  // where the file is now, as far as that is known
};

// Of the regular file `fd`, which was made at `path`. Where that is no absolute
// path, or nothing can be seen there, the name is taken to be kept.
OutputFate FateOfOutput(int fd, const std::string& path);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_RUN_WRITER_H_
