#include "readers/replay/gil/gil_tables.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/output/cells.h"
#include "readers/output/table_columns.h"
#include "readers/places/place.h"
#include "readers/places/place_table.h"
#include "readers/run/frame_budget.h"
#include "readers/run/own_code.h"

namespace pymemrun {
namespace {

// Columns for more threads do not fit 80 columns.
constexpr size_t kMatrixThreads = 6;

Place OwnPlaceOf(const GilReplay& replay, uint32_t stack) {
  return PlaceOf(GroupBy::kLine, replay.index(), Origin{.stack = stack});
}

Cell PlaceCell(const GilReplay& replay, uint32_t stack) {
  return stack == 0 ? Cell() : Cell(LabelOf(OwnPlaceOf(replay, stack)));
}

std::string ThreadName(const GilReplay& replay, uint32_t thread) {
  return std::string(replay.index().LatestThreadLabel(thread));
}

// A part of a thread's time. It has one column for its share, and one for its
// seconds.
struct TimePart {
  bool is_there;  // in this interpreter
  std::string name, title;
  std::function<uint64_t(const GilThreadTimes&)> ns;
};
std::vector<TimePart> TimePartsOf(const GilReplay& replay) {
  using Times = const GilThreadTimes&;
  const uint64_t end_ns = replay.end_ns();
  return {{!replay.HasLocksAlone(), "held", "holds",
           [](Times of) { return of.held_ns; }},
          {true, "waiting", "waits", [](Times of) { return of.waited_ns; }},
          {replay.free_threaded(), "stopped", "stopped",
           [](Times of) { return of.stopped_ns; }},
          {true, "without", "without",
           [end_ns](Times of) { return of.WithoutNs(end_ns); }}};
}

struct ThreadTimesRow {
  uint32_t thread;
  const GilThreadTimes& times;
  uint64_t total_ns;
};

void AddLongestWait(const GilReplay& replay, TableFormat format,
                    TableColumns<ThreadTimesRow>* columns) {
  columns->Add("longest_wait_s", "longest", [=](const auto& row) {
    const uint64_t ns = row.times.longest.wait_ns;
    return ns > 0 ? SecondsCell(ns, format) : Cell();
  });
  columns->Add("longest_wait_for", "wait for", CellLook::kName,
               [&replay](const auto& row) {
                 const GilWait& longest = row.times.longest;
                 return longest.wait_ns > 0
                            ? Cell(GilHolderName(replay, longest.holder))
                            : Cell();
               });
}

// Shares come before seconds: in text, columns that do not fit are left out
// from the right.
Table ThreadRows(const GilReplay& replay, ThreadFilter* keep, uint64_t limit,
                 TableFormat format) {
  using Row = ThreadTimesRow;
  std::vector<Row> rows;
  for (const uint32_t thread : GilThreadsOf(replay, keep)) {
    const GilThreadTimes& times = replay.threads()[thread];
    rows.push_back({thread, times, times.TotalNs(replay.end_ns())});
  }
  const std::vector<TimePart> parts = TimePartsOf(replay);
  const bool has_gil = !replay.HasLocksAlone();
  TableColumns<Row> columns;
  columns.Add("thread", "thread", CellLook::kKey,
              [&](const Row& row) { return ThreadName(replay, row.thread); });
  for (const TimePart& part : parts) {
    if (!part.is_there) continue;
    columns.Add(part.name + "_share", part.title, CellLook::kShare,
                [&part](const Row& row) {
                  return row.total_ns == 0
                             ? Cell()
                             : ShareOf(part.ns(row.times), row.total_ns);
                });
  }
  columns.Add("total_s", "total s", [=](const Row& row) {
    return SecondsCell(row.total_ns, format);
  });
  if (has_gil) {
    columns.Add("takes", "takes",
                [](const Row& row) { return row.times.takes; });
  }
  AddLongestWait(replay, format, &columns);
  for (const TimePart& part : parts) {
    if (!part.is_there) continue;
    columns.Add(part.name + "_s", part.title + " s",
                [&part, format](const Row& row) {
                  return SecondsCell(part.ns(row.times), format);
                });
  }
  columns.Add("waits", "waits", [](const Row& row) { return row.times.waits; });
  return columns.Make(rows, limit);
}

// Shares are of all threads' waits, so a filter of threads does not change
// them.
Table BlockerRows(const GilReplay& replay, ThreadFilter* keep, uint64_t limit,
                  TableFormat format) {
  using Blocked = std::pair<GilReplay::Pair, uint64_t>;
  std::vector<Blocked> pairs;
  uint64_t all = 0;
  for (const auto& [pair, ns] : replay.blocked_ns()) {
    all += ns;
    if (keep->Keeps(pair.first)) pairs.push_back({pair, ns});
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::pair(b.second, a.first) < std::pair(a.second, b.first);
  });
  const TableColumns<Blocked> columns = {
      {"waiter", "waiter", CellLook::kName,
       [&](const auto& of) { return ThreadName(replay, of.first.first); }},
      {"holder", "for", CellLook::kName,
       [&](const auto& of) { return GilHolderName(replay, of.first.second); }},
      {"waiting_s", "waits s",
       [=](const auto& of) { return SecondsCell(of.second, format); }},
      {"share", "share", CellLook::kShare,
       [=](const auto& of) { return ShareOf(of.second, all); }},
  };
  return columns.Make(pairs, limit);
}

// The replay keeps only the longest waits, in this order.
Table WaitRows(const GilReplay& replay, ThreadFilter* keep, uint64_t limit,
               TableFormat format) {
  std::vector<GilWait> waits;
  for (const GilWait& wait : replay.worst()) {
    if (keep->Keeps(wait.thread)) waits.push_back(wait);
  }
  FrameBudget budget;
  const auto stack = [&](uint32_t id) {
    return TextCell(replay.index().StackText(id, &budget));
  };
  const TableColumns<GilWait> columns = {
      {"waiter", "waiter", CellLook::kName,
       [&](const auto& of) { return ThreadName(replay, of.thread); }},
      {"at_s", "at s",
       [=](const auto& of) { return SecondsCell(of.begin_ns, format); }},
      {"wait_s", "waits s",
       [=](const auto& of) { return SecondsCell(of.wait_ns, format); }},
      {"holder", "for", CellLook::kName,
       [&](const auto& of) { return GilHolderName(replay, of.holder); }},
      {"waiter_line", "waiter's line", CellLook::kName,
       [&](const auto& of) { return PlaceCell(replay, of.stack); }},
      {"holder_line", "holder's line", CellLook::kName,
       [&](const auto& of) {
         return PlaceCell(replay, of.holder_place.stack);
       }},
      {"holder_calls", "in call", CellLook::kName,
       [&](const auto& of) {
         return TextCell(GilCallText(replay, of.holder_place));
       }},
      {"waiter_stack", "waiter's stack", CellLook::kName,
       [&](const auto& of) { return stack(of.stack); }},
      {"holder_stack", "holder's stack", CellLook::kName,
       [&](const auto& of) { return stack(of.holder_place.stack); }},
  };
  return columns.Make(waits, limit);
}

// A line that held the GIL while others waited, and what it called.
struct BlockingPlace {
  Place place;
  std::string calls;
  uint64_t ns;
};

// Stacks that agree in the own line, and in what it called, are one row.
Table PlaceRows(const GilReplay& replay, uint64_t limit, TableFormat format) {
  absl::flat_hash_map<std::pair<Place, std::string>, uint64_t> sums;
  uint64_t all = 0;
  for (const GilThreadTimes& times : replay.threads()) {
    all += times.waited_ns + times.stopped_ns;
  }
  for (const auto& [place, ns] : replay.blocked_by_place()) {
    sums[{OwnPlaceOf(replay, place.stack), GilCallText(replay, place)}] += ns;
  }
  std::vector<BlockingPlace> rows;
  for (const auto& [key, ns] : sums) {
    rows.push_back({key.first, key.second, ns});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tie(b.ns, a.place, a.calls) < std::tie(a.ns, b.place, b.calls);
  });
  if (limit != 0 && rows.size() > limit) rows.resize(limit);
  const TableColumns<BlockingPlace> columns = {
      {"blocked_s", "others wait s",
       [=](const auto& of) { return SecondsCell(of.ns, format); }},
      {"share", "share", CellLook::kShare,
       [=](const auto& of) { return ShareOf(of.ns, all); }},
      {"calls", "in call", CellLook::kName,
       [](const auto& of) { return TextCell(of.calls); }},
  };
  PlaceTableMaker<BlockingPlace> maker(GroupBy::kLine, columns);
  maker.AddPlaces(rows);
  return maker.Take();
}

