// The highest points of threads' lines.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/places/place_table.h"
#include "readers/threads/thread_curves.h"

namespace pymemrun {
namespace {

using High = ThreadCurve::High;

constexpr int64_t kLeastBytes = 64 << 10;
// No process has more.
constexpr uint64_t kMostBytes = uint64_t{1} << 60;

// Appends each point from which the line goes down by `step`, or to which it
// came up by so much at the end.
void FindTops(const std::vector<High>& line, int64_t step,
              std::vector<High>* tops) {
  if (line.empty()) return;
  bool rises = true;
  High top = line.front();
  int64_t lowest = top.bytes;
  for (const High& point : line) {
    if (point.bytes > top.bytes) top = point;
    lowest = std::min(lowest, point.bytes);
    if (rises && point.bytes <= top.bytes - step) {
      tops->push_back(top);
      rises = false;
      lowest = point.bytes;
    }
    if (!rises && point.bytes >= lowest + step) {
      rises = true;
      top = point;
    }
  }
  const int64_t from = tops->empty() ? line.front().bytes : lowest;
  if (rises && top.bytes >= from + step) tops->push_back(top);
}

// Highs, and what the line was at moments: a line may only go down.
std::vector<High> PointsOf(const ThreadCurve& curve,
                           const std::vector<uint64_t>& time_us) {
  std::vector<High> points;
  for (size_t i = 0; i < curve.bytes.size(); ++i) {
    if (!curve.highs.empty()) points.push_back(curve.highs[i]);
    points.push_back({time_us[i], curve.bytes[i], 0});
  }
  return points;
}

// "main.py:44 run"
std::string ShortLine(const RunIndex& index, uint32_t stack) {
  Place place = PlaceOf(GroupBy::kLine, index, Origin{.stack = stack});
  place.file = place.file.substr(place.file.rfind('/') + 1);
  return LabelOf(place);
}

void AddTops(const ThreadCurve& curve, const ThreadCurves& curves, int64_t step,
             const RunIndex& index, std::vector<ThreadPeak>* peaks) {
  std::vector<High> tops;
  FindTops(PointsOf(curve, curves.time_us), step, &tops);
  for (const High& top : tops) {
    peaks->push_back({0, top.time_us, curve.name, top.bytes, curve.name});
    if (top.stack == 0) continue;
    absl::StrAppend(&peaks->back().text, " > ", ShortLine(index, top.stack));
  }
}

void KeepHighest(size_t most, std::vector<ThreadPeak>* peaks) {
  std::stable_sort(peaks->begin(), peaks->end(),
                   [](const ThreadPeak& a, const ThreadPeak& b) {
                     return a.bytes > b.bytes;
                   });
  if (peaks->size() > most) peaks->resize(most);
}

}  // namespace

std::vector<ThreadPeak> HighestPoints(const ThreadCurves& curves,
                                      const std::vector<uint64_t>& rss_bytes,
                                      const RunIndex& index, size_t most) {
  std::vector<ThreadPeak> peaks;
  int64_t highest = 0;
  for (const ThreadCurve& curve : curves.threads) {
    for (const High& point : PointsOf(curve, curves.time_us)) {
      highest = std::max(highest, point.bytes);
    }
  }
  for (const ThreadCurve& curve : curves.threads) {
    AddTops(curve, curves, std::max(highest / 10, kLeastBytes), index, &peaks);
  }
  ThreadCurve process;
  process.name = std::string(kProcess);
  for (const uint64_t bytes : rss_bytes) {
    process.bytes.push_back(static_cast<int64_t>(std::min(bytes, kMostBytes)));
  }
  std::vector<ThreadPeak> all;
  if (!rss_bytes.empty()) {
    const auto [low, high] =
        std::minmax_element(process.bytes.begin(), process.bytes.end());
    AddTops(process, curves, std::max((*high - *low) / 10, kLeastBytes), index,
            &all);
  }
  KeepHighest(most / 4, &all);
  KeepHighest(most - all.size(), &peaks);
  all.insert(all.end(), peaks.begin(), peaks.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const ThreadPeak& a, const ThreadPeak& b) {
                     return a.time_us < b.time_us;
                   });
  for (size_t i = 0; i < all.size(); ++i) all[i].number = i + 1;
  return all;
}

}  // namespace pymemrun
