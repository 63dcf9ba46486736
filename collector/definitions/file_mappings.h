// Files that the traced process said it mapped, and until when. The kernel
// names a mapping only while it is there. Used by MappingTable.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_FILE_MAPPINGS_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_FILE_MAPPINGS_H_

#include <cstddef>
#include <cstdint>
#include <deque>

namespace pymemrun {

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

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_FILE_MAPPINGS_H_