// In the replay GIL numbers start at 1. The main interpreter's number is 0, as
// in CPython.
Table GilRowsOf(const GilReplay& replay, uint64_t limit, TableFormat format) {
  const auto total = [&replay](const GilTimes& gil) {
    return std::max(gil.held_ns,
                    replay.end_ns() - std::min(replay.end_ns(), gil.first_ns));
  };
  const TableColumns<GilTimes> columns = {
      {"interpreter", "interpreter",
       [](const auto& of) { return uint64_t{of.number} - 1; }},
      {"held_share", "held", CellLook::kShare,
       [=](const auto& of) { return ShareOf(of.held_ns, total(of)); }},
      {"total_s", "total s",
       [=](const auto& of) { return SecondsCell(total(of), format); }},
      {"held_s", "held s",
       [=](const auto& of) { return SecondsCell(of.held_ns, format); }},
      {"waiting_s", "waits s",
       [=](const auto& of) { return SecondsCell(of.waited_ns, format); }},
      {"longest_wait_s", "longest",
       [=](const auto& of) { return SecondsCell(of.longest_ns, format); }},
      {"threads", "threads", [](const auto& of) { return of.threads; }},
      {"takes", "takes", [](const auto& of) { return of.takes; }},
      {"waits", "waits", [](const auto& of) { return of.waits; }},
  };
  return columns.Make(replay.EachGil(), limit);
}

