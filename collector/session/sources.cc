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

// The side ring, for those that take its items. Page sources empty it
// themselves, before all that they look at, and the merger for the heap.
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

// Its events are behind those of pages.
std::unique_ptr<Source> MakeStates(const SourceParts& in) {
  const uint32_t others = in.launch->page_counters + in.launch->page_signals;
  return std::make_unique<StateCollector>(StateCollector::Options{
      .pid = in.pid,
      .first_fd = in.first_fd + static_cast<int>(others),
      .events = in.launch->state_events,
      .reason = in.launch->states_reason,
      .clock = in.clock,
      .definitions = &in.encoder->definitions(),
      .out = in.out});
}

absl::StatusOr<std::unique_ptr<PageCollector>> MakePages(
    const SourceParts& in) {
  return PageCollector::Create(
      {.page = in.page,
       .pid = in.pid,
       .page_bytes = in.page_bytes,
       .first_fd = in.first_fd,
       .counters = in.launch->page_counters,
       .signals = in.launch->page_signals,
       .weight = std::max(in.launch->header.page_weight(), 1u),
       .forked = in.launch->header.forked(),
       .seed = PageSampler::RandomSeed(),
       .clock = in.clock,
       .definitions = &in.encoder->definitions(),
       .side = in.side,
       .out = in.out});
}

std::unique_ptr<Source> MakeScanner(const SourceParts& in) {
  return std::make_unique<PageScanner>(
      PageScanner::Options{.page = in.page,
                           .pid = in.pid,
                           .page_bytes = in.page_bytes,
                           .clock = in.clock,
                           .side = in.side,
                           .out = in.out});
}

std::unique_ptr<Source> MakeHeap(const SourceParts& in) {
  auto heap = std::make_unique<HeapCollector>(
      HeapCollector::Options{.page = in.page,
                             .pid = in.pid,
                             .side = in.side,
                             .merger = in.merger,
                             .clock = in.clock,
                             .definitions = &in.encoder->definitions(),
                             .out = in.out,
                             .rates = &in.launch->heap_rates,
                             .takes_forks = !in.launch->has_pages});
  in.merger->set_events(in.side, heap.get(),
                        /*merges=*/in.launch->header.heap() == HEAP_ALL);
  in.encoder->set_heap(heap.get());
  return heap;
}

std::unique_ptr<Source> MakeGil(const SourceParts& in) {
  return std::make_unique<GilCollector>(GilCollector::Options{
      in.page, in.pid, in.launch->gil_min_wait_ns, in.side, in.clock,
      &in.encoder->definitions(), in.out});
}

std::unique_ptr<Source> MakeTasks(const SourceParts& in) {
  return std::make_unique<TaskCollector>(TaskCollector::Options{
      in.page, in.pid, in.side, in.clock, &in.encoder->definitions(), in.out});
}

}  // namespace

absl::StatusOr<SourceList> OpenSources(const SourceParts& in) {
  const LaunchText& launch = *in.launch;
  SourceList sources;
  // It maps first, though it comes last: it takes little of what a user may
  // lock, and pages take the rest.
  std::unique_ptr<Source> states;
  if (launch.has_states) states = MakeStates(in);
  if (launch.has_pages) {
    auto pages = MakePages(in);
    if (!pages.ok()) return pages.status();
    sources.push_back(*std::move(pages));
  } else if (launch.header.page_scan()) {
    sources.push_back(MakeScanner(in));
  }
  const size_t side_at = sources.size();
  if (launch.header.heap() != HEAP_OFF) sources.push_back(MakeHeap(in));
  if (launch.gil_min_wait_ns != 0) sources.push_back(MakeGil(in));
  if (launch.has_tasks) sources.push_back(MakeTasks(in));
  // Behind those that empty it themselves, before those that wait for it.
  if (!sources.empty()) {
    sources.insert(sources.begin() + static_cast<ptrdiff_t>(side_at),
                   std::make_unique<SideRingSource>(in.side));
  }
  if (states != nullptr) sources.push_back(std::move(states));
  return sources;
}

}  // namespace pymemrun
