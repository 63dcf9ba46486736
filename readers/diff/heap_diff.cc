#include "readers/diff/heap_diff.h"

#include "readers/diff/place_match.h"

namespace pymemrun {
namespace {

HeapRows RowsOf(GroupBy by, const HeapMoments& replay) {
  HeapRowsMaker maker(by);
  maker.Add(replay, replay.SumsAt(0));
  return maker.Take();
}

}  // namespace

HeapRows DiffHeapRows(GroupBy by, const HeapMoments& first,
                      const HeapMoments& second) {
  PlaceMatch match(by, &first.index(), &second.index());
  const HeapRows before = RowsOf(by, first), after = RowsOf(by, second);
  HeapRows rows;
  std::vector<uint32_t> row_of;  // by number of the place, + 1
  const auto row = [&](uint32_t number, const Place& place) -> HeapRows::Row& {
    if (number >= row_of.size()) row_of.resize(2 * number + 1);
    if (row_of[number] == 0) {
      rows.places.push_back({place, {}, {}});
      row_of[number] = static_cast<uint32_t>(rows.places.size());
    }
    return rows.places[row_of[number] - 1];
  };
  for (const HeapRows::Row& of : after.places) {
    row(match.OfAfter(of.place), of.place).sums.Add(of.sums);
  }
  for (const HeapRows::Row& of : before.places) {
    row(match.OfBefore(of.place), of.place).before.Add(of.sums);
  }
  rows.tracing.before = before.tracing.sums;
  rows.tracing.sums = after.tracing.sums;
  rows.reserved.before = before.reserved.sums;
  rows.reserved.sums = after.reserved.sums;
  return rows;
}

}  // namespace pymemrun
