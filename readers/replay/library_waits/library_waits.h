// Finds the line that waited in a library's call while threads of the library
// worked for it.
#ifndef PYMEMRUN_READERS_REPLAY_LIBRARY_WAITS_LIBRARY_WAITS_H_
#define PYMEMRUN_READERS_REPLAY_LIBRARY_WAITS_LIBRARY_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"
#include "format/records/record_visitor.h"
#include "readers/run/replay_visitor.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// A set of installed packages, a bit for each; two packages may share a bit.
using PackageSet = uint64_t;

// What a first reading finds. Immutable.
struct LibraryWaits {
  // From this time until the thread's next change it is in calls of these
  // packages. `stack` ends with the first frame of the packages, or is that of
  // the own line if only C code of them is called. 0: the thread is in no
  // package.
  struct Change {
    uint64_t time_us;
    uint32_t thread, stack;
    PackageSet packages;
  };
  std::vector<Change> changes;  // by time
  // By stack: its packages, if no frame is the user's own.
  std::vector<PackageSet> workers;
  std::vector<PackageSet> mappings;              // by MappingDef.id
  absl::flat_hash_set<uint32_t> python_threads;  // that ever ran Python code
};

// Collects which thread ran which stack when. A thread in a library's call
// stays there until it is seen elsewhere. The start of a call that returns is
// known. Memory: 16 bytes for each stack, and 72 for each time that a thread
// entered or left a library, up to kMostSights. Not thread safe.
class WaitFinder {
 public:
  // The index of the reading; it must outlive this object.
  explicit WaitFinder(const RunIndex* index) : index_(*index) {}

  void OnRow(const Row& row);  // in any order: some rows come late in the file
  // `stack` 0: a native thread, or unknown. `code`: the mapping whose code ran;
  // 0: unknown.
  void OnMemory(uint64_t time_us, uint32_t thread, uint32_t stack,
                uint32_t code) {
    Saw(time_us, time_us, thread, stack, code);
  }
  void OnPages(const PageEntry* entries, size_t count);
  void OnHeap(const HeapEvent* events, size_t count);
  // Null: no library's thread did anything while another thread waited.
  std::shared_ptr<const LibraryWaits> Take();

 private:
  static constexpr uint32_t kNoCode = UINT32_MAX;  // of a call
  static constexpr size_t kMostSights = size_t{1} << 19;
  struct Stack {
    PackageSet packages = 0;  // called by the own frame, or of all frames
    uint32_t call = 0;        // the frame that the own frame called
    bool known = false, is_own = false;
  };
  // The thread was in that call at both times, and not before from_us. Without
  // a call it was in its own code, or on `line`, which may be in C code.
  struct Sight {
    uint64_t from_us, first_us, last_us;
    uint32_t thread, call, line;
    PackageSet packages;
  };
  struct Thread {
    size_t sight = SIZE_MAX;  // the latest one found
    bool runs_python = false;
    // Used when sights are read in the order of time.
    size_t change = SIZE_MAX;           // its latest change
    uint64_t seen_us = 0, line_us = 0;  // last seen in own code; on the line
    uint32_t call = 0, line = 0;
  };

  // The thread was seen there at time_us; it came after from_us.
  void Saw(uint64_t from_us, uint64_t time_us, uint32_t thread, uint32_t stack,
           uint32_t code);
  void Add(const Sight& sight, Thread* thread);
  std::vector<Sight> SortedSights() const;  // sorted by the time of their end
  void Follow(const Sight& sight, Thread* thread);
  void Calls(const Sight& sight, Thread* thread);
  const Stack& Find(uint32_t stack);
  PackageSet SetOf(absl::string_view file);
  PackageSet SetOfMapping(uint32_t mapping);

  const RunIndex& index_;
  std::vector<Stack> stacks_;         // by id
  std::vector<PackageSet> mappings_;  // by id, those known so far
  absl::flat_hash_map<absl::string_view, PackageSet> packages_;
  absl::node_hash_map<uint32_t, Thread> threads_;
  std::pair<uint32_t, Thread*> last_ = {};  // of threads_
  std::vector<Sight> sights_;
  std::vector<LibraryWaits::Change> changes_;
  uint64_t worked_us_ = 0;  // when a library's thread last did something
};

// Looks up waits. Times must be ascending. Not thread safe.
class WaitCursor {
 public:
  WaitCursor() = default;
  explicit WaitCursor(std::shared_ptr<const LibraryWaits> waits)
      : waits_(std::move(waits)) {}

  // Returns the stack of the thread whose own line waited in a call of the
  // library that worked. 0: no thread did, or the stack has an own line itself.
  // `code`: the mapping whose code ran.
  uint32_t At(uint64_t time_us, uint32_t thread, uint32_t stack,
              uint32_t code) {
    if (waits_ == nullptr) return 0;
    if (stack != 0 &&
        (stack >= waits_->workers.size() || waits_->workers[stack] == 0)) {
      return 0;
    }
    return Find(time_us, thread, stack, code);
  }

 private:
  void AdvanceTo(uint64_t time_us);
  uint32_t Find(uint64_t time_us, uint32_t thread, uint32_t stack,
                uint32_t code);

  std::shared_ptr<const LibraryWaits> waits_;
  size_t next_ = 0;  // into its changes
  // Bounds the time for an event, however many threads wait.
  static constexpr int kMostLooks = 64;
  // Threads in a library now. The one whose call started last is first; then by
  // thread. The key counts time backwards.
  absl::btree_map<std::pair<uint64_t, uint32_t>, const LibraryWaits::Change*>
      now_;
  absl::flat_hash_map<uint32_t, uint64_t> since_;  // since when, by thread
  bool has_last_ = false;                          // since the last change
  PackageSet last_packages_ = 0;
  uint32_t last_thread_ = 0, last_found_ = 0;
};

// Reads a run for its LibraryWaits. Not thread safe.
class WaitReader final : public ReplayVisitor {
 public:
  bool OnRows(const Row* rows, size_t count) override {
    for (size_t i = 0; i < count; ++i) finder_.OnRow(rows[i]);
    return true;
  }
  bool OnPages(const PageEntry* entries, size_t count) override {
    finder_.OnPages(entries, count);
    return true;
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    finder_.OnHeap(events, count);
    return true;
  }
  void Finish() override { waits_ = finder_.Take(); }

  // See WaitFinder::Take(). REQUIRES: Finish() was called.
  const std::shared_ptr<const LibraryWaits>& waits() const { return waits_; }

 private:
  WaitFinder finder_{&index()};
  std::shared_ptr<const LibraryWaits> waits_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_LIBRARY_WAITS_LIBRARY_WAITS_H_
