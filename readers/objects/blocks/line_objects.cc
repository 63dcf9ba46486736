#include "readers/objects/blocks/line_objects.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "readers/objects/blocks/block_replay.h"
#include "readers/objects/findings/structure.h"
#include "readers/objects/graph/free_lists.h"
#include "readers/replay/heap/heap_places.h"

namespace pymemrun {
namespace {

// Line, type, holder.
using Key = std::tuple<uint32_t, uint32_t, NodeId>;
struct Sums {
  HeapSums blocks;
  double reused = 0;
};

// What the dump has of a holder and a type.
struct InDump {
  double objects = 0, bytes = 0;
};

// Scales a part of an estimate, so that all parts add up to `exact`. It may be
// wrong by `one` object, and by four standard errors of samples. `all` and its
// variance are the sum of all parts before. The part keeps only the variance of
// its share. Returns the factor.
double ScaleTo(double exact, double one, double all, double all_variance,
               bool may_grow, double* part, double* variance) {
  if (all <= 0) return 1;
  const double most_missing = 4 * std::sqrt(all_variance * exact / all) + one;
  if (all <= exact && !(may_grow && exact - all <= most_missing)) return 1;
  const double factor = exact / all, share = *part / all;
  *part *= factor;
  if (may_grow) {
    *variance = (1 - 2 * share) * *variance + share * share * all_variance;
  }
  *variance *= factor * factor;
  return factor;
}

// Joins blocks and objects: by address they give each object a line.
class Joiner {
 public:
  Joiner(const HeapReplay& replay, ObjectAnalysis* analysis, PlaceTable* places)
      : replay_(replay),
        model_(replay.model()),
        analysis_(*analysis),
        places_(*places),
        free_lists_(&analysis->graph()),
        numbers_(GroupBy::kLine, &replay.index(), places) {}

  std::vector<LineObjects> Join() {
    AddLines();
    AddObjects();
    // A sample of blocks is scaled to the dump, which has all objects.
    if (replay_.sampled()) TakeFromDump();
    AddParts();
    for (LineObjects& line : lines_) {
      std::sort(line.parts.begin(), line.parts.end(),
                [](const LineObjects::Part& a, const LineObjects::Part& b) {
                  return std::tuple(b.sums.bytes, a.type) <
                         std::tuple(a.sums.bytes, b.type);
                });
    }
    std::sort(lines_.begin(), lines_.end(),
              [](const LineObjects& a, const LineObjects& b) {
                return std::tuple(b.live.bytes, a.line) <
                       std::tuple(a.live.bytes, b.line);
              });
    lines_.erase(
        std::find_if(lines_.begin(), lines_.end(),
                     [](const LineObjects& l) { return l.live.bytes <= 0; }),
        lines_.end());
    return std::move(lines_);
  }

