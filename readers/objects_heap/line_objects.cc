#include "readers/objects_heap/line_objects.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "readers/heap/heap_places.h"
#include "readers/objects_findings/structure.h"
#include "readers/objects_heap/block_replay.h"

namespace pymemrun {
namespace {

// Line, type, holder.
using Key = std::tuple<uint32_t, uint32_t, NodeId>;

class Joiner {
 public:
  Joiner(const HeapReplay& replay, ObjectAnalysis* analysis, PlaceTable* places)
      : model_(replay.model()),
        analysis_(*analysis),
        places_(*places),
        numbers_(GroupBy::kLine, &replay.index(), places) {}

  std::vector<LineObjects> Join() {
    AddLines();
    AddObjects();
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
  // With the live bytes of their sources.
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
    }
  }
  void AddObjects() {
    const ObjectGraph& graph = analysis_.graph();
    const std::vector<NodeId> holders = HoldersOf(&analysis_);
    for (NodeId node = 0; node < graph.nodes(); ++node) {
      if (graph.is_synthetic(node)) continue;
      const auto block = model_.blocks().find(BlockOf(graph, node));
      if (block == model_.blocks().end()) continue;
      const uint32_t line = line_of_[block->second.source];
      if (line == kNoLine) continue;
      sums_[{line, graph.type(node), holders[node]}].Add(
          block->second.size, model_.WeightOf(block->second));
    }
  }
  void AddParts() {
    absl::flat_hash_map<std::pair<uint32_t, uint32_t>, LineObjects::Part> parts;
    for (const auto& [key, sums] : sums_) {
      const auto& [line, type, holder] = key;
      LineObjects::Part& part = parts[{line, type}];
      part.type = type;
      part.sums.Add(sums);
      if (std::tuple(part.holder_bytes, holder) <
          std::tuple(sums.bytes, part.holder)) {
        part.holder = holder;
        part.holder_bytes = sums.bytes;
      }
    }
    for (const auto& [key, part] : parts) {
      lines_[key.first].parts.push_back(part);
    }
  }

  static constexpr uint32_t kNoLine = ~uint32_t{0};

  const HeapModel& model_;
  ObjectAnalysis& analysis_;
  const PlaceTable& places_;
  OriginNumbers numbers_;
  std::vector<uint32_t> line_of_;  // by source
  std::vector<LineObjects> lines_;
  absl::flat_hash_map<Key, HeapSums> sums_;
};

}  // namespace

double LineObjects::RestBytes() const {
  double rest = live.bytes;
  for (const Part& part : parts) rest -= part.sums.bytes;
  return std::max(rest, 0.0);
}

std::vector<LineObjects> ObjectsByLine(const HeapReplay& replay,
                                       ObjectAnalysis* analysis,
                                       PlaceTable* places) {
  return Joiner(replay, analysis, places).Join();
}

}  // namespace pymemrun
