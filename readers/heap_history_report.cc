#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/report_text.h"
#include "format/terminal_text.h"
#include "readers/heap_history.h"
#include "readers/heap_report.h"
#include "readers/heap_table.h"
#include "readers/place_label.h"
#include "readers/svg_chart.h"
#include "readers/whole_number.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kOther = "other places";

bool IsAnyAbove0(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](double value) { return value > 0; });
}

// For text, series have numbers for names.
Table HistoryTable(const HeapHistory& history) {
  const bool has_tracing = IsAnyAbove0(history.tracing_bytes);
  const bool has_reserved = IsAnyAbove0(history.reserved_bytes);
  Table table;
  const auto add = [&table](std::string name, std::string title) {
    table.headings.push_back(
        {std::move(name), std::move(title), CellLook::kBytes});
  };
  table.headings = {{"time_s", "time [s]"}};
  add("live_bytes", "live");
  for (size_t i = 0; i < history.series.size(); ++i) {
    add(LabelOf(history.series[i].place), absl::StrCat("[", i + 1, "]"));
  }
  add(std::string(kOther), "other");
  if (has_tracing) add(std::string(kTracingItself), "tracing");
  if (has_reserved) add(std::string(kReserved), "reserved");
  for (size_t step = 0; step < history.time_us.size(); ++step) {
    std::vector<Cell> row = {static_cast<double>(history.time_us[step]) / 1e6,
                             WholeNumber(history.live_bytes[step])};
    for (const auto& series : history.series) {
      row.emplace_back(WholeNumber(series.bytes[step]));
    }
    row.emplace_back(WholeNumber(history.other_bytes[step]));
    if (has_tracing) row.emplace_back(WholeNumber(history.tracing_bytes[step]));
    if (has_reserved) {
      row.emplace_back(WholeNumber(history.reserved_bytes[step]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string PeakText(double bytes) {
  return absl::StrCat("peak ", HumanBytes(bytes));
}

// Which place each column is.
std::string Legend(const HeapHistory& history) {
  std::string text;
  for (size_t i = 0; i < history.series.size(); ++i) {
    absl::StrAppend(&text, "[", i + 1, "] ",
                    TerminalText(LabelOf(history.series[i].place)), ", ",
                    PeakText(history.series[i].peak_bytes), "\n");
  }
  return text;
}

StackedChart::Layer MakeLayer(std::string label, absl::string_view color,
                              const std::vector<double>& bytes) {
  StackedChart::Layer layer;
  layer.label = std::move(label);
  layer.color = std::string(color);
  double highest = 0;
  for (const double value : bytes) {
    highest = std::max(highest, value);
    layer.bytes.push_back(std::max(value, 0.0));
  }
  layer.detail = PeakText(highest);
  return layer;
}

StackedChart ChartOf(const HeapReplay& replay, const HeapHistory& history) {
  StackedChart chart;
  chart.title = "Live bytes";
  const std::string& script = replay.header().script();
  if (!script.empty()) {
    absl::StrAppend(&chart.title, " of ", script.substr(script.rfind('/') + 1));
  }
  chart.subtitle =
      absl::StrCat("process ", replay.header().pid(),
                   replay.sampled() ? "; estimated from samples"
                                    : "; every allocation was recorded");
  if (replay.lost_events() > 0) {
    absl::StrAppend(&chart.subtitle, "; ",
                    Counted(replay.lost_events(), "heap event"), " lost");
  }
  for (const uint64_t time_us : history.time_us) {
    chart.seconds.push_back(static_cast<double>(time_us) / 1e6);
  }
  const std::vector<std::string> colors = LayerColors(history.series.size());
  for (size_t i = 0; i < history.series.size(); ++i) {
    chart.layers.push_back(MakeLayer(LabelOf(history.series[i].place),
                                     colors[i], history.series[i].bytes));
  }
  chart.layers.push_back(
      MakeLayer(std::string(kOther), "#8c959f", history.other_bytes));
  chart.line_bytes = history.live_bytes;
  const auto highest =
      std::max_element(chart.line_bytes.begin(), chart.line_bytes.end());
  chart.marked_step = highest - chart.line_bytes.begin();
  chart.line_label = "live";
  chart.line_detail = PeakText(*highest);
  chart.mark = absl::StrCat(HumanBytes(*highest), " at ",
                            HumanSeconds(history.time_us[chart.marked_step]));
  return chart;
}

}  // namespace

int PrintHistory(const ReportOptions& options, const Console& console,
                 OutputBuffer* output) {
  HeapHistoryReplay replay(options.heap);
  int code = kExitOk;
  if (!ReadHeap(options.files[0], console, &replay, &code)) return code;
  if (replay.too_many()) {
    console.Usage(
        "--interval: too many moments for this run; give a longer one");
    return kExitUsage;
  }
  const HeapHistory history = replay.Result(options.heap.top);
  if (history.time_us.empty()) {
    console.Say(absl::StrCat(TerminalText(options.files[0]),
                             ": the run ended before --from"));
    return std::max(code, kExitUsage);
  }
  if (options.as_svg) {
    PrintSvg(ChartOf(replay, history), output);
    return code;
  }
  if (options.format == TableFormat::kText) {
    output->Append(Legend(history) + HeapHeading(replay));
  }
  PrintTable(HistoryTable(history), options.format, output);
  return code;
}

}  // namespace pymemrun
