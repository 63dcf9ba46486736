#include "readers/replay/calls/flow_table.h"

#include <utility>

#include "readers/output/cells.h"
#include "readers/places/place_table.h"

namespace pymemrun {
namespace {

struct FlowRow {
  Place place;
  FlowTotals totals = {};
  void Add(const FlowRow& other) { totals.Add(other.totals); }
};

// A C function has only its name: the line is that of its caller.
Place PlaceOfCall(GroupBy by, const SourceLocation& where) {
  const bool is_python = where.kind == CALL || where.kind == RETURN;
  return is_python || by != GroupBy::kFunction ? PlaceOf(by, where)
                                               : Place{{}, 0, where.function};
}

// Names live as long as the index.
std::vector<FlowRow> RowsOf(GroupBy by, const std::vector<FlowTotals>& sites,
                            const RunIndex& index) {
  PlaceTable places;
  std::vector<FlowRow> rows;
  for (uint32_t site = 0; site < sites.size(); ++site) {
    if (sites[site].calls == 0) continue;
    const Place place = PlaceOfCall(by, index.Resolve(site));
    RowOfPlace(places.NumberOf(place), places.places(), &rows)
        .totals.Add(sites[site]);
  }
  return rows;
}

}  // namespace

void FlowTotals::Add(const FlowTotals& other) {
  growth_bytes += other.growth_bytes;
  own_bytes += other.own_bytes;
  thread_bytes += other.thread_bytes;
  own_thread_bytes += other.own_thread_bytes;
  charged_bytes += other.charged_bytes;
  own_charged_bytes += other.own_charged_bytes;
  took_us += other.took_us;
  calls += other.calls;
}

// Rows that were not paired lack own_bytes and recursion. Nest() needs all
// calls for these, so they wait for Finish().
void FlowReplay::OnEnded(const EndedCall& call) {
  if (pairs_rows()) return Add(call);
  if (calls_.size() < kMaxCalls) {
    calls_.push_back(call);
  } else {
    ++not_kept_;
  }
}

// An inner call of a recursive function is part of the outer one: only its own
// changes are added.
void FlowReplay::Add(const EndedCall& call) {
  if (!filter_.Keeps(call) || !range_.Has(call.time_us * 1000)) return;
  const uint32_t site = call.site < kMaxSites ? call.site : 0;
  if (site >= sites_.size()) sites_.resize(site + site / 2 + 16);
  FlowTotals totals = {
      .own_bytes = static_cast<uint64_t>(call.own_bytes),
      .own_thread_bytes = static_cast<uint64_t>(call.own_thread_bytes),
      .own_charged_bytes = static_cast<uint64_t>(call.own_charged_bytes),
      .calls = 1};
  if (!call.recursive) {
    totals.growth_bytes = static_cast<uint64_t>(call.growth_bytes);
    totals.thread_bytes = static_cast<uint64_t>(call.thread_bytes);
    totals.charged_bytes = static_cast<uint64_t>(call.charged_bytes);
    totals.took_us = call.took_us;
  }
  sites_[site].Add(totals);
}

void FlowReplay::Finish() {
  Nest(index(), &calls_);
  for (const EndedCall& call : calls_) Add(call);
  calls_.clear();
}

// Inclusive sums of several functions would count calls within calls twice, so
// files and packages have only own changes.
Table FlowReplay::ToTable(GroupBy by, bool as_text) const {
  std::vector<FlowRow> rows = RowsOf(by, sites_, index());
  const bool inclusive = by == GroupBy::kFunction;
  const auto signed_of = [](uint64_t FlowTotals::*bytes) {
    return [=](const FlowRow& row) {
      return static_cast<int64_t>(row.totals.*bytes);
    };
  };
  const auto charged = signed_of(&FlowTotals::charged_bytes);
  const auto own_charged = signed_of(&FlowTotals::own_charged_bytes);
  KeepTop(
      /*limit=*/0,
      [&](const FlowRow& row) {
        return std::pair(inclusive ? charged(row) : 0, own_charged(row));
      },
      &rows);
  TableColumns<FlowRow> columns;
  if (inclusive) {
    columns.AddBytes("growth_bytes", "growth",
                     as_text ? charged : signed_of(&FlowTotals::growth_bytes));
  }
  columns.AddBytes("own_bytes", "own",
                   as_text ? own_charged : signed_of(&FlowTotals::own_bytes));
  columns.Add("calls", "calls",
              [](const FlowRow& row) { return row.totals.calls; });
  if (inclusive) {
    columns.Add("call_s", "seconds", [](const FlowRow& row) {
      return SecondsOfUs(row.totals.took_us);
    });
  }
  const auto add_of_thread = [&](const char* name, bool is_there,
                                 const auto& bytes) {
    if (as_text || !is_there) return;
    columns.Add(
        name, [=, this](const FlowRow& row) { return ThreadCell(bytes(row)); });
  };
  add_of_thread("thread_growth_bytes", inclusive,
                signed_of(&FlowTotals::thread_bytes));
  add_of_thread("thread_own_bytes", true,
                signed_of(&FlowTotals::own_thread_bytes));
  PlaceTableMaker<FlowRow> maker(by, columns);
  maker.AddPlaces(rows);
  return maker.Take();
}

}  // namespace pymemrun
