// Writes the run file, and handles failures of the disk.
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

// While the disk fails, frames wait in memory. If there are too many, records
// of rows and events are dropped and counted. Other records are kept, because
// later ones need them. Once the disk accepts frames again, records report what
// was dropped.
//
// Frames that still wait at the end are lost. Then the file ends after its last
// whole frame, with a footer if there is room. Not thread-safe.
class RunWriter final : public RecordSink {
 public:
  // The caller keeps `fd`. `level` is of zstd, or kNoCompression. `waiting` is
  // called several times a second while a call waits for the disk. `wrote` is
  // called, on another thread, whenever the number of rows in the file has
  // grown.
  RunWriter(int fd, int level, std::function<void()> waiting,
            std::function<void(uint64_t rows)> wrote);

  using RecordSink::Write;
  void Write(absl::string_view record, RowCounts holds) override;
  // Ends the frame, unless the disk accepts none now.
  void Flush();
  // Ends the frame and waits until everything so far is in the file or lost.
  void Settle();
  // Writes the last record and the index of frames. If frames were lost, tries
  // once more, in case there is room again. Waits as Settle() does.
  void WriteFooter(const Record& footer);

  // Rows and events dropped so far because too many frames waited.
  const RowCounts& dropped() const { return dropped_; }

  // Results, valid after Settle(). errno of the first failure if anything was
  // lost; otherwise 0.
  int write_errno() const;
  // Whether frames were lost, with records that later ones need.
  bool lost_frames() const { return lost_frames_; }
  const RowCounts& written() const { return safe_; }
  RowCounts lost() const;
  // Bytes of the whole frames in the file.
  uint64_t file_bytes() const { return good_bytes_; }

 private:
  // Dropped rows and events that no record has reported yet.
  struct Dropped {
    RowCounts counts;
    uint64_t first_number = 0;  // of the rows
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
  bool lost_frames_ = false;  // then all further records are dropped
  uint64_t good_bytes_ = 0;   // in frames that were written
  RowCounts taken_;           // into frames
  RowCounts safe_;            // in frames that were written
  RowCounts dropped_;         // not put into a frame
  Dropped unsaid_;
};

// Returns "YYYYMMDD_HHMMSS_PID" for the run file in `source`: the local time of
// its start. A new run renames an earlier file with it. Fails if `source` is
// not a run file.
absl::StatusOr<std::string> RunName(ByteSource* source);

// Implements `pymemrun-collector --name-of PATH`: prints that name. Returns the
// exit code.
int PrintRunName(const char* path);

// Whether others renamed or deleted the run file while it was written.
struct OutputFate {
  Footer::OutputName name = Footer::OUTPUT_KEPT;
  std::string path;  // current path if known
};

// Returns the fate of the regular file `fd` that was created at `path`. If
// `path` is not absolute or nothing can be seen there, the name counts as kept.
OutputFate FateOfOutput(int fd, const std::string& path);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_RUN_WRITER_H_
