// What a reader's main needs of the outer world: output, messages, exit codes.
#ifndef PYMEMRUN_READERS_RUN_CONSOLE_H_
#define PYMEMRUN_READERS_RUN_CONSOLE_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // failed, or damaged input
inline constexpr int kExitUsage = 2;
inline constexpr int kExitBreach = 3;  // a limit that was given is exceeded

// Where a main's output and messages go. Tests give descriptors of their own.
struct Console {
  std::string program;  // before each message: "pymemcat"
  FdSink* out;
  int out_fd = 1;
  int err_fd = 2;

  // One line on stderr: "pymemcat: message".
  void Say(absl::string_view message) const;
  void Usage(absl::string_view message) const;  // the same, naming --help
};

// Says how the reading of `name` went: why it failed, a torn end, a missing
// footer, no run at all. Damage has been said by DamageTeller. Returns the exit
// code.
int SayResult(const Console& console, absl::string_view name,
              const absl::Status& status, const ReadResult& result);

// Says each damage, "run.pb: byte 1234: expected ..., found ...", up to a few,
// and of more than these how many.
class DamageTeller {
 public:
  static constexpr int kMaxSaid = 3;
  DamageTeller(const Console* console, std::string name)
      : console_(console), name_(std::move(name)) {}
  ~DamageTeller();
  void Say(const StreamReader::Damage& damage);

 private:
  const Console* const console_;
  const std::string name_;
  int count_ = 0;
};

// Prints such as a --help text at once, as FinishOutput does.
int PrintText(const Console& console, absl::string_view text);

// Hands on what was printed and says a failure. Returns the exit code: a reader
// that has gone (`| head`) is no failure.
int FinishOutput(const Console& console, OutputBuffer* output);
bool ReaderHasGone(const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_CONSOLE_H_
