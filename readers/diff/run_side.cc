#include "readers/diff/run_side.h"

#include <algorithm>
#include <utility>

#include "readers/answer/memory_split.h"
#include "readers/heap/heap_exit.h"
#include "readers/heap/heap_table.h"
#include "readers/moments/moment_reading.h"

namespace pymemrun {
namespace {

// The names of a heap's frames, with bytes and their variance beside it, which
// a PlaceTree calls its count.
PlaceTree StacksOf(GroupBy by, const HeapMoments& replay) {
  PlaceTree tree(by, &replay.index());
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (sums[i].recorded == 0 || !source.counts()) continue;
    tree.Add(tree.NodeOf(OriginOf(source.key)), sums[i].bytes,
             sums[i].bytes_variance);
  }
  return tree;
}

}  // namespace

absl::string_view TotalName(Total total) {
  static constexpr absl::string_view kNames[kTotals] = {
      "peak", "heap", "heap-end", "growth", "time", "cpu"};
  return kNames[static_cast<size_t>(total)];
}

absl::string_view HoldingName(Holding holding) {
  static constexpr absl::string_view kNames[kHoldings] = {"heap", "heap-end",
                                                          "resident", "growth"};
  return kNames[static_cast<size_t>(holding)];
}

std::unique_ptr<RunSide> RunSide::Read(RereadFile* file, GroupBy by,
                                       bool stacks) {
  std::unique_ptr<RunSide> side(new RunSide);
  const auto moments = RunMoments::Of(ReadingOf(file));
  if (moments == nullptr || !file->ReadAgain(&side->facts_)) return nullptr;
  side->AddTotals();
  if (side->facts_.HasHeap() && !side->ReadHeap(file, by, stacks)) {
    return nullptr;
  }
  if (by == GroupBy::kLine && !stacks && moments->has_page_events() &&
      !side->ReadResident(file, *moments)) {
    return nullptr;
  }
  if (side->facts_.HasCalls() && !stacks) side->AddGrowth(by);
  return side;
}

void RunSide::Set(Total which, double value, double variance) {
  totals_[static_cast<size_t>(which)] = {true, value, variance};
}

void RunSide::Add(Holding which, const Place& place, double bytes,
                  double variance) {
  places_[static_cast<size_t>(which)].push_back(
      {{names_.Keep(place.file), place.line, names_.Keep(place.function)},
       bytes,
       variance});
}

void RunSide::AddTotals() {
  const uint64_t peak_bytes = std::max(facts_.SeenBytes(), facts_.HwmBytes());
  if (peak_bytes > 0) Set(Total::kPeak, static_cast<double>(peak_bytes));
  const uint64_t last_bytes = facts_.LastRssBytes();
  if (last_bytes > 0 && facts_.first_rss_bytes > 0) {
    Set(Total::kGrowth, static_cast<double>(last_bytes) -
                            static_cast<double>(facts_.first_rss_bytes));
  }
  Set(Total::kTime, static_cast<double>(facts_.DurationUs()));
  Set(Total::kCpu, static_cast<double>(facts_.user_us + facts_.system_us));
}

bool RunSide::ReadHeap(RereadFile* file, GroupBy by, bool stacks) {
  HeapExitFinder finder;
  if (!file->Read(&finder)) return false;
  const std::pair<Holding, HeapMoment> moments[] = {
      {Holding::kHeap, {HeapMoment::kPeak}},
      {Holding::kHeapEnd, finder.exit()}};
  for (const auto& [holding, moment] : moments) {
    HeapMoments replay({moment});
    if (!file->Read(&replay)) return false;
    const std::vector<HeapSums> sums = replay.SumsAt(0);
    const HeapSums live = TotalsOf(replay.model(), sums).live;
    Set(holding == Holding::kHeap ? Total::kHeap : Total::kHeapEnd, live.bytes,
        live.bytes_variance);
    if (stacks && holding == Holding::kHeap) KeepStacks(StacksOf(by, replay));
    if (stacks) continue;
    known_[static_cast<size_t>(holding)] = true;
    HeapRowsMaker maker(by);
    maker.Add(replay, sums);
    for (const HeapRows::Row& row : maker.Take().places) {
      Add(holding, row.place, row.sums.bytes, row.sums.bytes_variance);
    }
  }
  return true;
}

void RunSide::KeepStacks(const PlaceTree& tree) {
  for (const PlaceTree::Node& node : tree.nodes()) {
    stacks_.push_back({node.parent,
                       {names_.Keep(node.place.file), node.place.line,
                        names_.Keep(node.place.function)},
                       node.self_bytes,
                       node.self_count});
  }
}

bool RunSide::ReadResident(RereadFile* file, const RunMoments& moments) {
  const uint64_t peak_us = moments.RssPeak().time_us;
  ResidentReplay pages(peak_us, moments.hindsight());
  if (!file->Read(&pages)) return false;
  HeapMoments heap({{HeapMoment::kTime, peak_us}});
  const bool has_heap = facts_.HasHeap();
  if (has_heap && !file->Read(&heap)) return false;
  known_[static_cast<size_t>(Holding::kResident)] = true;
  const MemorySplit split =
      SplitMemory(pages, has_heap ? &heap : nullptr,
                  static_cast<double>(pages.by_scan() ? moments.PeakBytes()
                                                      : moments.peak_bytes()));
  for (const PlaceHolding& holding : split.places) {
    Add(Holding::kResident, holding.place, holding.bytes, holding.variance);
  }
  return true;
}

void RunSide::AddGrowth(GroupBy by) {
  if (by == GroupBy::kAllocator || by == GroupBy::kModule) return;
  known_[static_cast<size_t>(Holding::kGrowth)] = true;
  ProfileTable table(by);
  table.Add(facts_.profile(), facts_.index());
  for (const ProfiledPlace& place : table.Sorted(0)) {
    const auto bytes = static_cast<double>(place.totals.growth_bytes);
    if (bytes > 0) Add(Holding::kGrowth, place, bytes, 0);
  }
}

}  // namespace pymemrun
