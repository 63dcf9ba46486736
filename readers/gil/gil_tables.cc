#include "readers/gil/gil_tables.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/places/place.h"
#include "readers/places/place_table.h"
#include "readers/run/frame_budget.h"
#include "readers/run/own_code.h"

namespace pymemrun {
namespace {

constexpr size_t kMatrixThreads = 6;

double Seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

// For people: "1.234".
Cell ShortSeconds(uint64_t ns) { return absl::StrFormat("%.3f", Seconds(ns)); }

Place OwnPlaceOf(const GilReplay& replay, uint32_t stack) {
  return PlaceOf(GroupBy::kLine, replay.index(), Origin{.stack = stack});
}

Cell PlaceCell(const GilReplay& replay, uint32_t stack) {
  return stack == 0 ? Cell() : Cell(LabelOf(OwnPlaceOf(replay, stack)));
}

Cell TextCell(std::string text) {
  return text.empty() ? Cell() : Cell(std::move(text));
}

// A cell that a text has in another form.
Cell SecondsCell(uint64_t ns, TableFormat format) {
  return format == TableFormat::kText ? ShortSeconds(ns) : Cell(Seconds(ns));
}

// A GIL's columns, and those of an interpreter that stops all threads.
std::vector<Table::Heading> ThreadHeadings(bool has_gil, bool stops) {
  std::vector<Table::Heading> all = {{"thread", "thread", CellLook::kKey}};
  const auto add = [&all](bool there, Table::Heading heading) {
    if (there) all.push_back(std::move(heading));
  };
  add(has_gil, {"held_share", "holds", CellLook::kShare});
  add(true, {"waiting_share", "waits", CellLook::kShare});
  add(stops, {"stopped_share", "stopped", CellLook::kShare});
  add(true, {"without_share", "without", CellLook::kShare});
  add(true, {"total_s", "of s"});
  add(has_gil, {"takes", "takes"});
  add(true, {"longest_wait_s", "longest"});
  add(true, {"longest_wait_for", "wait for", CellLook::kName});
  add(has_gil, {"held_s", "holds s"});
  add(true, {"waiting_s", "waits s"});
  add(stops, {"stopped_s", "stopped s"});
  add(true, {"without_s", "without s"});
  add(true, {"waits", "waits"});
  return all;
}

Table ThreadRows(const GilReplay& replay, ThreadFilter* keep, uint64_t limit,
                 TableFormat format) {
  Table table;
  const bool has_gil = !replay.HasLocksAlone();
  table.headings = ThreadHeadings(has_gil, replay.free_threaded());
  for (const uint32_t thread : GilThreadsOf(replay, keep)) {
    if (limit != 0 && table.rows.size() == limit) break;
    const GilThreadTimes& times = replay.threads()[thread];
    const uint64_t total = times.TotalNs(replay.end_ns());
    const uint64_t without = times.WithoutNs(replay.end_ns());
    const bool waited = times.longest.wait_ns > 0;
    const auto seconds = [&](uint64_t ns) { return SecondsCell(ns, format); };
    std::vector<Cell> row = {
        std::string(replay.index().LatestThreadLabel(thread))};
    if (has_gil) row.push_back(Share(times.held_ns, total));
    row.push_back(Share(times.waited_ns, total));
    if (replay.free_threaded()) row.push_back(Share(times.stopped_ns, total));
    row.push_back(Share(without, total));
    row.push_back(seconds(total));
    if (has_gil) row.push_back(times.takes);
    row.push_back(waited ? seconds(times.longest.wait_ns) : Cell());
    row.push_back(waited ? Cell(GilHolderName(replay, times.longest.holder))
                         : Cell());
    if (has_gil) row.push_back(seconds(times.held_ns));
    row.push_back(seconds(times.waited_ns));
    if (replay.free_threaded()) row.push_back(seconds(times.stopped_ns));
    row.push_back(seconds(without));
    row.push_back(times.waits);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table BlockerRows(const GilReplay& replay, ThreadFilter* keep, uint64_t limit,
                  TableFormat format) {
  std::vector<std::pair<GilReplay::Pair, uint64_t>> pairs;
  uint64_t all = 0;
  for (const auto& [pair, ns] : replay.blocked_ns()) {
    all += ns;
    if (keep->Keeps(pair.first)) pairs.push_back({pair, ns});
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::pair(b.second, a.first) < std::pair(a.second, b.first);
  });
  Table table;
  table.headings = {{"waiter", "waiter", CellLook::kName},
                    {"holder", "for", CellLook::kName},
                    {"waiting_s", "waits s"},
                    {"share", "share", CellLook::kShare}};
  for (const auto& [pair, ns] : pairs) {
    if (limit != 0 && table.rows.size() == limit) break;
    table.rows.push_back(
        {std::string(replay.index().LatestThreadLabel(pair.first)),
         GilHolderName(replay, pair.second), SecondsCell(ns, format),
         Share(ns, all)});
  }
  return table;
}

Table WaitRows(const GilReplay& replay, ThreadFilter* keep, uint64_t limit,
               TableFormat format) {
  Table table;
  table.headings = {{"waiter", "waiter", CellLook::kName},
                    {"at_s", "at s"},
                    {"wait_s", "waits s"},
                    {"holder", "for", CellLook::kName},
                    {"waiter_line", "waiter's line", CellLook::kName},
                    {"holder_line", "holder's line", CellLook::kName},
                    {"holder_calls", "in call", CellLook::kName},
                    {"waiter_stack", "waiter's stack", CellLook::kName},
                    {"holder_stack", "holder's stack", CellLook::kName}};
  FrameBudget budget;
  for (const GilWait& wait : replay.worst()) {
    if (limit != 0 && table.rows.size() == limit) break;
    if (!keep->Keeps(wait.thread)) continue;
    const uint32_t held_at = wait.holder_place.stack;
    table.rows.push_back(
        {std::string(replay.index().LatestThreadLabel(wait.thread)),
         SecondsCell(wait.begin_ns, format), SecondsCell(wait.wait_ns, format),
         GilHolderName(replay, wait.holder), PlaceCell(replay, wait.stack),
         PlaceCell(replay, held_at),
         TextCell(GilCallText(replay, wait.holder_place)),
         TextCell(replay.index().StackText(wait.stack, &budget)),
         TextCell(replay.index().StackText(held_at, &budget))});
  }
  return table;
}

Table PlaceRows(const GilReplay& replay, uint64_t limit, TableFormat format) {
  struct Row {
    uint64_t ns;
    Place place;
    std::string calls;
  };
  absl::flat_hash_map<std::pair<Place, std::string>, uint64_t> sums;
  uint64_t all = 0;
  for (const GilThreadTimes& times : replay.threads()) {
    all += times.waited_ns + times.stopped_ns;
  }
  for (const auto& [place, ns] : replay.blocked_by_place()) {
    sums[{OwnPlaceOf(replay, place.stack), GilCallText(replay, place)}] += ns;
  }
  std::vector<Row> rows;
  for (const auto& [key, ns] : sums) {
    rows.push_back({ns, key.first, key.second});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.ns != b.ns) return a.ns > b.ns;
    return std::tie(a.place, a.calls) < std::tie(b.place, b.calls);
  });
  Table table;
  table.headings = PlaceHeadings(GroupBy::kLine);
  table.headings.push_back({"blocked_s", "others wait s"});
  table.headings.push_back({"share", "share", CellLook::kShare});
  table.headings.push_back({"calls", "in call", CellLook::kName});
  for (const Row& row : rows) {
    if (limit != 0 && table.rows.size() == limit) break;
    std::vector<Cell> cells = PlaceCells(GroupBy::kLine, row.place);
    cells.push_back(SecondsCell(row.ns, format));
    cells.push_back(Share(row.ns, all));
    cells.push_back(TextCell(row.calls));
    table.rows.push_back(std::move(cells));
  }
  table.places = table.rows.size();
  return table;
}

Table GilRowsOf(const GilReplay& replay, uint64_t limit, TableFormat format) {
  Table table;
  table.headings = {{"interpreter", "interpreter"},
                    {"held_share", "held", CellLook::kShare},
                    {"total_s", "of s"},
                    {"held_s", "held s"},
                    {"waiting_s", "waits s"},
                    {"longest_wait_s", "longest"},
                    {"threads", "threads"},
                    {"takes", "takes"},
                    {"waits", "waits"}};
  for (const GilTimes& gil : replay.EachGil()) {
    if (limit != 0 && table.rows.size() == limit) break;
    const uint64_t total = std::max(
        gil.held_ns, replay.end_ns() - std::min(replay.end_ns(), gil.first_ns));
    table.rows.push_back({uint64_t{gil.number} - 1, Share(gil.held_ns, total),
                          SecondsCell(total, format),
                          SecondsCell(gil.held_ns, format),
                          SecondsCell(gil.waited_ns, format),
                          SecondsCell(gil.longest_ns, format), gil.threads,
                          gil.takes, gil.waits});
  }
  return table;
}

Table StopRows(const GilReplay& replay, ThreadFilter* keep, uint64_t limit,
               TableFormat format) {
  std::vector<std::pair<WorldStops::Key, StopSums>> rows;
  for (const auto& entry : replay.stops().sums()) {
    if (keep->Keeps(entry.first.first)) rows.push_back(entry);
  }
  const auto order = [](const auto& row) {
    return std::make_tuple(~row.second.paused_ns, row.first.first,
                           row.first.second.stack, row.first.second.function);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  Table table;
  table.headings = {{"thread", "thread", CellLook::kName},
                    {"stops", "stops"},
                    {"paused_s", "for s"},
                    {"longest_s", "longest"},
                    {"others_stood_s", "others stand s"},
                    {"line", "line", CellLook::kName},
                    {"calls", "in call", CellLook::kName}};
  for (const auto& [key, sums] : rows) {
    if (limit != 0 && table.rows.size() == limit) break;
    table.rows.push_back(
        {std::string(replay.index().LatestThreadLabel(key.first)), sums.stops,
         SecondsCell(sums.paused_ns, format),
         SecondsCell(sums.longest_ns, format),
         SecondsCell(sums.stood_ns, format),
         PlaceCell(replay, key.second.stack),
         TextCell(GilCallText(replay, key.second))});
  }
  return table;
}

}  // namespace

std::vector<uint32_t> GilThreadsOf(const GilReplay& replay,
                                   ThreadFilter* keep) {
  std::vector<uint32_t> order;
  const std::vector<GilThreadTimes>& threads = replay.threads();
  for (uint32_t thread = 0; thread < threads.size(); ++thread) {
    if (threads[thread].any && keep->Keeps(thread)) order.push_back(thread);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto order = [](const GilThreadTimes& times) {
      return std::pair(times.waited_ns + times.stopped_ns, times.held_ns);
    };
    return order(threads[a]) > order(threads[b]);
  });
  return order;
}

