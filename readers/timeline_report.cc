#include "readers/timeline_report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/report_text.h"
#include "readers/heap_timeline.h"
#include "readers/place_label.h"
#include "readers/resident_report.h"
#include "readers/resident_table.h"
#include "readers/svg_chart.h"
#include "readers/table.h"
#include "readers/timeline.h"

namespace pymemrun {
namespace {

constexpr uint64_t kHairline = 360;  // of the picture's height
constexpr absl::string_view kOther = "other places";
constexpr absl::string_view kUnattributed = "unattributed";

Table TimelineTable(const Timeline& line) {
  Table table;
  table.headings = {{"time_s", ""}, {"rss_bytes", ""}};
  for (const auto& series : line.series) {
    table.headings.push_back({LabelOf(series.place), ""});
  }
  for (const absl::string_view name : {kOther, kBeforeTracing, kUnattributed}) {
    table.headings.push_back({std::string(name), ""});
  }
  for (size_t step = 0; step < line.time_us.size(); ++step) {
    std::vector<Cell> row = {static_cast<double>(line.time_us[step]) / 1e6,
                             line.rss_bytes[step]};
    for (const auto& series : line.series) {
      row.emplace_back(series.bytes[step]);
    }
    row.emplace_back(line.other_bytes[step]);
    row.emplace_back(line.before_bytes[step]);
    row.emplace_back(line.unattributed_bytes[step]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string PeakText(double bytes) {
  return absl::StrCat("peak ", HumanBytes(bytes));
}

template <typename Number>
StackedChart::Layer MakeLayer(std::string label, absl::string_view color,
                              const std::vector<Number>& values) {
  StackedChart::Layer layer;
  layer.label = std::move(label);
  layer.color = std::string(color);
  double lowest = 0, highest = 0;
  for (const Number value : values) {
    const auto bytes = static_cast<double>(value);
    lowest = std::min(lowest, bytes);
    highest = std::max(highest, bytes);
    layer.bytes.push_back(std::max(bytes, 0.0));
  }
  layer.detail = PeakText(highest);
  if (lowest < 0)
    absl::StrAppend(&layer.detail, ", least ", HumanBytes(lowest));
  return layer;
}

std::string ByText(ResidentBy by) {
  switch (by) {
    case ResidentBy::kFunction:
      return "Python function";
    case ResidentBy::kFile:
      return "file";
    case ResidentBy::kThread:
      return "thread";
    default:
      return "line";
  }
}

void SetTexts(ResidentBy by, const ResidentReplay& replay,
              StackedChart* chart) {
  const Header& header = replay.header();
  chart->title = "Resident memory";
  if (!header.script().empty()) {
    const std::string& script = header.script();
    absl::StrAppend(&chart->title, " of ",
                    script.substr(script.rfind('/') + 1));
  }
  chart->subtitle = absl::StrCat("by ", ByText(by), " of first touch; process ",
                                 header.pid());
  if (replay.model().sampled()) {
    absl::StrAppend(&chart->subtitle,
                    "; estimated: ", SampledText(replay.header()));
  }
  if (replay.lost_samples() > 0) {
    absl::StrAppend(&chart->subtitle, "; ",
                    Counted(replay.lost_samples(), "page event"), " lost");
  }
}

StackedChart ChartOf(ResidentBy by, const ResidentReplay& replay,
                     const Timeline& line, uint64_t peak_us) {
  StackedChart chart;
  SetTexts(by, replay, &chart);
  for (const uint64_t time_us : line.time_us) {
    chart.seconds.push_back(static_cast<double>(time_us) / 1e6);
  }
  chart.layers.push_back(
      MakeLayer(std::string(kBeforeTracing), "#c9ced4", line.before_bytes));
  const std::vector<std::string> colors = LayerColors(line.series.size());
  for (size_t i = 0; i < line.series.size(); ++i) {
    chart.layers.push_back(MakeLayer(LabelOf(line.series[i].place), colors[i],
                                     line.series[i].bytes));
  }
  chart.layers.push_back(
      MakeLayer(std::string(kOther), "#8c959f", line.other_bytes));
  chart.layers.push_back(MakeLayer(std::string(kUnattributed), "#eaeef2",
                                   line.unattributed_bytes));
  for (const uint64_t bytes : line.rss_bytes) {
    chart.line_bytes.push_back(static_cast<double>(bytes));
  }
  const auto peak =
      std::find(line.time_us.begin(), line.time_us.end(), peak_us);
  chart.marked_step = static_cast<size_t>(peak - line.time_us.begin());
  const double peak_bytes = chart.line_bytes[chart.marked_step];
  chart.line_label = "RSS";
  chart.line_detail = PeakText(peak_bytes);
  chart.mark =
      absl::StrCat(HumanBytes(peak_bytes), " at ", HumanSeconds(peak_us));
  return chart;
}

}  // namespace

int PrintTimeline(const ReportOptions& options, const Console& console,
                  OutputBuffer* output) {
  const auto file = RereadFile::Open(options.files[0], console);
  if (file == nullptr) return kExitFailed;
  const std::unique_ptr<PeakFinder> finder = FindPeak(file.get());
  if (finder == nullptr) return kExitFailed;
  if (options.by_heap) {
    return PrintHeapTimeline(options, *finder, file.get(), console, output);
  }
  if (SayNoPageEvents(*finder, *file, console)) {
    return file->whole() ? kExitUsage : file->code();
  }
  const uint64_t peak_us = std::min(finder->peak_us(), finder->last_us());
  TimelineReplay replay(options.resident_by,
                        TimelineSteps(finder->last_us(), peak_us),
                        finder->hindsight());
  if (!file->Read(&replay)) return kExitFailed;
  // What would be no more than a hairline needs no colour.
  const uint64_t least_bytes =
      options.as_svg ? finder->peak_bytes() / kHairline : 0;
  const Timeline line = replay.Result(options.top, least_bytes);
  if (options.as_svg) {
    PrintSvg(ChartOf(options.resident_by, replay, line, peak_us), output);
  } else {
    PrintTable(TimelineTable(line), TableFormat::kCsv, output);
  }
  return file->code();
}

}  // namespace pymemrun
