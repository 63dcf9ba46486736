// Hashes of the source lines that a run names. DefinitionTable tells which they
// are, and the collector when to read.
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

// Files that the traced program names are opened with the rights of its user:
// a program that root has started, and that has become another user since, must
// not have us read for it what it could not read itself.

// Who the traced process is, for its file system. Not thread safe.
class TracedUser {
 public:
  explicit TracedUser(pid_t pid) : status_(pid, "status") {}

  // While it lives the calling thread opens files as that user does. The user
  // is the one of now or, once the process is gone, the last one that was seen.
  // Where we are not root we have no rights to lay aside.
  class Rights {
   public:
    explicit Rights(TracedUser* user);
    ~Rights();
    Rights(const Rights&) = delete;
    Rights& operator=(const Rights&) = delete;

   private:
    uid_t user_before_;
    gid_t group_before_;
    // Other groups, where they were laid aside.
    bool has_others_ = false;
    std::vector<gid_t> groups_before_;
  };

 private:
  void Look();

  const ProcFile status_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;  // besides
};

// The last of the four numbers behind `label` in /proc/PID/status, for file
// systems; `otherwise` where no such line is.
uint32_t LastId(absl::string_view status, absl::string_view label,
                uint32_t otherwise);

// The numbers behind "Groups:" there; none where the line is cut off.
std::vector<gid_t> OtherGroups(absl::string_view status);

// Files are read soon after their first code came, while they are what the
// program has read. Memory is bounded: beyond the limits files and lines have
// no hash. Not thread safe.
class SourceLines {
 public:
  struct Limits {
    size_t files = 1 << 16;
    size_t codes = 1 << 20;
    size_t lines = 1 << 18;                // that are named
    size_t read_bytes = size_t{96} << 20;  // of all files
  };
  // Gives CLOCK_REALTIME.
  using Clock = std::function<uint64_t()>;

  SourceLines();
  SourceLines(const Limits& limits, Clock realtime_ns);

  // Once, before all else: no file is read before this call. `folder`: of
  // relative names. `store_text`: the text of lines is kept, too. `traced`:
  // files are read with the rights of this process's user.
  void Start(absl::string_view folder, bool store_text, pid_t traced);
  // The code of that id, which was not given before, is of this file.
  void AddCode(uint32_t code, absl::string_view file);
  // The run names that line of the code.
  void AddLine(uint32_t code, uint32_t line) {
    if (line != 0 && code < file_of_.size() && file_of_[code] != 0) {
      Name(file_of_[code], line);
    }
  }
  // Reads files until so many bytes of them were read. False: none are left.
  bool Read(uint64_t time_us, size_t most_bytes);
  // Writes what was read.
  void Write(RecordSink* out) const;

 private:
  struct File {
    std::string name;
    uint64_t seen_ns = 0;  // when its first code came
    uint64_t read_us = 0, size_bytes = 0, mtime_ns = 0;
    bool was_read = false;
    // Of all lines, because later ones may yet be named.
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
