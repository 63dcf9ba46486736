#include "readers/calls/flow_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "readers/places/place_table.h"

namespace pymemrun {
namespace {

// Numbers of places.
std::vector<uint32_t> MostFirst(const PlaceTable& places,
                                const std::vector<FlowTotals>& totals,
                                uint64_t limit) {
  std::vector<uint32_t> order(totals.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](uint32_t place) {
    return std::tuple(
        -static_cast<double>(static_cast<int64_t>(totals[place].charged_bytes)),
        -static_cast<double>(
            static_cast<int64_t>(totals[place].own_charged_bytes)),
        places.places()[place]);
  };
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  if (limit != 0 && order.size() > limit) order.resize(limit);
  return order;
}

// Of a function in C its name alone: its line is the caller's.
Place PlaceOfCall(const SourceLocation& where) {
  const bool is_python = where.kind == CALL || where.kind == RETURN;
  return is_python ? PlaceOf(GroupBy::kFunction, where)
                   : Place{{}, 0, where.function};
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

void FlowReplay::OnEnded(const EndedCall& call) {
  if (pairs_rows()) return Add(call);
  if (calls_.size() < kMaxCalls) {
    calls_.push_back(call);
  } else {
    ++not_kept_;
  }
}

void FlowReplay::Add(const EndedCall& call) {
  if (!filter_.Keeps(call)) return;
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

std::vector<Cell> FlowReplay::CellsOf(const FlowTotals& sum,
                                      bool as_text) const {
  const double seconds = static_cast<double>(sum.took_us) * 1e-6;
  if (as_text) {
    return {static_cast<int64_t>(sum.charged_bytes),
            static_cast<int64_t>(sum.own_charged_bytes), sum.calls, seconds};
  }
  return {static_cast<int64_t>(sum.growth_bytes),
          static_cast<int64_t>(sum.own_bytes),
          sum.calls,
          seconds,
          ThreadCell(static_cast<int64_t>(sum.thread_bytes)),
          ThreadCell(static_cast<int64_t>(sum.own_thread_bytes))};
}

Table FlowReplay::ToTable(uint64_t limit, bool as_text) const {
  constexpr GroupBy kBy = GroupBy::kFunction;
  PlaceTable places;
  std::vector<FlowTotals> totals;
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    if (sites_[site].calls == 0) continue;
    const uint32_t place = places.NumberOf(PlaceOfCall(index().Resolve(site)));
    if (place >= totals.size()) totals.resize(place + 1);
    totals[place].Add(sites_[site]);
  }
  const std::vector<uint32_t> order = MostFirst(places, totals, limit);
  Table table;
  table.headings = PlaceHeadings(kBy);
  table.headings.insert(table.headings.end(),
                        {{"growth_bytes", "growth", CellLook::kBytes},
                         {"own_bytes", "own", CellLook::kBytes},
                         {"calls", "calls"},
                         {"call_s", "seconds"}});
  if (!as_text) {
    table.headings.insert(table.headings.end(), {{"thread_growth_bytes", ""},
                                                 {"thread_own_bytes", ""}});
  }
  for (const uint32_t place : order) {
    std::vector<Cell> cells = PlaceCells(kBy, places.places()[place]);
    const std::vector<Cell> sums = CellsOf(totals[place], as_text);
    cells.insert(cells.end(), sums.begin(), sums.end());
    table.rows.push_back(std::move(cells));
  }
  table.places = table.rows.size();
  return table;
}

}  // namespace pymemrun
