// Mappings of the traced process: /proc/PID/maps, by name.
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

// Addresses from here on are the kernel's.
inline constexpr uint64_t kKernelHalf = uint64_t{1} << 63;

// Addresses [begin, end).
struct AddressRange {
  uint64_t begin = 0, end = 0;
  bool Has(uint64_t address) const { return begin <= address && address < end; }
};

// A file mapping that the traced process reported, and its lifetime. The kernel
// tells the name of a mapping only while it exists.
struct FileMapping {
  AddressRange at;
  uint32_t name = 0;  // MappingDef.id
  bool file = false;  // see Mapping
  uint64_t came_ns = 0;
  uint64_t left_ns = UINT64_MAX;

  bool has_left() const { return left_ns != UINT64_MAX; }
};

// The last kMost file mappings. Times are CLOCK_MONOTONIC in nanoseconds.
// Memory and time are bounded, whatever the traced process reports. Not
// thread-safe.
class FileMappings {
 public:
  static constexpr size_t kMost = 64;
  // Older events do not wait for their name.
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
  // Returns the mapping at this address and time, or null.
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

  std::deque<FileMapping> files_;  // newest first
};

// Name of thread stacks, as kernels before 4.5 started it.
inline constexpr absl::string_view kThreadStackName = "[stack of a thread]";
// Stack size in bytes that glibc gives a thread with default attributes, in a
// process that started with the limits of this one.
uint64_t DefaultThreadStackBytes();

struct Mapping {
  uint64_t begin;
  uint64_t end;
  uint32_t name;  // MappingDef.id
  bool executable;
  bool counted;  // its pages are part of RSS
  bool file;     // of a file, not of shared memory
  bool gone;     // part was unmapped: may have been replaced
};

// Finds mappings by address. Writes each name once, as a MappingDef with dense
// ids. Not thread-safe. `out` must outlive it.
class MappingTable {
 public:
  // Keeps /proc/PID/maps open, so it always means this process.
  MappingTable(pid_t pid, RecordSink* out);

  // Reads the file again. Returns false if it cannot be read or is empty
  // because the process has ended; the mappings then stay.
  bool Refresh();
  // The same with the text of /proc/PID/maps.
  void Parse(absl::string_view maps);
  // Sorted by address.
  const std::vector<Mapping>& mappings() const { return mappings_; }

  // Returns MappingDef.id of the code at `address`, or 0 if not known. For an
  // unknown address reads the file again, on average at most every 50 ms, and
  // up to 20 times in a row, as libraries are loaded in groups. Kernel code is
  // "[kernel]".
  uint32_t CodeAt(uint64_t address, uint64_t now_ns);
  // Return MappingDef.id of the mapping at `address` (0 if not known), and
  // whether it is a file. Both ask the kernel again, also after an unmapping.
  // From Linux 6.11 on they ask for this mapping only; before that they read
  // the file as CodeAt() does, up to 40 times in a row. If the kernel may not
  // be asked, or the mapping is gone, memory of non-files counts as unchanged.
  // `now_ns`: CLOCK_MONOTONIC, or a little earlier.
  uint32_t NameAt(uint64_t address, uint64_t now_ns) {
    return DataAt(address, now_ns).name;
  }
  bool IsFileAt(uint64_t address, uint64_t now_ns) {
    return DataAt(address, now_ns).file;
  }
  // The process unmapped or moved these addresses at `time_ns`.
  void Left(uint64_t address, uint64_t bytes, uint64_t time_ns);
  // The process mapped a file there. Other mappings are found by asking the
  // kernel.
  void Came(const AddressRange& range, absl::string_view name,
            uint64_t time_ns);
  // The process moved or grew the file mapping that it reported at `from`.
  void Moved(uint64_t from, const AddressRange& to, uint64_t time_ns);

 private:
  // Limits how often the kernel is asked.
  class Looks {
   public:
    // Allows one look per `period_ns`. Unused time is saved, up to `kept_ns`.
    Looks(uint64_t period_ns, uint64_t kept_ns)
        : period_ns_(period_ns), kept_ns_(kept_ns) {}
    bool MayLook(uint64_t now_ns);
    // A look took this much CPU time. In the long run looks take at most 1 % of
    // a CPU.
    void Took(uint64_t cpu_ns) { next_ns_ += 100 * cpu_ns; }

   private:
    const uint64_t period_ns_, kept_ns_;
    uint64_t next_ns_ = 0;
  };

  // Addresses that were not mapped when the kernel was last asked. Whatever was
  // there before is gone.
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
  Mapping hit_ = {};       // last result of CodeAt()
  Mapping data_hit_ = {};  // last result of DataAt()
  static constexpr uint64_t kLookNs = 50000000;
  Looks looks_{kLookNs, 20 * kLookNs};
  // More in a row: libraries are loaded in groups, and most unknown data is not
  // in a library.
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