 private:
  // Adds lines with the live bytes of their sources.
  void AddLines() {
    for (uint32_t i = 0; i < model_.sources().size(); ++i) {
      const HeapSource& source = model_.sources()[i];
      const bool is_there = source.counts() && source.live.recorded > 0;
      line_of_.push_back(is_there ? numbers_.NumberOf(i, OriginOf(source.key))
                                  : kNoLine);
      if (!is_there) continue;
      if (line_of_[i] >= lines_.size()) lines_.resize(line_of_[i] + 1);
      lines_[line_of_[i]].live.Add(source.live);
    }
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      lines_[i].line = places_.places()[i];
      // What no object takes remains.
      lines_[i].rest_bytes = lines_[i].live.bytes;
    }
  }
  void AddObjects() {
    const ObjectGraph& graph = analysis_.graph();
    const std::vector<NodeId> holders = HoldersOf(&analysis_);
    for (NodeId node = 0; node < graph.nodes(); ++node) {
      if (graph.is_synthetic(node)) continue;
      if (replay_.sampled()) {
        InDump& dump = dump_[{graph.type(node), holders[node]}];
        ++dump.objects;
        dump.bytes += static_cast<double>(graph.size_bytes(node));
      }
      const BesideBlock beside = graph.besides().Of(node);
      const bool is_reused = free_lists_.MayHold(node);
      // The block beside counts if it is larger, or if the object's own block
      // may be a reused one, and it is not itself reused.
      const bool by_beside =
          beside.bytes > 0 && !free_lists_.MayHoldBeside(node, beside) &&
          (is_reused || beside.bytes > graph.size_bytes(node) / 2);
      AddBlock(BlockOf(graph, node), node, holders[node],
               /*counts=*/!by_beside, is_reused);
      if (beside.bytes == 0) continue;
      AddBlock(beside.address, node, holders[node], /*counts=*/by_beside,
               /*is_reused=*/false);
    }
  }
  void AddBlock(uint64_t address, NodeId node, NodeId holder, bool counts,
                bool is_reused) {
    const auto block = model_.blocks().find(address);
    if (block == model_.blocks().end()) return;
    const uint32_t line = line_of_[block->second.source];
    if (line == kNoLine) return;
    const double weight = model_.WeightOf(block->second);
    HeapSums sums;
    sums.Add(block->second.size, weight);
    // An object has two blocks, but counts once.
    if (!counts) sums.count = sums.count_variance = 0;
    lines_[line].rest_bytes -= sums.bytes;
    Sums& of = sums_[{line, analysis_.graph().type(node), holder}];
    of.blocks.Add(sums);
    if (counts && is_reused) of.reused += weight;
  }
  void AddParts() {
    absl::flat_hash_map<std::pair<uint32_t, uint32_t>, LineObjects::Part> parts;
    for (const auto& [key, sums] : sums_) {
      const auto& [line, type, holder] = key;
      LineObjects::Part& part = parts[{line, type}];
      part.type = type;
      part.sums.Add(sums.blocks);
      part.reused += sums.reused;
      // Ties go to the lower node, so that results do not depend on hashing.
      if (std::tuple(part.holder_bytes, holder) <
          std::tuple(sums.blocks.bytes, part.holder)) {
        part.holder = holder;
        part.holder_bytes = sums.blocks.bytes;
      }
    }
    for (const auto& [key, part] : parts) {
      lines_[key.first].parts.push_back(part);
    }
  }

  // The dump has every object of a type that a holder keeps alive, so samples
  // are scaled to it. If the dump has more than errors explain, they are not:
  // some objects were made before tracing, or in free memory.
  void TakeFromDump() {
    absl::flat_hash_map<std::pair<uint32_t, NodeId>, HeapSums> found;
    for (const auto& [key, sums] : sums_) {
      found[{std::get<1>(key), std::get<2>(key)}].Add(sums.blocks);
    }
    for (auto& [key, sums] : sums_) {
      const std::pair group(std::get<1>(key), std::get<2>(key));
      const InDump& dump = dump_[group];
      const HeapSums& all = found[group];
      // Objects without a holder are not kept alive: the dump may not have all.
      const bool may_grow = group.second != kNoNode;
      HeapSums& of = sums.blocks;
      const double factor =
          ScaleTo(dump.objects, 1, all.count, all.count_variance, may_grow,
                  &of.count, &of.count_variance);
      sums.reused *= factor;
      ScaleTo(dump.bytes, dump.bytes / dump.objects, all.bytes,
              all.bytes_variance, may_grow, &of.bytes, &of.bytes_variance);
    }
  }

  static constexpr uint32_t kNoLine = ~uint32_t{0};

  const HeapReplay& replay_;
  const HeapModel& model_;
  ObjectAnalysis& analysis_;
  const PlaceTable& places_;
  const FreeLists free_lists_;
  OriginNumbers numbers_;
  std::vector<uint32_t> line_of_;  // by source
  std::vector<LineObjects> lines_;
  absl::flat_hash_map<Key, Sums> sums_;
  // For a sampled run.
  absl::flat_hash_map<std::pair<uint32_t, NodeId>, InDump> dump_;
};

}  // namespace

std::vector<LineObjects> ObjectsByLine(const HeapReplay& replay,
                                       ObjectAnalysis* analysis,
                                       PlaceTable* places) {
  return Joiner(replay, analysis, places).Join();
}

}  // namespace pymemrun
