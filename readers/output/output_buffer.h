// Buffers what readers print: large writes to a sink, and one sticky error.
// Used by the row writers and the reports.
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

// Not thread safe. The sink must outlive the buffer. After the sink fails,
// output is dropped, and status() is the failure.
class OutputBuffer {
 public:
  // Bytes that are collected before a write.
  static constexpr size_t kCapacity = 256 * 1024;

  explicit OutputBuffer(ByteSink* sink, Terminal terminal = {})
      : sink_(sink),
        terminal_(std::move(terminal)),
        memory_(new char[kCapacity]),
        next_(memory_.get()) {}

  // The terminal that text has to fit.
  const Terminal& terminal() const { return terminal_; }
  // State of a report on several runs, whose tables for machines are printed as
  // one.
  struct Runs {
    std::string name;  // the run reported next; empty: there is only one
    size_t tables = 0, rows = 0;  // printed so far
    bool in_array = false;        // a JSON array is open
  };
  Runs& runs() { return runs_; }
  // Appends lines of text; breaks those that are too long for the terminal.
  void AppendLines(absl::string_view text) { Append(terminal_.Wrapped(text)); }

  // Returns room for `size` bytes, valid until the next call. Commit() says how
  // much was used. REQUIRES: size <= kCapacity.
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

  // Writes everything to the sink. Returns status().
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
