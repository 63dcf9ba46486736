#include "readers/replay/heap/heap_stacks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/output/whole_number.h"
#include "readers/replay/heap/heap_totals.h"
#include "readers/run/frame_budget.h"
#include "text/escape.h"

namespace pymemrun {
namespace {

constexpr TreeMeasure kLiveBlocks = {TreeUnit::kBytes, "live_bytes", "live",
                                     "live_count", "blocks"};

// "key": value.
void AppendMember(absl::string_view key, const Cell& value, std::string* out) {
  absl::StrAppend(out, ", ");
  AppendJsonString(key, out);
  absl::StrAppend(out, ": ");
  AppendJsonCell(value, out);
}

std::string FrameJson(absl::string_view file, uint64_t line,
                      absl::string_view function) {
  std::string frame = "{\"file\": ";
  AppendJsonString(file, &frame);
  AppendMember("line", line == 0 ? Cell() : line, &frame);
  AppendMember("function", std::string(function), &frame);
  return frame + "}";
}

// [{"file": ..., "line": ..., "function": ...}, ...].
std::string FramesJson(const RunIndex& index, uint32_t stack,
                       FrameBudget* budget) {
  std::vector<std::string> frames;  // innermost first
  budget->BeginStack();
  for (uint32_t at = stack; at != 0; at = index.ParentStack(at)) {
    if (!budget->HasRoom()) {
      frames.push_back(FrameJson("", 0, kDeeperFramesName));
      break;
    }
    const SourceLocation place = index.ResolveStack(at);
    frames.push_back(FrameJson(place.file, place.line, place.code_name));
    budget->Take(frames.back().size());
  }
  std::string text = "[";
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    absl::StrAppend(&text, frame == frames.rbegin() ? "" : ", ", *frame);
  }
  return text + "]";
}

std::string SourceJson(const HeapReplay& replay, const HeapSource& source,
                       const HeapSums& sums, FrameBudget* budget) {
  std::string text = "{\"stack\": ";
  text += FramesJson(replay.index(), source.key.stack, budget);
  AppendMember("thread",
               std::string(replay.index().LatestThreadLabel(source.key.thread)),
               &text);
  AppendMember("allocator",
               std::string(HeapAllocatorName(source.key.allocator)), &text);
  AppendMember("live_bytes", WholeNumber(sums.bytes), &text);
  AppendMember("live_count", WholeNumber(sums.count), &text);
  if (replay.sampled()) {
    AppendMember("error_bytes", WholeNumber(sums.BytesError()), &text);
    AppendMember("error_count", WholeNumber(sums.CountError()), &text);
    AppendMember("unseen_bytes", UnseenCell(replay.unseen().bytes), &text);
    AppendMember("unseen_count", UnseenCell(replay.unseen().count), &text);
  }
  return text + "}";
}

}  // namespace

// A difference between two trees needs variances, so a tree may have these
// instead of counts.
PlaceTree HeapTree(GroupBy by, const HeapMoments& replay,
                   const HeapTreeOptions& options) {
  PlaceTree tree(by, &replay.index(), kLiveBlocks);
  if (options.folds_imports) tree.FoldImports();
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (sums[i].recorded == 0 || !source.counts()) continue;
    if (options.keep != nullptr && !options.keep(source)) continue;
    tree.Add(tree.NodeOf(OriginOf(source.key, replay), options.inverted),
             sums[i].bytes,
             options.of_variances ? sums[i].bytes_variance : sums[i].count);
  }
  tree.SumUp();
  return tree;
}

// Objects are written one by one: the whole array may exceed memory.
void PrintSnapshotJson(const HeapMoments& replay, uint64_t limit,
                       const HeapRowsMaker::Keep& keep, OutputBuffer* output) {
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  std::vector<size_t> order = SourcesByBytes(replay.model(), sums);
  if (keep != nullptr) {
    order.erase(std::remove_if(order.begin(), order.end(),
                               [&](size_t i) {
                                 return !keep(replay.model().sources()[i]);
                               }),
                order.end());
  }
  if (limit != 0 && limit < order.size()) order.resize(limit);
  FrameBudget budget;
  output->Append("[");
  for (const size_t i : order) {
    output->Append(i == order[0] ? "\n  " : ",\n  ");
    output->Append(
        SourceJson(replay, replay.model().sources()[i], sums[i], &budget));
  }
  output->Append("\n]\n");
}

}  // namespace pymemrun
