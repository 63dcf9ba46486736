#include "collector/session/sources.h"

#include <algorithm>
#include <utility>

#include "collector/gil/gil_collector.h"
#include "collector/heap/heap_collector.h"
#include "collector/pages/page_collector.h"
#include "collector/pages/page_scanner.h"
#include "collector/process/detach.h"
#include "collector/states/state_collector.h"
#include "collector/tasks/task_collector.h"

namespace pymemrun {
namespace {

constexpr uint32_t kLongestSideNapUs = 10000;  // the ring is small

// Empties the side ring for sources that only take its items. Page sources
// empty it themselves before they read the perf rings, and the merger does so
// for the heap.
class SideRingSource final : public Source {
 public:
  explicit SideRingSource(SideItems* side) : side_(side) {
    AskToWakePromptly();
  }

  void Keep(uint64_t now_ns) override { side_->Drain(now_ns, false); }
  size_t Round(uint64_t looked_ns) override {
    return side_->Drain(looked_ns, false);
  }
  uint32_t longest_nap_us() const override { return kLongestSideNapUs; }
  void Finish(uint64_t now_ns, bool) override { side_->Drain(now_ns, true); }

 private:
  SideItems* const side_;
};

// The perf events of states follow those of pages among the descriptors.
std::unique_ptr<Source> MakeStates(const SourceInputs& in) {
  const uint32_t others = in.launch->page_counters + in.launch->page_signals;
  return std::make_unique<StateCollector>(StateCollector::Options{
      in.pid, in.first_fd + static_cast<int>(others), in.launch->state_events,
      in.launch->states_reason, in.clock, in.definitions, in.out});
}

absl::StatusOr<std::unique_ptr<PageCollector>> MakePages(
    const SourceInputs& in) {
  const LaunchText& launch = *in.launch;
  return PageCollector::Create(
      {in, in.first_fd, launch.page_counters, launch.page_signals,
       std::max(launch.header.page_weight(), 1u), launch.header.forked(),
       PageSampler::RandomSeed()});
}

// The heap is in both rings only with --heap all. So only then the merger keeps
// an order between them.
std::unique_ptr<Source> MakeHeap(const SourceInputs& in) {
  auto heap = std::make_unique<HeapCollector>(HeapCollector::Options{
      in, in.merger, &in.launch->heap_rates,
      /*takes_forks=*/!in.launch->traces.has(Trace::kPages)});
  in.merger->set_events(in.side, heap.get(),
                        /*merges=*/in.launch->header.heap() == HEAP_ALL);
  in.encoder->set_heap(heap.get());
  return heap;
}

}  // namespace

absl::StatusOr<SourceList> OpenSources(const SourceInputs& in) {
  const LaunchText& launch = *in.launch;
  const TraceSet traces = launch.traces;
  SourceList sources;
  // States map their rings first: they take little of the memory that a user
  // may lock, and pages take all the rest.
  std::unique_ptr<Source> states;
  if (traces.has(Trace::kStates)) states = MakeStates(in);
  if (traces.has(Trace::kPages)) {
    auto pages = MakePages(in);
    if (!pages.ok()) return pages.status();
    sources.push_back(*std::move(pages));
  } else if (launch.header.page_scan()) {
    sources.push_back(std::make_unique<PageScanner>(in));
  }
  const size_t side_at = sources.size();
  if (traces.has(Trace::kHeap)) sources.push_back(MakeHeap(in));
  if (traces.has(Trace::kGil)) {
    sources.push_back(std::make_unique<GilCollector>(
        GilCollector::Options{in, launch.gil_min_wait_ns}));
  }
  if (traces.has(Trace::kTasks)) {
    sources.push_back(
        std::make_unique<TaskCollector>(TaskCollector::Options{in}));
  }
  // Behind the sources that empty the ring themselves, and before those that
  // wait for its items.
  if (!sources.empty()) {
    sources.insert(sources.begin() + static_cast<ptrdiff_t>(side_at),
                   std::make_unique<SideRingSource>(in.side));
  }
  if (states != nullptr) sources.push_back(std::move(states));
  return sources;
}

}  // namespace pymemrun