std::string GilHolderName(const GilReplay& replay, uint32_t holder) {
  if (holder == GilReplay::kHandover) {
    return replay.HasLocksAlone() ? "<not known>" : "<handing over>";
  }
  if (holder == GilReplay::kForgotten) return "<several threads>";
  return std::string(replay.index().LatestThreadLabel(holder));
}

std::string GilCallText(const GilReplay& replay, const GilPlace& place) {
  const RunIndex& index = replay.index();
  const uint32_t own = index.OwnStack(place.stack);
  if (own == 0 || own == place.stack) {
    return std::string(replay.FunctionName(place.function));
  }
  // The frame that the own line called.
  uint32_t called = place.stack;
  while (index.ParentStack(called) > own) called = index.ParentStack(called);
  const SourceLocation where = index.ResolveStack(called);
  const absl::string_view package = OwnCode::PackageOf(where.file);
  return package.empty() ? std::string(where.qualname)
                         : absl::StrCat(package, ".", where.qualname);
}

std::string GilPlaceText(const GilReplay& replay, const GilPlace& place) {
  const std::string calls = GilCallText(replay, place);
  const Place own = OwnPlaceOf(replay, place.stack);
  if (own.file.empty()) return std::string(own.function);
  const absl::string_view file =
      own.file.substr(own.file.rfind('/') + 1);  // npos + 1 is 0
  const std::string line =
      own.line == 0 ? std::string(file) : absl::StrCat(file, ":", own.line);
  return calls.empty() ? absl::StrCat(own.function, " at ", line)
                       : absl::StrCat(calls, " at ", line);
}

