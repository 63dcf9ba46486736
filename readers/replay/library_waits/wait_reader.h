// Reads a run for its LibraryWaits.
#ifndef PYMEMRUN_READERS_REPLAY_LIBRARY_WAITS_WAIT_READER_H_
#define PYMEMRUN_READERS_REPLAY_LIBRARY_WAITS_WAIT_READER_H_

#include <cstddef>
#include <memory>

#include "readers/replay/library_waits/library_waits.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Not thread safe.
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

  // As WaitFinder::Take() says. REQUIRES: Finish() was called.
  const std::shared_ptr<const LibraryWaits>& waits() const { return waits_; }

 private:
  WaitFinder finder_{&index()};
  std::shared_ptr<const LibraryWaits> waits_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_LIBRARY_WAITS_WAIT_READER_H_
