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

// Says on stderr how many events the run lost, if any.
void SayLosses(const Console& console, const std::string& name,
               const Footer& footer);

// Reads a file from its begin while another reader is somewhere else in it. Not
// thread safe.
class BesideSource final : public ByteSource {
 public:
  // `fd` stays where it is, and is not owned.
  explicit BesideSource(int fd) : fd_(fd) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

 private:
  const int fd_;
  uint64_t offset_ = 0;
};

// Standard input that cannot be rewound is kept in a temporary file. Says what
// goes wrong, damage too, the first time, and once what the run lost. Not
// thread safe.
class RereadFile {
 public:
  // Null: it cannot be opened, which has been said.
  static std::unique_ptr<RereadFile> Open(const std::string& path,
                                          const Console& console);
  ~RereadFile();
  RereadFile(const RereadFile&) = delete;
  RereadFile& operator=(const RereadFile&) = delete;

  // The report itself says what the run lost. To be called before any reading.
  void LeaveLossesToReport() { losses_said_ = true; }
  // Reads all of it, or what `replay` wants, and finishes it. False: nothing
  // could be read.
  bool Read(ReplayVisitor* replay);
  // The same of several in one reading. The first one tells of damage. One that
  // wants no more is given no more. `also`, if any, needs no end.
  bool Read(absl::Span<ReplayVisitor* const> replays,
            RecordVisitor* also = nullptr);
  // The same once more, of a visitor that needs no end. Says nothing.
  bool ReadAgain(RecordVisitor* visitor);
  // The threads that the first reading found, with their last names. Later
  // readings by Read() know them.
  const RunIndex& threads() const { return threads_; }
  // What the readings by Read() found so far.
  const Recordings& recorded() const { return recorded_; }
  // Whether it has that. Else says that it has not; code() is then above 0.
  bool Has(Recorded what);
  // For messages.
  const std::string& shown_name() const { return file_->shown_name(); }
  // What is read; for who reads it at a place of its own, with pread().
  int fd() const { return fd_; }
  // As ReadAgain() found it.
  uint64_t size_bytes() const { return read_bytes_; }
  // Read to its end without damage.
  bool whole() const { return whole_; }
  // What the program is to exit with for what was found so far.
  int code() const { return code_; }

 private:
  RereadFile(const Console* console, std::unique_ptr<InputFile> file)
      : console_(console), file_(std::move(file)) {}
  bool Keep();
  StreamReader::Options Options() const;
  bool Rewind();

  const Console* const console_;
  const std::unique_ptr<InputFile> file_;
  int fd_ = -1;       // what is read
  int kept_fd_ = -1;  // the temporary file, if there is one
  uint64_t read_bytes_ = 0;
  RunIndex threads_;  // and nothing else
  Recordings recorded_;
  bool was_read_ = false;
  bool losses_said_ = false;
  bool whole_ = false;
  int code_ = kExitOk;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_REREAD_FILE_H_
