#include "readers/objects/blocks/heap_objects.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/objects/blocks/block_replay.h"
#include "readers/objects/blocks/line_objects.h"
#include "readers/objects/blocks/load_allocations.h"
#include "readers/objects/graph/chains.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/objects/graph/object_text.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/run/input_file.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// The most parts of a line in text.
constexpr size_t kMostParts = 5;
constexpr size_t kColumns = 80, kPathColumns = 60;
// A holder with a smaller share is one of several.
constexpr double kMostShare = 0.5;
// Further holders are shown by type and address: a search for each would take
// too long.
constexpr size_t kMostChains = 1000;

class HeapObjects {
 public:
  HeapObjects(const HeapMoments& replay, ObjectAnalysis* analysis)
      : replay_(replay),
        analysis_(*analysis),
        lines_(ObjectsByLine(replay, analysis, &places_)) {
    for (const LineObjects& line : lines_) {
      rest_bytes_ += std::max(line.rest_bytes, 0.0);
    }
  }

  void Limit(uint64_t lines) {
    if (lines != 0 && lines_.size() > lines) lines_.resize(lines);
  }
  Table ToTable();
  std::string ToText();

 private:
  static constexpr char kMarkText[] =
      "\n* CPython reuses blocks of such objects: other lines may have made "
      "them\n";

  const ObjectGraph& graph() const { return analysis_.graph(); }
  // "sys.modules['app'].CACHE".
  const std::string& HolderText(NodeId holder);
  std::string BlocksText() const;
  std::string HeldText(const LineObjects::Part& part);
  std::string PartText(const LineObjects::Part& part);
  std::vector<Cell> PartCells(const LineObjects& line,
                              const LineObjects::Part* part);

  const HeapMoments& replay_;
  ObjectAnalysis& analysis_;
  PlaceTable places_;
  std::vector<LineObjects> lines_;
  double rest_bytes_ = 0;  // of all lines, including those not shown
  bool marks_ = false;     // some count is marked with "*"
  absl::flat_hash_map<NodeId, std::string> holders_;
};

const std::string& HeapObjects::HolderText(NodeId holder) {
  const auto [known, is_new] = holders_.try_emplace(holder);
  if (!is_new || holder == kNoNode) return known->second;
  // Finding a chain may visit much of the graph.
  if (holders_.size() <= kMostChains) {
    const auto chains = analysis_.ShortestChainsTo(holder, /*count=*/1);
    if (!chains.empty()) known->second = ChainText(graph(), chains[0]);
  }
  if (known->second.empty()) known->second = NodeText(graph(), holder);
  return known->second;
}

// "held by sys.modules['app'].CACHE".
std::string HeapObjects::HeldText(const LineObjects::Part& part) {
  const std::string holder = TerminalText(HolderText(part.holder));
  if (holder.empty()) return "";
  const double bytes = part.sums.bytes;
  const double share = bytes > 0 ? part.holder_bytes / bytes : 1;
  if (share < kMostShare) return "held by several";
  const std::string some =
      share < 0.995 ? absl::StrCat(Percent(share), " ") : "";
  if (holder == kNotReached) {
    return some + "by no root: garbage, or C code holds it";
  }
  return absl::StrCat(some, "held by ", holder);
}

// "4.1 MiB"; for samples with one standard error: "4.1 MiB ±310 KiB".
std::string BytesText(const HeapSums& sums) {
  const std::string bytes = PadLeft(HumanBytes(sums.bytes), 11);
  return sums.bytes_variance > 0
             ? absl::StrCat(bytes, " ±", HumanBytes(sums.BytesError()))
             : bytes;
}

// "4.1 MiB  40,000 str, held by sys.modules['app'].CACHE".
std::string HeapObjects::PartText(const LineObjects::Part& part) {
  const auto objects = static_cast<uint64_t>(part.sums.count + 0.5);
  const bool is_marked = part.reused >= 0.5;
  marks_ |= is_marked;
  std::string text = absl::StrCat(
      "  ", BytesText(part.sums), "  ",
      objects > 0 ? Grouped(objects) : "parts of", " ",
      TerminalText(graph().type_name(part.type)), is_marked ? "*" : "");
  const std::string held = HeldText(part);
  if (held.empty()) return text + "\n";
  const bool fits = text.size() + held.size() + 2 <= kColumns;
  absl::StrAppend(&text, ",", fits ? " " : "\n                 ", held, "\n");
  return text;
}

// "bytes are those of blocks. ... 229.1 MiB, 94 %, are in no object".
std::string HeapObjects::BlocksText() const {
  if (graph().besides().size() == 0) {
    return "bytes are those of blocks: this dump does not say where items of "
           "lists, tables\nof dicts and data of arrays are. These, and memory "
           "of C code, have no object\n";
  }
  constexpr double kLeastShown = 0.005;  // smaller shares would print as 0 %
  const double live = replay_.model().live().bytes;
  const double rest = std::clamp(rest_bytes_, 0.0, live);
  std::string text =
      "bytes are those of blocks: items of lists, tables of dicts and data of "
      "arrays\nare counted with their objects\n";
  if (rest >= kLeastShown * live) {
    absl::StrAppend(&text, "No object explains ", HumanBytes(rest), " (",
                    Percent(live > 0 ? rest / live : 0),
                    "): C code has them\n");
  }
  return text;
}

