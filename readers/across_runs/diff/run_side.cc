#include "readers/across_runs/diff/run_side.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "readers/answer/memory/memory_split.h"
#include "readers/replay/heap/heap_exit.h"
#include "readers/replay/heap/heap_stacks.h"
#include "readers/replay/heap/heap_table.h"
#include "readers/replay/heap/heap_totals.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/replay/threads/caused_growth.h"

namespace pymemrun {
namespace {

// Around a fault the kernel maps up to 16 pages of a file that are in the page
// cache (do_fault_around() in mm/memory.c). That differs from run to run: by
// half a piece of 64 KiB, each independent of the others.
double VarianceOfFile(double bytes) {
  constexpr double kPieceBytes = 64 << 10;
  if (bytes <= 0) return 0;
  return std::fmax(bytes / kPieceBytes, 1) * kPieceBytes * kPieceBytes / 4;
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

bool RunSide::HasAny(const TableView& view) const {
  return std::any_of(places_.begin(), places_.end(), [&view](const auto& held) {
    return std::any_of(held.begin(), held.end(), [&view](const HeldBytes& one) {
      return view.Lists(one.place.file, one.place.function);
    });
  });
}

std::unique_ptr<RunSide> RunSide::Read(RereadFile* file,
                                       const RunSideOptions& options,
                                       const Console& console, int* code) {
  std::unique_ptr<RunSide> side(new RunSide(options));
  const bool is_read = side->ReadMoment(file, console, code);
  *code = std::max(*code, file->code());
  if (is_read) return side;
  // It is not a usage error, so it is a reading error.
  if (*code == kExitOk) *code = kExitFailed;
  return nullptr;
}

// Each part takes a reading of its own, whose moment must be known before.
bool RunSide::ReadMoment(RereadFile* file, const Console& console, int* code) {
  const auto moments = RunMoments::Of(ReadingOf(file));
  if (moments == nullptr || !file->ReadAgain(&facts_)) return false;
  AddTotals();
  FoundMoment at = moments->RssPeak();
  std::optional<HeapMoment> of_heap;
  if (options_.at.has_value()) {
    const auto found = FindMoment(*moments, *options_.at, file, console, code);
    if (!found.has_value()) return false;
    at = *found;
    moment_ = found;
    std::vector<HeapMoment> blocks;
    if (facts_.HasHeap()) {
      blocks = FindHeapMoments({*options_.at}, file, console, code);
      if (blocks.empty()) return false;
      of_heap = blocks[0];
    }
  }
  if (facts_.HasHeap() && !ReadHeap(file, of_heap)) return false;
  // Only live blocks have call trees to compare.
  if (options_.stacks) return true;
  if (options_.by != GroupBy::kAllocator && moments->has_page_events() &&
      !ReadResident(file, *moments, at)) {
    return false;
  }
  const auto caused =
      options_.by == GroupBy::kThread ? ReadCaused(file, *moments) : nullptr;
  if (facts_.HasCalls() || caused != nullptr) AddGrowth(caused.get());
  return true;
}

void RunSide::Set(Total which, double value, double variance) {
  totals_[static_cast<size_t>(which)] = {true, value, variance};
}

// Names are copied: the replays that own them end before this object does.
void RunSide::Add(Holding which, const Place& place, double bytes,
                  double variance) {
  places_[static_cast<size_t>(which)].push_back(
      {{names_.Keep(place.file), place.line, names_.Keep(place.function)},
       bytes,
       variance});
}

// The kernel's own maximum (VmHWM) may exceed all RSS that was seen.
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

// Three readings: one finds the end of the program's code, two stop at the peak
// and at that end. With a given moment, places are those of a fourth.
bool RunSide::ReadHeap(RereadFile* file, const std::optional<HeapMoment>& at) {
  HeapExitFinder finder;
  if (!file->Read(&finder)) return false;
  const std::pair<Holding, HeapMoment> moments[] = {
      {Holding::kHeap, {HeapMoment::kPeak}},
      {Holding::kHeapEnd, finder.exit()}};
  for (const auto& [holding, moment] : moments) {
    HeapMoments replay({moment});
    if (!file->Read(&replay)) return false;
    const HeapSums live = TotalsOf(replay.model(), replay.SumsAt(0)).live;
    Set(holding == Holding::kHeap ? Total::kHeap : Total::kHeapEnd, live.bytes,
        live.bytes_variance);
    if (!at.has_value()) KeepHeap(holding, replay);
  }
  if (!at.has_value()) return true;
  HeapMoments replay({*at});
  if (!file->Read(&replay)) return false;
  KeepHeap(Holding::kHeap, replay);
  return true;
}

// Only one call tree is compared: that of the peak, or of the given moment.
void RunSide::KeepHeap(Holding holding, const HeapMoments& replay) {
  if (options_.stacks) {
    if (holding == Holding::kHeap)
      KeepStacks(HeapTree(options_.by, replay, {.of_variances = true}));
    return;
  }
  known_[static_cast<size_t>(holding)] = true;
  HeapRowsMaker maker(options_.by);
  maker.Add(replay, replay.SumsAt(0));
  for (const HeapRows::Row& row : maker.Take().places) {
    Add(holding, row.place, row.sums.bytes, row.sums.bytes_variance);
  }
}

void RunSide::KeepStacks(const PlaceTree& tree) {
  for (const PlaceTree::Node& node : tree.nodes()) {
    stacks_.push_back({node.parent,
                       {names_.Keep(node.place.file), node.place.line,
                        names_.Keep(node.place.function)},
                       node.self_bytes,
                       // The tree counts variances here, see of_variances.
                       node.self_count});
  }
}

// Pages and blocks at one moment, split as the answer does. At the peak VmHWM
// counts, which may exceed what the model knows.
bool RunSide::ReadResident(RereadFile* file, const RunMoments& moments,
                           const FoundMoment& at) {
  ResidentReplay pages(at.UntilUs(), moments.hindsight());
  if (!file->Read(&pages)) return false;
  HeapMoments heap({at.OfBlocks()});
  const bool has_heap = facts_.HasHeap();
  if (has_heap && !file->Read(&heap)) return false;
  known_[static_cast<size_t>(Holding::kResident)] = true;
  const uint64_t rss_bytes =
      options_.at.has_value() ? pages.model().RssBytes() : moments.PeakBytes();
  const MemorySplit split =
      SplitMemory(pages, has_heap ? &heap : nullptr,
                  static_cast<double>(rss_bytes), options_.by);
  for (const PlaceHolding& holding : split.places) {
    Add(Holding::kResident, holding.place, holding.bytes,
        holding.variance + VarianceOfFile(holding.file_bytes));
  }
  return true;
}

// Events of calls know neither the allocator nor the module of growth.
void RunSide::AddGrowth(const ThreadReplay* caused) {
  const GroupBy by = options_.by;
  if (by == GroupBy::kAllocator || by == GroupBy::kModule) return;
  known_[static_cast<size_t>(Holding::kGrowth)] = true;
  ProfileTable table(
      by, caused != nullptr ? Attribution::kCaused : Attribution::kObserved);
  facts_.AddTo(&table);
  if (caused != nullptr) AddCaused(*caused, "", &table);
  for (const ProfiledPlace& row : table.Sorted(0)) {
    const auto bytes = static_cast<double>(row.totals.growth_bytes);
    if (bytes > 0) Add(Holding::kGrowth, row.place, bytes, 0);
  }
}

}  // namespace pymemrun
