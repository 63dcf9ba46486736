// Hashes of the source lines that a run names. DefinitionTable reports the
// lines, and the collector decides when to read files.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_SOURCE_LINES_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_SOURCE_LINES_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "collector/output/record_sink.h"
#include "collector/process/proc_file.h"

namespace pymemrun {

// File system rights of the user of the traced process. Files that the traced
// program names are opened with these rights: a program started by root that
// has become another user must not make the collector read files for it. Not
// thread-safe.
class TracedUser {
 public:
  explicit TracedUser(pid_t pid) : status_(pid, "status") {}

  // During its lifetime the calling thread opens files with the rights of that
  // user: the current one or, once the process is gone, the last one seen. If
  // the collector is not root, it changes nothing.
  class Rights {
   public:
    explicit Rights(TracedUser* user);
    ~Rights();
    Rights(const Rights&) = delete;
    Rights& operator=(const Rights&) = delete;

   private:
    uid_t user_before_;
    gid_t group_before_;
    // Supplementary groups, if they were dropped.
    bool has_others_ = false;
    std::vector<gid_t> groups_before_;
  };

 private:
  void Look();

  const ProcFile status_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;  // supplementary
};

// Returns the last of the four numbers after `label` in /proc/PID/status, the
// one for file systems; `otherwise` if there is no such line.
uint32_t LastId(absl::string_view status, absl::string_view label,
                uint32_t otherwise);

// Returns the numbers after "Groups:" there; empty if the line is cut.
std::vector<gid_t> OtherGroups(absl::string_view status);

// Reads files soon after their first code was seen, when they still are what
// the program has read. Memory is bounded: beyond the limits files and lines
// get no hash. Not thread-safe.
class SourceLines {
 public:
  struct Limits {
    size_t files = 1 << 16;
    size_t codes = 1 << 20;
    size_t lines = 1 << 18;                // named lines
    size_t read_bytes = size_t{96} << 20;  // of all files
  };
  // Returns CLOCK_REALTIME in nanoseconds.
  using Clock = std::function<uint64_t()>;

  SourceLines();
  SourceLines(const Limits& limits, Clock realtime_ns);

  // Call it once, before all other methods: no file is read before. `folder` is
  // that of relative names. `store_text`: keeps the text of lines. `traced`:
  // files are read with the rights of the user of this process.
  void Start(absl::string_view folder, bool store_text, pid_t traced);
  // Adds a code object, once for each id, and its file.
  void AddCode(uint32_t code, absl::string_view file);
  // The run names this line of the code.
  void AddLine(uint32_t code, uint32_t line) {
    if (line != 0 && code < file_of_.size() && file_of_[code] != 0) {
      Name(file_of_[code], line);
    }
  }
  // Reads files until `most_bytes` were read. Returns false if no files are
  // left.
  bool Read(uint64_t time_us, size_t most_bytes);
  // Writes what was read.
  void Write(RecordSink* out) const;

 private:
  struct File {
    std::string name;
    uint64_t seen_ns = 0;  // when its first code came
    uint64_t read_us = 0, size_bytes = 0, mtime_ns = 0;
    bool was_read = false;
    // Hashes of all lines, because later ones may still be named.
    std::vector<uint32_t> hashes;
    std::string text;  // if that is stored
    std::vector<uint32_t> named;
  };

  void Name(uint32_t file, uint32_t line);
  size_t ReadFile(uint64_t time_us, File* file);
  void WriteFile(const File& file, RecordSink* out) const;

  const Limits limits_;
  const Clock realtime_ns_;
  std::string folder_;
  std::optional<TracedUser> user_;  // once started
  bool store_text_ = false;
  std::vector<File> files_ = {{}};  // 0: none
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::vector<uint32_t> file_of_;  // by code
  absl::flat_hash_set<uint64_t> named_;
  size_t next_file_ = 1;  // to be read
  size_t bytes_left_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_SOURCE_LINES_H_
