// A run file that is read more than once.
#ifndef PYMEMRUN_READERS_RUN_REREAD_FILE_H_
#define PYMEMRUN_READERS_RUN_REREAD_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "format/stream/byte_io.h"
#include "readers/run/console.h"
#include "readers/run/input_file.h"
#include "readers/run/recorded.h"
#include "readers/run/replay_visitor.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// Prints to stderr how many events the run lost, if any.
void SayLosses(const Console& console, const std::string& name,
               const Footer& footer);

// Reads a file from its start while another reader is elsewhere in it. Not
// thread safe.
class BesideSource final : public ByteSource {
 public:
  // The position of `fd` is not changed; `fd` is not owned.
  explicit BesideSource(int fd) : fd_(fd) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

 private:
  const int fd_;
  uint64_t offset_ = 0;
};

// If standard input cannot be rewound, it is kept in a temporary file. The
// first reading prints what goes wrong, including damage, and what the run
// lost. Not thread safe.
class RereadFile {
 public:
  // Returns null if the file cannot be opened, and has printed why.
  static std::unique_ptr<RereadFile> Open(const std::string& path,
                                          const Console& console);
  ~RereadFile();
  RereadFile(const RereadFile&) = delete;
  RereadFile& operator=(const RereadFile&) = delete;

  // Leaves losses to the report. To be called before the first reading.
  void LeaveLossesToReport() { losses_said_ = true; }
  // Reads the whole file, or until `replay` needs no more, and calls its
  // Finish(). Returns false if nothing could be read.
  bool Read(ReplayVisitor* replay);
  // Reads the file once for several visitors. Each gets records until it needs
  // no more. Damage is reported to the first one. `also`, unless null, gets all
  // records, too.
  bool Read(absl::Span<ReplayVisitor* const> replays,
            RecordVisitor* also = nullptr);
  // Reads the file once more, and prints nothing.
  bool ReadAgain(RecordVisitor* visitor);
  // The threads found by the first reading, with their last names. Read() gives
  // them to later visitors.
  const RunIndex& threads() const { return threads_; }
  // What the file recorded, as far as Read() has read it.
  const Recordings& recorded() const { return recorded_; }
  // Whether it was recorded. If not, prints a message and sets code().
  bool Has(Recorded what);
  // For messages.
  const std::string& shown_name() const { return file_->shown_name(); }
  // The descriptor to read with pread(), at a position of one's own.
  int fd() const { return fd_; }
  // The size that ReadAgain() found.
  uint64_t size_bytes() const { return read_bytes_; }
  // Whether it was read to its end without damage.
  bool whole() const { return whole_; }
  // The exit status for what was found so far.
  int code() const { return code_; }

 private:
  RereadFile(const Console* console, std::unique_ptr<InputFile> file)
      : console_(console), file_(std::move(file)) {}
  bool Keep();
  StreamReader::Options Options() const;
  bool Rewind();

  const Console* const console_;
  const std::unique_ptr<InputFile> file_;
  int fd_ = -1;       // the descriptor that is read
  int kept_fd_ = -1;  // the temporary file, if there is one
  uint64_t read_bytes_ = 0;
  RunIndex threads_;  // only threads
  Recordings recorded_;
  bool was_read_ = false;
  bool losses_said_ = false;
  bool whole_ = false;
  int code_ = kExitOk;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_REREAD_FILE_H_