// Equal times are ordered by ids: the sums come from a hash table.
Table StopRows(const GilReplay& replay, ThreadFilter* keep, uint64_t limit,
               TableFormat format) {
  using Stop = std::pair<WorldStops::Key, StopSums>;
  std::vector<Stop> rows;
  for (const auto& entry : replay.stops().sums()) {
    if (keep->Keeps(entry.first.first)) rows.push_back(entry);
  }
  const auto order = [](const auto& row) {
    return std::make_tuple(~row.second.paused_ns, row.first.first,
                           row.first.second.stack, row.first.second.function);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  const TableColumns<Stop> columns = {
      {"thread", "thread", CellLook::kName,
       [&](const auto& of) { return ThreadName(replay, of.first.first); }},
      {"stops", "stops", [](const auto& of) { return of.second.stops; }},
      {"paused_s", "paused s",
       [=](const auto& of) {
         return SecondsCell(of.second.paused_ns, format);
       }},
      {"longest_s", "longest",
       [=](const auto& of) {
         return SecondsCell(of.second.longest_ns, format);
       }},
      {"others_stood_s", "others paused s",
       [=](const auto& of) { return SecondsCell(of.second.stood_ns, format); }},
      {"line", "line", CellLook::kName,
       [&](const auto& of) {
         return PlaceCell(replay, of.first.second.stack);
       }},
      {"calls", "in call", CellLook::kName,
       [&](const auto& of) {
         return TextCell(GilCallText(replay, of.first.second));
       }},
  };
  return columns.Make(rows, limit);
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

// A row has the columns of the same threads, in the same order. "others" is the
// rest of the thread's waits, and of the stops that it waited for.
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
  table.headings.push_back({"nobody", has_gil ? "no holder" : "not known"});
  const auto& blocked = replay.blocked_ns();
  for (size_t i = 0; i < threads.size(); ++i) {
    const GilThreadTimes& times = replay.threads()[threads[i]];
    uint64_t others = times.waited_ns + times.stopped_ns;
    const auto cell = [&](uint32_t holder) {
      const auto found = blocked.find({threads[i], holder});
      const uint64_t ns = found == blocked.end() ? 0 : found->second;
      others -= std::min(others, ns);
      return ns == 0 ? Cell() : SecondsCell(ns, TableFormat::kText);
    };
    std::vector<Cell> row = {
        absl::StrCat(i + 1, " ", replay.index().LatestThreadLabel(threads[i]))};
    for (const uint32_t holder : threads) row.push_back(cell(holder));
    const Cell no_holder = cell(GilReplay::kHandover);
    row.push_back(others == 0 ? Cell()
                              : SecondsCell(others, TableFormat::kText));
    row.push_back(no_holder);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace pymemrun
