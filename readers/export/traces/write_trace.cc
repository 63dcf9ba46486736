#include "readers/export/traces/write_trace.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "readers/export/objects/folded_leaves.h"
#include "readers/export/objects/perfetto_heap.h"
#include "readers/export/traces/chrome_trace.h"
#include "readers/export/traces/perfetto_trace.h"
#include "readers/export/traces/trace_ids.h"
#include "readers/objects/blocks/load_allocations.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/run/reread_file.h"
#include "readers/tracks/track_source.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Each source reads the file for itself, one after the other: viewers sort by
// time.
bool GiveAll(RereadFile* file, uint64_t min_us, const Console& console,
             TrackSink* sink) {
  SourceOptions options;
  options.min_us = min_us;
  for (const auto& source : AllSources(options)) {
    if (!source->Give(file, sink)) return false;
    for (const std::string& note : source->Notes()) {
      console.Say(absl::StrCat(file->shown_name(), ": ", note));
    }
  }
  return true;
}

// Another process may have left a dump of this name.
void WriteObjects(const std::string& run_path, int32_t pid,
                  const Console& console, int* code, OutputBuffer* output) {
  const std::string path = LastDumpOf(run_path);
  if (path.empty()) return;
  int dump_code = kExitOk;
  const auto graph = LoadObjects(path, console, &dump_code);
  *code = std::max(*code, dump_code);
  if (graph == nullptr) return;
  if (TracePid(graph->facts().header.pid()) != pid) {
    console.Say(absl::StrCat(TerminalText(path),
                             ": is of another process, and is left out"));
    return;
  }
  const uint64_t folded = WritePerfettoHeap(*graph, kMostExportedNodes, output);
  if (folded == 0) return;
  console.Say(absl::StrCat(TerminalText(path), ": ",
                           Counted(folded, "leaf", "leaves"),
                           " counted in the objects that hold them"));
}

}  // namespace

// Chrome's format has no place for an object graph.
int WriteTrace(const std::string& path, const TraceOptions& options,
               const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(path, console);
  if (file == nullptr) return kExitFailed;
  if (options.as_json) {
    ChromeTrace trace(output);
    if (!GiveAll(file.get(), options.min_us, console, &trace)) {
      return kExitFailed;
    }
    trace.Finish();
    return file->code();
  }
  PerfettoTrace trace(output);
  if (!GiveAll(file.get(), options.min_us, console, &trace)) return kExitFailed;
  int code = file->code();
  WriteObjects(path, trace.pid(), console, &code, output);
  return code;
}

}  // namespace pymemrun
