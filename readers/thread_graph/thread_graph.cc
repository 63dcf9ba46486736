#include "readers/thread_graph/thread_graph.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "readers/chart/svg_chart.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kOther = "other threads";
constexpr absl::string_view kOfCalls =
    "; numbers: calls, as `pymemreport peaks` has them";
constexpr absl::string_view kOfOthers =
    ", with what other threads did meanwhile";

std::string OthersName(const ThreadGraph& graph) {
  if (graph.curves.others == 0) return std::string(kOther);
  return Counted(graph.curves.others, "other thread");
}

double Seconds(uint64_t time_us) { return static_cast<double>(time_us) / 1e6; }

// What may be as much more or less.
std::string WithError(double bytes, int64_t error_bytes) {
  const std::string text = HumanBytes(bytes);
  if (error_bytes == 0) return text;
  return absl::StrCat(text, " \u00b1",
                      HumanBytes(static_cast<double>(error_bytes)));
}

std::string MostText(const ThreadCurve& curve,
                     const std::vector<LineChart::Point>& points) {
  double most = 0, last = 0;
  for (const LineChart::Point& point : points) {
    most = std::max(most, point.bytes);
    last = point.bytes;
  }
  if (curve.errors.empty()) {
    return absl::StrCat("peak ", HumanBytes(most), ", end ", HumanBytes(last));
  }
  const size_t at = std::max_element(curve.bytes.begin(), curve.bytes.end()) -
                    curve.bytes.begin();
  return absl::StrCat("peak ", WithError(most, curve.errors[at]), ", end ",
                      WithError(last, curve.errors.back()));
}

LineChart::Line LineOf(const ThreadCurve& curve,
                       const std::vector<uint64_t>& time_us) {
  LineChart::Line line;
  line.label = curve.name;
  for (size_t i = 0; i < time_us.size(); ++i) {
    if (!curve.highs.empty()) {
      line.points.push_back({Seconds(curve.highs[i].time_us),
                             static_cast<double>(curve.highs[i].bytes)});
    }
    line.points.push_back(
        {Seconds(time_us[i]), static_cast<double>(curve.bytes[i])});
  }
  line.detail = MostText(curve, line.points);
  return line;
}

LineChart::Line ProcessLine(const ThreadGraph& graph) {
  ThreadCurve process;
  process.name = graph.rebase_bytes == 0
                     ? absl::StrCat(kProcess, ": RSS")
                     : absl::StrCat(kProcess, ": RSS less ",
                                    HumanBytes(graph.rebase_bytes));
  for (const uint64_t bytes : graph.rss_bytes) {
    process.bytes.push_back(static_cast<int64_t>(bytes - graph.rebase_bytes));
  }
  LineChart::Line line = LineOf(process, graph.curves.time_us);
  line.color = "#24292f";
  line.strong = true;
  return line;
}

// The line of that name; a thread without a line of its own is in the one of
// all others, the last.
const LineChart::Line& LineWith(const LineChart& chart,
                                const ThreadPeak& peak) {
  const auto named = [&peak](const LineChart::Line& line) {
    return line.label == peak.line;
  };
  const auto found =
      std::find_if(chart.lines.begin() + 1, chart.lines.end(), named);
  return found != chart.lines.end() ? *found
         : peak.line == kProcess    ? chart.lines.front()
                                    : chart.lines.back();
}

// Where it is drawn at that time.
LineChart::Point PointOn(const LineChart::Line& line, const ThreadPeak& peak) {
  const double seconds = Seconds(peak.time_us);
  const auto after = std::find_if(
      line.points.begin(), line.points.end(),
      [=](const LineChart::Point& point) { return point.seconds >= seconds; });
  if (line.points.empty()) return {seconds, 0};
  if (after == line.points.end()) return line.points.back();
  if (after == line.points.begin()) return *after;
  const LineChart::Point& before = *(after - 1);
  const double part =
      (seconds - before.seconds) / (after->seconds - before.seconds);
  return {seconds, before.bytes + part * (after->bytes - before.bytes)};
}

}  // namespace

LineChart GraphChart(const ThreadGraph& graph) {
  LineChart chart;
  chart.title = TitleOf("Memory by thread", graph.header.script());
  chart.subtitle = absl::StrCat(
      "process ", graph.header.pid(), "; threads: ", graph.meaning,
      graph.knows_calls ? kOfCalls : "", graph.counts_others ? kOfOthers : "");
  chart.lines.push_back(ProcessLine(graph));
  for (size_t i = 0; i < graph.curves.threads.size(); ++i) {
    LineChart::Line line =
        LineOf(graph.curves.threads[i], graph.curves.time_us);
    SetLook(i, &line);
    chart.lines.push_back(std::move(line));
  }
  if (graph.curves.others > 0 || graph.curves.any_other()) {
    ThreadCurve others;
    others.name = absl::StrCat(OthersName(graph), ", together");
    others.bytes = graph.curves.other_bytes;
    LineChart::Line line = LineOf(others, graph.curves.time_us);
    line.color = "#8c959f";
    chart.lines.push_back(std::move(line));
  }
  for (const ThreadPeak& peak : graph.peaks) {
    const LineChart::Line& line = LineWith(chart, peak);
    chart.peaks.push_back(
        {peak.number, PointOn(line, peak), peak.text,
         absl::StrCat(graph.knows_calls && peak.bytes > 0 ? "+" : "",
                      HumanBytes(static_cast<double>(peak.bytes)), " at ",
                      HumanSeconds(peak.time_us)),
         line.color});
  }
  return chart;
}

Table GraphTable(const ThreadGraph& graph) {
  Table table = MomentTable(graph.curves.time_us);
  AddColumn({"rss_bytes", ""}, graph.rss_bytes, &table);
  for (const ThreadCurve& curve : graph.curves.threads) {
    AddColumn({curve.name, ""}, curve.bytes, &table);
  }
  AddColumn({std::string(kOther), ""}, graph.curves.other_bytes, &table);
  for (const ThreadCurve& curve : graph.curves.threads) {
    if (curve.errors.empty()) continue;
    AddColumn({absl::StrCat(curve.name, " error_bytes"), ""}, curve.errors,
              &table);
  }
  return table;
}

void ThinPeaks(uint64_t from_us, uint64_t to_us, size_t most,
               std::vector<ThreadPeak>* peaks) {
  if (peaks->size() <= most) return;
  const double part_us =
      std::max(1.0, static_cast<double>(to_us - from_us)) / most;
  std::vector<const ThreadPeak*> largest(most);
  for (const ThreadPeak& peak : *peaks) {
    const double parts = static_cast<double>(peak.time_us - from_us) / part_us;
    const ThreadPeak*& kept =
        largest[std::min(static_cast<size_t>(parts), most - 1)];
    if (kept == nullptr || std::abs(peak.bytes) > std::abs(kept->bytes)) {
      kept = &peak;
    }
  }
  std::vector<ThreadPeak> all;
  for (const ThreadPeak* peak : largest) {
    if (peak != nullptr) all.push_back(*peak);
  }
  *peaks = std::move(all);
}

}  // namespace pymemrun
