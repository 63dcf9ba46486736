// What the readers print goes through here: large writes to a sink, one sticky
// error. Used by the row writers and the reports.
#ifndef PYMEMRUN_READERS_OUTPUT_OUTPUT_BUFFER_H_
#define PYMEMRUN_READERS_OUTPUT_OUTPUT_BUFFER_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"
#include "readers/output/terminal.h"

namespace pymemrun {

// Not thread safe. The sink must outlive the buffer. After a failure of the
// sink everything is dropped and status() tells of the failure.
class OutputBuffer {
 public:
  static constexpr size_t kCapacity = 256 * 1024;

  explicit OutputBuffer(ByteSink* sink, Terminal terminal = {})
      : sink_(sink),
        terminal_(std::move(terminal)),
        memory_(new char[kCapacity]),
        next_(memory_.get()) {}

  // What text is to fit.
  const Terminal& terminal() const { return terminal_; }
  // Of several runs, one after the other: the tables for machines are one.
  struct Runs {
    std::string name;  // of the run whose report follows; empty: there is one
    size_t tables = 0, rows = 0;  // that came before
    bool in_array = false;        // of JSON, which is to be closed
  };
  Runs& runs() { return runs_; }
  // Text in lines, which are broken where they are too long.
  void AppendLines(absl::string_view text) { Append(terminal_.Wrapped(text)); }

  // Room for `size` bytes, valid until the next call. REQUIRES:
  // size <= kCapacity. Commit() says up to where it was used.
  char* Reserve(size_t size) {
    if (size > Room()) Flush().IgnoreError();
    return next_;
  }
  void Commit(char* end) { next_ = end; }

  void Append(absl::string_view text) {
    if (text.size() > Room()) return AppendLarge(text);
    std::memcpy(next_, text.data(), text.size());
    next_ += text.size();
  }

  // Hands everything to the sink. Returns status().
  absl::Status Flush();
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  size_t Room() const { return memory_.get() + kCapacity - next_; }
  void AppendLarge(absl::string_view text);

  ByteSink* sink_;
  const Terminal terminal_;
  std::unique_ptr<char[]> memory_;
  char* next_;
  Runs runs_;
  absl::Status status_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_OUTPUT_BUFFER_H_
