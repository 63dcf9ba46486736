#include "readers/time_commands/heap_timeline_chart.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/chart/svg_chart.h"
#include "readers/heap/heap_reading.h"
#include "readers/heap_in_rss/heap_timeline.h"
#include "readers/output/table.h"
#include "readers/output/whole_number.h"
#include "readers/resident/timeline.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

struct Step {
  uint64_t time_us = 0;
  double rss = 0;
  HeapDomains::Values heap;
  double rest() const { return rss - heap.python - heap.native - heap.tracing; }
};

// Of a run with --native also what is reserved, which is no part of RSS.
Table StepTable(const std::vector<Step>& steps, bool native_run) {
  Table table;
  table.headings = {{"time_s"},       {"rss_bytes"},     {"python_bytes"},
                    {"native_bytes"}, {"tracing_bytes"}, {"rest_bytes"}};
  if (native_run) table.headings.push_back({"reserved_bytes"});
  for (const Step& step : steps) {
    const uint64_t rss = WholeNumber(step.rss);
    const uint64_t python = WholeNumber(step.heap.python);
    const uint64_t native = WholeNumber(step.heap.native);
    const uint64_t tracing = WholeNumber(step.heap.tracing);
    table.rows.push_back(
        {static_cast<double>(step.time_us) / 1e6, rss, python, native, tracing,
         static_cast<int64_t>(rss - python - native - tracing)});
    if (native_run) {
      table.rows.back().emplace_back(WholeNumber(step.heap.reserved));
    }
  }
  return table;
}

// What C code has mapped is no layer: RSS has only what was touched of it, in
// its rest.
std::string SubtitleOf(const std::vector<Step>& steps, const HeapReplay& heap) {
  std::string text = absl::StrCat(
      "process ", heap.header().pid(),
      heap.sampled() ? "; live bytes are estimated from samples" : "");
  double reserved = 0;
  for (const Step& step : steps) {
    reserved = std::max(reserved, step.heap.reserved);
  }
  if (reserved > 0) {
    absl::StrAppend(&text, "; reserved, not known to be touched: up to ",
                    HumanBytes(reserved));
  }
  return text;
}

StackedChart ChartOf(const std::vector<Step>& steps, const HeapReplay& heap,
                     uint64_t peak_us) {
  StackedChart chart;
  chart.title = TitleOf("RSS and the heap", heap.header().script());
  chart.subtitle = SubtitleOf(steps, heap);
  const auto add = [&](std::string label, absl::string_view color,
                       const auto& value_of) {
    std::vector<double> values;
    for (const Step& step : steps) {
      values.push_back(std::max(value_of(step), 0.0));
    }
    chart.AddLayer(std::move(label), color, values);
  };
  add("Python's live blocks, bytes asked for", "#4e79a7",
      [](const Step& step) { return step.heap.python; });
  if (heap.header().heap_native()) {
    add("native live blocks, bytes asked for", "#59a14f",
        [](const Step& step) { return step.heap.native; });
  }
  add("tracing itself", "#edc948",
      [](const Step& step) { return step.heap.tracing; });
  add("rest of RSS: code, mappings, what allocators keep", "#c9ced4",
      [](const Step& step) { return step.rest(); });
  std::vector<uint64_t> time_us;
  for (const Step& step : steps) {
    time_us.push_back(step.time_us);
    chart.line_bytes.push_back(step.rss);
  }
  chart.SetTimes(time_us);
  const auto peak = std::find(time_us.begin(), time_us.end(), peak_us);
  chart.Mark("RSS", peak - time_us.begin(), peak_us);
  return chart;
}

}  // namespace

int PrintHeapTimeline(bool as_svg, const RunMoments& finder, RereadFile* file,
                      const Console& console, OutputBuffer* output) {
  const uint64_t end_us = finder.EndUs();
  const uint64_t peak_us = std::min(finder.RssPeak().time_us, end_us);
  const std::vector<uint64_t> time_us = TimelineSteps(end_us, peak_us);
  HeapDomains heap(time_us);
  int code = kExitOk;
  if (!ReadHeapAgain(file, console, &heap, &code)) return code;
  RssAtMoments rss(time_us, finder.hindsight());
  if (!file->Read(&rss)) return kExitFailed;
  std::vector<Step> steps;
  for (size_t i = 0; i < time_us.size(); ++i) {
    Step step = {time_us[i], static_cast<double>(rss.rss_bytes()[i]),
                 heap.values()[i]};
    // The tracer's memory was there when tracing began.
    step.heap.tracing += std::clamp(
        step.rest(), 0.0, static_cast<double>(heap.header().own_bytes()));
    steps.push_back(step);
  }
  if (as_svg) {
    PrintSvg(ChartOf(steps, heap, peak_us), output);
  } else {
    PrintTable(StepTable(steps, heap.header().heap_native()), TableFormat::kCsv,
               output);
  }
  return code;
}

}  // namespace pymemrun
