// Reads several run files side by side, and prints their rows in the order of
// wall time. Used by pymemcat for more than one FILE.
#ifndef PYMEMRUN_READERS_CAT_MERGE_READER_H_
#define PYMEMRUN_READERS_CAT_MERGE_READER_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "readers/cat/run_printer.h"

namespace pymemrun {

// One file of a merge, read by a thread of its own. When it has rows or a mark,
// the thread waits until they have been taken. So memory is one batch for each
// file, and the index never changes while the merging thread uses it.
class MergeInput final : public RunPrinter {
 public:
  // What the reading thread has for the merging thread.
  enum class State { kReading, kItems, kDone };

  // `on_damage` is called on the reading thread. `printer`: arguments of
  // RunPrinter. All of these, and the plan in `options`, must outlive the
  // input.
  template <typename... Printer>
  MergeInput(ByteSource* source, StreamReader::Options options,
             std::function<void(const StreamReader::Damage&)> on_damage,
             Printer&&... printer)
      : RunPrinter(std::forward<Printer>(printer)...),
        source_(source),
        options_(options),
        on_damage_(std::move(on_damage)) {}
  ~MergeInput() override;
  MergeInput(const MergeInput&) = delete;
  MergeInput& operator=(const MergeInput&) = delete;

  void Start();
  // Waits for the next rows, mark or end. Called by the merging thread.
  State Wait();
  // REQUIRES: Wait() returned kItems.
  uint64_t time_ns() const;
  // Prints the items up to `until_ns`, and at least one. Returns false if
  // nothing more is needed from this file.
  bool Print(uint64_t until_ns);
  // Lets the reading thread run to its end without handing over anything more.
  void Stop();

  // How the reading ended. REQUIRES: Wait() returned kDone.
  const absl::Status& status() const { return status_; }
  const ReadResult& result() const { return result_; }

  // These wait for the merging thread; other methods do not.
  bool OnRows(const Row* rows, size_t count) override;
  void OnMark(const Mark& mark) override;
  bool OnPages(const PageEntry* entries, size_t count) override;
  bool OnHeap(const HeapEvent* events, size_t count) override;
  bool OnGil(const GilEvent* events, size_t count) override;
  void OnDamage(const StreamReader::Damage& damage) override {
    on_damage_(damage);
  }

 private:
  // All are null except the one that is there.
  struct Items {
    const Row* rows = nullptr;
    const PageEntry* pages = nullptr;
    const HeapEvent* heap = nullptr;
    const GilEvent* gil = nullptr;
    const Mark* mark = nullptr;
    size_t count = 0;
  };

  bool HandOver(const Items& items);
  uint64_t time_us() const;
  bool PrintNext();
  void Release();
  uint64_t AbsoluteNs(uint64_t time_us) const {
    return start_realtime_ns() + time_us * 1000;
  }

  ByteSource* const source_;
  const StreamReader::Options options_;
  const std::function<void(const StreamReader::Damage&)> on_damage_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kReading;  // guarded by mutex_
  bool stopped_ = false;           // guarded by mutex_

  // Written by the reading thread before it hands over, read by the merging
  // thread until it releases; the mutex orders the two.
  Items items_;
  size_t next_ = 0;
  absl::Status status_;
  ReadResult result_;
};

// Prints all inputs, merged. Returns when all have ended.
void PrintMerged(const std::vector<std::unique_ptr<MergeInput>>& inputs,
                 const PrintTarget& target);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_MERGE_READER_H_
