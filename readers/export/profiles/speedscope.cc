#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/export/profiles/heap_formats.h"
#include "readers/output/whole_number.h"
#include "readers/places/stack_frames.h"
#include "text/escape.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

std::string FrameJson(const StackFrames::Frame& frame) {
  std::string text = "{\"name\":";
  AppendJsonString(TerminalText(frame.place.function), &text);
  if (!frame.place.file.empty()) {
    text += ",\"file\":";
    AppendJsonString(TerminalText(frame.place.file), &text);
  }
  if (frame.place.line != 0) {
    absl::StrAppend(&text, ",\"line\":", frame.place.line);
  }
  return text + "}";
}

std::string ScriptName(const HeapReplay& replay) {
  const std::string& script = replay.header().script();
  return script.empty() ? "python" : script.substr(script.rfind('/') + 1);
}

}  // namespace

// A sampled profile: each sample is a stack with the outermost frame first, and
// its weight is bytes. Frames are numbered on the way, so they are printed
// last.
std::string SpeedscopeJson(const HeapMoments& replay) {
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  StackFrames frames(&replay.index());
  std::string samples, weights;
  uint64_t total = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    const uint64_t bytes = WholeNumber(sums[i].bytes);
    if (bytes == 0 || !source.counts()) continue;
    const std::vector<uint32_t> stack = frames.Of(source.key.stack);
    const char* separator = samples.empty() ? "[" : ",[";
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
      absl::StrAppend(&samples, separator, *frame);
      separator = ",";
    }
    samples += "]";
    // Weights have the order of samples.
    absl::StrAppend(&weights, weights.empty() ? "" : ",", bytes);
    total += bytes;
  }
  std::string text =
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
      "\"exporter\":\"pymemreport " PYMEMRUN_VERSION "\",\"name\":";
  AppendJsonString(TerminalText(ScriptName(replay)), &text);
  text += ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[";
  for (size_t i = 0; i < frames.frames().size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n",
                    FrameJson(frames.frames()[i]));
  }
  text += "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":";
  AppendJsonString(
      absl::StrCat("live bytes at ",
                   static_cast<double>(replay.TimeOf(0)) / 1e6, " s"),
      &text);
  absl::StrAppend(
      &text, ",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":", total,
      ",\n\"samples\":[", samples, "],\n\"weights\":[", weights, "]}]}\n");
  return text;
}

}  // namespace pymemrun
