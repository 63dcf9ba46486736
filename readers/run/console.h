// What a reader's main needs of its environment: output, messages, exit codes.
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
inline constexpr int kExitBreach = 3;  // a limit given by the user is exceeded

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

// Prints how the reading of `name` ended: why it failed, a torn end, a missing
// footer, no run at all. Damage is printed by DamageTeller. Returns the exit
// code.
int SayResult(const Console& console, absl::string_view name,
              const absl::Status& status, const ReadResult& result);

// Prints each damage, "run.pb: byte 1234: expected ..., found ...", up to a
// few, and the number of the others. The console must outlive it.
class DamageTeller {
 public:
  // The most damages that are printed one by one.
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

// Prints text such as that of --help, and finishes like FinishOutput().
int PrintText(const Console& console, absl::string_view text);

// Hands on what was printed, and prints a message on failure. Returns the exit
// code. That the receiver has gone (`| head`) is not a failure.
int FinishOutput(const Console& console, OutputBuffer* output);
// Whether the receiver of the output has gone.
bool ReaderHasGone(const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_CONSOLE_H_
