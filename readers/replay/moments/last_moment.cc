#include "readers/replay/moments/last_moment.h"

#include <algorithm>
#include <cstddef>

#include "readers/run/replay_visitor.h"

namespace pymemrun {
namespace {

class LastMoment final : public RecordVisitor {
 public:
  // Once there is a later moment than `enough_us`, others are of no interest.
  explicit LastMoment(uint64_t enough_us) : enough_us_(enough_us) {}
  bool OnRows(const Row* rows, size_t count) override {
    return count == 0 || Take(rows[count - 1].time_us);
  }
  bool OnPages(const PageEntry* entries, size_t count) override {
    for (size_t i = 0; i < count; ++i) Take(entries[i].time_us);
    return last_us_ <= enough_us_;
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    return count == 0 || Take(events[count - 1].time_us);
  }
  bool OnGil(const GilEvent* events, size_t count) override {
    return count == 0 || Take(events[count - 1].time_ns / 1000);
  }
  bool OnStates(const StateEvent* events, size_t count) override {
    return count == 0 || Take(events[count - 1].time_ns / 1000);
  }
  bool OnTasks(const TaskEvent* events, size_t count) override {
    return count == 0 || Take(events[count - 1].time_ns / 1000);
  }
  bool OnSched(const SchedSample* samples, size_t count) override {
    return count == 0 || Take(samples[count - 1].time_us);
  }
  void OnResidency(const ResidencyView& seen) override { Take(seen.time_us); }
  void OnMark(const Mark& mark) override { Take(mark.time_us()); }
  void OnProcess(const ProcessSample& sample) override {
    Take(sample.time_us());
  }
  void OnFooter(const Footer& footer) override { Take(footer.end_us()); }

  uint64_t last_us() const { return last_us_; }

 private:
  bool Take(uint64_t time_us) {
    last_us_ = std::max(last_us_, time_us);
    return last_us_ <= enough_us_;
  }

  const uint64_t enough_us_;
  uint64_t last_us_ = 0;
};

uint64_t LastMomentBut(uint64_t enough_us, RereadFile* file) {
  LastMoment last(enough_us);
  file->ReadAgain(&last);
  return last.last_us();
}

}  // namespace

uint64_t LastMomentOf(RereadFile* file) {
  return LastMomentBut(UINT64_MAX, file);
}

bool GoesOnAfter(uint64_t time_us, RereadFile* file) {
  return LastMomentBut(time_us, file) > time_us;
}

}  // namespace pymemrun
