// The source lines in a run file. Part of RunIndex.
#ifndef PYMEMRUN_READERS_RUN_SOURCE_LINES_H_
#define PYMEMRUN_READERS_RUN_SOURCE_LINES_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "format/records/record_visitor.h"
#include "readers/run/name_pool.h"

namespace pymemrun {

// A line of source code as it was during the run.
struct SourceLine {
  uint32_t hash = 0;       // SourceLineHash()
  absl::string_view text;  // empty: not stored
};

// Lines beyond the limit are not kept. Not thread safe.
class SourceLines {
 public:
  explicit SourceLines(size_t most_lines = 1 << 18)
      : most_lines_(most_lines), names_(16 << 20) {}
  void Add(const SourceFile& source);
  // Returns null if the file does not have the line.
  const SourceLine* Find(absl::string_view file, uint32_t line) const;
  // The source file's size in bytes and its last change; 0: unknown.
  std::pair<uint64_t, uint64_t> Stamp(absl::string_view file) const;

 private:
  const size_t most_lines_;
  NamePool names_;
  absl::flat_hash_map<std::pair<absl::string_view, uint32_t>, SourceLine>
      lines_;
  absl::flat_hash_map<absl::string_view, std::pair<uint64_t, uint64_t>> stamps_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_SOURCE_LINES_H_