// Each line of code is a paragraph: its bytes, the largest types, and what is
// left.
std::string HeapObjects::ToText() {
  std::string text = LiveText(replay_, 0) + BlocksText();
  for (const LineObjects& line : lines_) {
    const std::string path = CutLabel(
        TerminalText(ShortPath(LabelOf(line.line), replay_.header().cwd())),
        kPathColumns, /*unicode=*/false);
    absl::StrAppend(&text, "\n", PadRight(path, kPathColumns), "  ",
                    BytesText(line.live), "\n");
    size_t shown = 0;
    double others = 0;
    for (const LineObjects::Part& part : line.parts) {
      if (shown++ < kMostParts) {
        text += PartText(part);
      } else {
        others += part.sums.bytes;
      }
    }
    if (others > 0) {
      absl::StrAppend(&text, "  ", PadLeft(HumanBytes(others), 11),
                      "  objects of other types\n");
    }
    if (line.rest_bytes >= 1) {
      absl::StrAppend(&text, "  ", PadLeft(HumanBytes(line.rest_bytes), 11),
                      "  without an object\n");
    }
  }
  if (marks_) text += kMarkText;
  return text;
}

// A whole number: estimates are rounded.
Cell Whole(double value) { return Cell(static_cast<uint64_t>(value + 0.5)); }

// The cells after the line and its live bytes.
std::vector<Cell> HeapObjects::PartCells(const LineObjects& line,
                                         const LineObjects::Part* part) {
  std::vector<Cell> cells(6);
  if (part != nullptr) {
    const std::string& holder = HolderText(part->holder);
    cells[0] = Cell(graph().type_name(part->type));
    cells[1] = Whole(part->sums.bytes);
    cells[2] = Whole(part->sums.count);
    if (!holder.empty()) {
      cells[3] = Cell(holder);
      cells[4] = Cell(graph().type_name(graph().type(part->holder)));
    }
    cells[5] = Whole(part->holder_bytes);
  }
  cells.push_back(Whole(std::max(line.rest_bytes, 0.0)));
  if (replay_.sampled()) {
    const HeapSums& sums = part != nullptr ? part->sums : line.live;
    cells.push_back(Whole(sums.BytesError()));
    cells.push_back(Whole(sums.CountError()));
  }
  cells.push_back(part != nullptr ? Whole(part->reused) : Cell());
  return cells;
}

Table HeapObjects::ToTable() {
  Table table;
  table.headings = {{"file"},         {"line"},      {"function"},
                    {"live_bytes"},   {"type"},      {"objects_bytes"},
                    {"objects"},      {"holder"},    {"holder_type"},
                    {"holder_bytes"}, {"rest_bytes"}};
  if (replay_.sampled()) {
    table.headings.push_back({"error_bytes"});
    table.headings.push_back({"error_objects"});
  }
  table.headings.push_back({"reused_objects"});
  for (const LineObjects& line : lines_) {
    const auto add = [&](const LineObjects::Part* part) {
      std::vector<Cell> row = PlaceCells(GroupBy::kLine, line.line);
      row.push_back(Whole(line.live.bytes));
      for (Cell& cell : PartCells(line, part)) row.push_back(std::move(cell));
      table.rows.push_back(std::move(row));
    };
    for (const LineObjects::Part& part : line.parts) add(&part);
    if (line.parts.empty()) add(nullptr);
  }
  table.places = table.rows.size();
  return table;
}

// Prints why no dump is read. Returns the exit code.
int SayNoDump(const std::string& run_path, const Console& console) {
  const auto run = InputFile::Open(run_path);
  console.Say(absl::StrCat(
      TerminalText(run_path), ": ",
      run.ok() ? "no dump of the object graph is beside it: pymemrun "
                 "--objects exit makes one"
               : TerminalText(run.status().message())));
  return run.ok() ? kExitUsage : kExitFailed;
}

}  // namespace

std::string DumpOf(const std::string& run_path,
                   const HeapObjectsOptions& options) {
  return options.dump == "last" ? LastDumpOf(run_path) : options.dump;
}

// The dump comes first: it says at which moment the blocks of the run are
// needed.
int ShowHeapObjects(const std::string& run_path,
                    const HeapObjectsOptions& options, const Console& console,
                    OutputBuffer* output) {
  const std::string dump = DumpOf(run_path, options);
  if (dump.empty()) {
    return SayNoDump(run_path, console);
  }
  int code = kExitOk;
  auto graph = LoadObjects(dump, console, &code);
  if (graph == nullptr) return code;
  HeapMoment moment;
  moment.kind = HeapMoment::kTime;
  moment.time_us = graph->facts().begin.time_us();
  moment.name = "the dump";
  HeapMoments replay({moment});
  if (!ReadHeap(run_path, console, &replay, &code)) return code;
  if (!IsSameProcess(replay.header(), graph->facts().header)) {
    console.Say(absl::StrCat(TerminalText(dump),
                             ": is of another process than ",
                             TerminalText(run_path)));
    return kExitUsage;
  }
  ObjectAnalysis analysis(std::move(graph));
  HeapObjects objects(replay, &analysis);
  objects.Limit(options.limit);
  if (options.format == TableFormat::kText) {
    output->AppendLines(objects.ToText());
  } else {
    PrintTable(objects.ToTable(), options.format, output);
  }
  return code;
}

}  // namespace pymemrun
