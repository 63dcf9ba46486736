// What lies where in the traced process: /proc/PID/maps, by name.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_MAPPING_TABLE_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_MAPPING_TABLE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "collector/output/record_sink.h"
#include "collector/process/proc_file.h"

namespace pymemrun {

// Files that the traced process said it mapped, and until when. The kernel
// names a mapping only while it is there.

// Addresses [begin, end).
struct AddressRange {
  uint64_t begin = 0, end = 0;
  bool Has(uint64_t address) const { return begin <= address && address < end; }
};

struct FileMapping {
  AddressRange at;
  uint32_t name = 0;  // MappingDef.id
  bool file = false;  // see Mapping
  uint64_t came_ns = 0;
  uint64_t left_ns = UINT64_MAX;

  bool has_left() const { return left_ns != UINT64_MAX; }
};

// The latest few. Not thread safe. Times are CLOCK_MONOTONIC. Memory and time
// are bounded, whatever the traced process says.
class FileMappings {
 public:
  static constexpr size_t kMost = 64;
  // Nothing older waits for its name.
  static constexpr uint64_t kKeptNs = 2000000000;

  void Came(const FileMapping& mapping) {
    Left(mapping.at, mapping.came_ns);
    while (!files_.empty() && files_.back().has_left() &&
           files_.back().left_ns + kKeptNs < mapping.came_ns) {
      files_.pop_back();
    }
    Add(mapping);
  }
  void Left(const AddressRange& range, uint64_t time_ns) {
    FileMapping parts[kMost];
    size_t count = 0;
    for (FileMapping& file : files_) {
      AddressRange& at = file.at;
      if (file.has_left() || at.end <= range.begin || range.end <= at.begin) {
        continue;
      }
      if (range.begin <= at.begin && at.end <= range.end) {
        file.left_ns = time_ns;
        continue;
      }
      FileMapping& part = parts[count++] = file;
      part.left_ns = time_ns;
      if (range.begin <= at.begin) {
        part.at.end = at.begin = range.end;
      } else {
        part.at.begin = at.end = range.begin;
      }
    }
    for (size_t i = 0; i < count; ++i) Add(parts[i]);
  }
  // The mapping that was there at that time, or null.
  const FileMapping* At(uint64_t address, uint64_t time_ns) const {
    for (const FileMapping& file : files_) {
      if (file.at.Has(address) && file.came_ns <= time_ns &&
          time_ns < file.left_ns) {
        return &file;
      }
    }
    return nullptr;
  }

 private:
  void Add(const FileMapping& mapping) {
    if (files_.size() == kMost) files_.pop_back();
    files_.push_front(mapping);
  }

  std::deque<FileMapping> files_;  // the latest first
};

// As kernels before 4.5 began the names of threads' stacks.
inline constexpr absl::string_view kThreadStackName = "[stack of a thread]";
// The stack size that glibc gives a thread with default attributes, in a
// process that began with this one's limits.
uint64_t DefaultThreadStackBytes();

struct Mapping {
  uint64_t begin;
  uint64_t end;
  uint32_t name;  // MappingDef.id
  bool executable;
  bool counted;  // its pages are part of RSS
  bool file;     // of a file on a disk, or the like; not memory that is shared
  bool gone;     // part was unmapped since: something else may be there now
};

// Writes each name once, as a MappingDef with dense ids. Not thread safe. `out`
// must outlive it.
class MappingTable {
 public:
  // Keeps /proc/PID/maps open, which goes on meaning that process.
  MappingTable(pid_t pid, RecordSink* out);

  // Reads the file again. False: it cannot be read, or says nothing (the
  // process is gone); then the mappings stay as they were.
  bool Refresh();
  // The same, of a text as /proc/PID/maps has.
  void Parse(absl::string_view maps);
  // In the order of addresses.
  const std::vector<Mapping>& mappings() const { return mappings_; }

  // MappingDef.id of the code at `address`; 0 when it is not known. Looks again
  // at the file if nothing is known there, every 50 ms on average at most and
  // 20 times at once, as libraries come. The kernel's own code is "[kernel]".
  uint32_t CodeAt(uint64_t address, uint64_t now_ns);
  // MappingDef.id of what is mapped at `address`, 0 when it is not known; and
  // whether that is a file. Both ask the kernel again, also where something was
  // unmapped since the last look. From Linux 6.11 on they ask for that mapping
  // alone, before that as CodeAt() does, 40 times at once. Where they may not
  // ask, or the mapping has gone, memory other than a file's counts as
  // unchanged. `now_ns`: CLOCK_MONOTONIC, or somewhat before.
  uint32_t NameAt(uint64_t address, uint64_t now_ns) {
    return DataAt(address, now_ns).name;
  }
  bool IsFileAt(uint64_t address, uint64_t now_ns) {
    return DataAt(address, now_ns).file;
  }
  // The process has unmapped, or moved, what lay there, at `time_ns`.
  void Left(uint64_t address, uint64_t bytes, uint64_t time_ns);
  // The process has mapped a file there. Others are found by the kernel's word.
  void Came(const AddressRange& range, absl::string_view name,
            uint64_t time_ns);
  // It has moved, or grown, the file that it said to be at `from`.
  void Moved(uint64_t from, const AddressRange& to, uint64_t time_ns);

 private:
  // How often the kernel may be asked for what is not known.
  class Looks {
   public:
    // Allows one look in `period_ns`. Unused time is kept, up to `kept_ns`.
    Looks(uint64_t period_ns, uint64_t kept_ns)
        : period_ns_(period_ns), kept_ns_(kept_ns) {}
    bool MayLook(uint64_t now_ns);
    // A look took so much CPU time. In the long run looks take a hundredth of
    // a CPU at most.
    void Took(uint64_t cpu_ns) { next_ns_ += 100 * cpu_ns; }

   private:
    const uint64_t period_ns_, kept_ns_;
    uint64_t next_ns_ = 0;
  };

  // Where nothing was mapped when the kernel was asked last. What came there
  // before has gone.
  struct Hole {
    uint64_t begin, end, until_ns;
    bool Has(uint64_t address, uint64_t now_ns) const {
      return address >= begin && address < end && now_ns <= until_ns;
    }
  };

  uint32_t IdOf(absl::string_view name);
  const Mapping* Find(uint64_t address) const;
  bool LookAgain(uint64_t now_ns, Looks* looks);
  bool Query(uint64_t address, uint64_t now_ns);
  bool AskFor(uint64_t address);
  void Replace(const Mapping& mapping);
  Mapping DataAt(uint64_t address, uint64_t now_ns);

  const ProcFile file_;
  RecordSink* out_;
  const uint64_t stack_bytes_;  // see DefaultThreadStackBytes()
  std::vector<Mapping> mappings_;
  absl::flat_hash_map<std::string, uint32_t> ids_;
  uint32_t last_id_ = 0;
  Mapping hit_ = {};       // of the last call of CodeAt()
  Mapping data_hit_ = {};  // of DataAt()
  static constexpr uint64_t kLookNs = 50000000;
  Looks looks_{kLookNs, 20 * kLookNs};
  // More at once: libraries come in groups, and most unknown data is in none.
  Looks data_looks_{kLookNs, 40 * kLookNs};
  // Each takes some microseconds.
  Looks queries_{0, 20 * kLookNs};
  bool can_query_ = true;
  Hole hole_ = {};
  FileMappings files_;
  std::string text_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_MAPPING_TABLE_H_
