#include "readers/objects_heap/line_objects.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "readers/heap/heap_places.h"
#include "readers/objects_findings/structure.h"
#include "readers/objects_heap/block_replay.h"

namespace pymemrun {
namespace {

struct Sums {
  double bytes = 0, objects = 0;
};
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
                  return std::tuple(b.bytes, a.type) <
                         std::tuple(a.bytes, b.type);
                });
    }
    std::sort(lines_.begin(), lines_.end(),
              [](const LineObjects& a, const LineObjects& b) {
                return std::tuple(b.live_bytes, a.line) <
                       std::tuple(a.live_bytes, b.line);
              });
    lines_.erase(
        std::find_if(lines_.begin(), lines_.end(),
                     [](const LineObjects& l) { return l.live_bytes <= 0; }),
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
      lines_[line_of_[i]].live_bytes += source.live.bytes;
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
      const double weight = model_.WeightOf(block->second);
      Sums& sums = sums_[{line, graph.type(node), holders[node]}];
      sums.bytes += weight * static_cast<double>(block->second.size);
      sums.objects += weight;
    }
  }
  void AddParts() {
    absl::flat_hash_map<std::pair<uint32_t, uint32_t>, LineObjects::Part> parts;
    for (const auto& [key, sums] : sums_) {
      const auto& [line, type, holder] = key;
      LineObjects::Part& part = parts[{line, type}];
      part.type = type;
      part.bytes += sums.bytes;
      part.objects += sums.objects;
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
  absl::flat_hash_map<Key, Sums> sums_;
};

}  // namespace

double LineObjects::RestBytes() const {
  double rest = live_bytes;
  for (const Part& part : parts) rest -= part.bytes;
  return std::max(rest, 0.0);
}

std::vector<LineObjects> ObjectsByLine(const HeapReplay& replay,
                                       ObjectAnalysis* analysis,
                                       PlaceTable* places) {
  return Joiner(replay, analysis, places).Join();
}

}  // namespace pymemrun