Table GilTable(GilRows rows, const GilReplay& replay, ThreadFilter* keep,
               uint64_t limit, TableFormat format) {
  switch (rows) {
    case GilRows::kBlockers:
      return BlockerRows(replay, keep, limit, format);
    case GilRows::kWaits:
      return WaitRows(replay, keep, limit, format);
    case GilRows::kPlaces:
      return PlaceRows(replay, limit, format);
    case GilRows::kStops:
      return StopRows(replay, keep, limit, format);
    case GilRows::kGils:
      return GilRowsOf(replay, limit, format);
    default:
      return ThreadRows(replay, keep, limit, format);
  }
}

Table GilMatrix(const GilReplay& replay, ThreadFilter* keep) {
  std::vector<uint32_t> threads = GilThreadsOf(replay, keep);
  threads.resize(std::min(threads.size(), kMatrixThreads));
  Table table;
  table.headings.push_back({"waiter", "waiter", CellLook::kName});
  for (size_t i = 0; i < threads.size(); ++i) {
    table.headings.push_back(
        {absl::StrCat("for_", i + 1), absl::StrCat("for ", i + 1)});
  }
  table.headings.push_back({"others", "others"});
  const bool has_gil = !replay.HasLocksAlone();
  table.headings.push_back({"nobody", has_gil ? "nobody" : "not known"});
  const auto& blocked = replay.blocked_ns();
  for (size_t i = 0; i < threads.size(); ++i) {
    uint64_t others = replay.threads()[threads[i]].waited_ns;
    const auto cell = [&](uint32_t holder) {
      const auto found = blocked.find({threads[i], holder});
      const uint64_t ns = found == blocked.end() ? 0 : found->second;
      others -= std::min(others, ns);
      return ns == 0 ? Cell() : ShortSeconds(ns);
    };
    std::vector<Cell> row = {
        absl::StrCat(i + 1, " ", replay.index().LatestThreadLabel(threads[i]))};
    for (const uint32_t holder : threads) row.push_back(cell(holder));
    const Cell nobody = cell(GilReplay::kHandover);
    row.push_back(others == 0 ? Cell() : ShortSeconds(others));
    row.push_back(nobody);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace pymemrun
