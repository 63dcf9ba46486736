#include "readers/time_commands/counter_chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/chart/svg_chart.h"
#include "text/columns.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

using Kind = CounterReplay::Kind;

constexpr double kSameHeight = 0.01;  // of bars, for who looks at them

// How fast totals grow, by column: what grew between two samples is spread over
// their time.
class Rates {
 public:
  Rates(const CounterReplay& replay, const std::vector<Kind>& totals)
      : begin_us_(replay.begin_us()),
        column_us_(std::max(1.0, static_cast<double>(replay.long_us())) /
                   LaneChart::kColumns),
        a_second_(LaneChart::kColumns) {
    for (const Kind kind : totals) Add(replay.Of(kind).points());
  }

  double highest() const {
    return *std::max_element(a_second_.begin(), a_second_.end());
  }
  // Each as high as its share of `full`.
  std::vector<LaneChart::Bar> Bars(double full, uint32_t color) const;

 private:
  double ColumnOf(uint64_t time_us) const {
    return time_us <= begin_us_
               ? 0
               : std::min(static_cast<double>(time_us - begin_us_) / column_us_,
                          static_cast<double>(LaneChart::kColumns));
  }
  void Add(const std::vector<CounterPoint>& points);

  const uint64_t begin_us_;
  const double column_us_;
  std::vector<double> a_second_;
};

std::vector<LaneChart::Bar> Rates::Bars(double full, uint32_t color) const {
  std::vector<LaneChart::Bar> bars;
  for (uint32_t at = 0; full > 0 && at < a_second_.size(); ++at) {
    const double height = std::min(1.0, a_second_[at] / full);
    const bool goes_on = !bars.empty() &&
                         bars.back().column + bars.back().columns == at &&
                         std::abs(bars.back().height - height) < kSameHeight;
    if (goes_on) {
      ++bars.back().columns;
    } else if (height > 0) {
      bars.push_back({at, 1, color, height});
    }
  }
  return bars;
}

void Rates::Add(const std::vector<CounterPoint>& points) {
  for (size_t i = 1; i < points.size(); ++i) {
    const double from = ColumnOf(points[i - 1].time_us);
    const double to = ColumnOf(points[i].time_us);
    const double took_us =
        static_cast<double>(points[i].time_us - points[i - 1].time_us);
    if (took_us <= 0 || to <= from) continue;
    const double rate = (points[i].value - points[i - 1].value) / took_us * 1e6;
    for (auto at = static_cast<size_t>(from);
         at < a_second_.size() && static_cast<double>(at) < to; ++at) {
      const double inside = std::min(to, static_cast<double>(at + 1)) -
                            std::max(from, static_cast<double>(at));
      a_second_[at] += rate * inside;
    }
  }
}

// The highest value of each column; between two samples it is the one before.
std::vector<double> RssByColumn(const CounterReplay& replay) {
  std::vector<double> bytes(LaneChart::kColumns, -1);
  const double column_us =
      std::max(1.0, static_cast<double>(replay.long_us())) /
      LaneChart::kColumns;
  for (const CounterPoint& point : replay.Of(Kind::kRss).points()) {
    const uint64_t since_us =
        point.time_us - std::min(point.time_us, replay.begin_us());
    const auto column = std::min<size_t>(
        static_cast<size_t>(static_cast<double>(since_us) / column_us),
        LaneChart::kColumns - 1);
    bytes[column] = std::max(bytes[column], point.value);
  }
  for (size_t i = 1; i < bytes.size(); ++i) {
    if (bytes[i] < 0) bytes[i] = bytes[i - 1];
  }
  return bytes;
}

std::string SubtitleOf(const Header& header, double full) {
  return absl::StrCat("process ", header.pid(), "; a full bar of CPU is ",
                      Percent(full), " of one CPU");
}

double Growth(const CounterReplay& replay, Kind kind) {
  const CounterSeries& series = replay.Of(kind);
  return series.empty() ? 0 : series.Growth();
}

}  // namespace

LaneChart CounterChart(const CounterReplay& replay) {
  constexpr uint32_t kCpuColor = LaneChart::kFirstColor;
  constexpr uint32_t kKernelColor = kCpuColor + 1;
  constexpr uint32_t kFaultColor = kKernelColor + 1;
  LaneChart chart;
  const Header& header = replay.header();
  chart.title = TitleOf("RSS and CPU", header.script());
  chart.begin_seconds = static_cast<double>(replay.begin_us()) / 1e6;
  chart.end_seconds = static_cast<double>(replay.end_us()) / 1e6;
  chart.colors = {"#8c959f", "#c9ced4", "#1f6fb4", "#d1550b", "#2b8a3e"};
  chart.has_bars = true;
  chart.rss_bytes = RssByColumn(replay);
  const Rates cpu(replay, {Kind::kUserCpu, Kind::kSystemCpu});
  const Rates kernel(replay, {Kind::kSystemCpu});
  const Rates faults(replay, {Kind::kMinorFaults, Kind::kMajorFaults});
  const double full = std::max(1.0, cpu.highest());
  chart.subtitle = SubtitleOf(header, full);
  const auto add = [&chart](std::string label, std::string detail,
                            const Rates& rates, double most, uint32_t color) {
    LaneChart::Lane lane;
    lane.label = std::move(label);
    lane.detail = std::move(detail);
    lane.bars = rates.Bars(most, color);
    chart.lanes.push_back(std::move(lane));
  };
  add("CPU",
      absl::StrFormat("%.2f s", Growth(replay, Kind::kUserCpu) +
                                    Growth(replay, Kind::kSystemCpu)),
      cpu, full, kCpuColor);
  add("of it the kernel",
      absl::StrFormat("%.2f s", Growth(replay, Kind::kSystemCpu)), kernel, full,
      kKernelColor);
  add("page faults",
      absl::StrFormat("%.0f, at most %.0f a second",
                      Growth(replay, Kind::kMinorFaults) +
                          Growth(replay, Kind::kMajorFaults),
                      faults.highest()),
      faults, faults.highest(), kFaultColor);
  return chart;
}

}  // namespace pymemrun
