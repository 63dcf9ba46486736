#include "readers/places/place_table.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "absl/hash/hash.h"
#include "readers/places/place.h"

namespace pymemrun {

absl::string_view ShownMapping(const RunIndex& index, uint32_t mapping) {
  const absl::string_view name = index.MappingName(mapping);
  return name.empty() ? kAnonymous : name;
}

uint32_t OwnStackOf(const RunIndex& index, const Origin& origin) {
  const uint32_t own = index.OwnStack(origin.stack);
  return own == 0 ? index.OwnStack(origin.waits) : own;
}

Place PlaceOf(GroupBy by, const RunIndex& index, const Origin& origin) {
  switch (origin.is_mapping() ? GroupBy::kMapping : by) {
    case GroupBy::kThread:
      return NamedPlace(index.LatestThreadLabel(origin.thread));
    case GroupBy::kMapping:
      return NamedPlace(ShownMapping(index, origin.mapping));
    case GroupBy::kModule:
      return NamedPlace(origin.module == 0
                            ? origin.no_module
                            : ShownMapping(index, origin.module));
    case GroupBy::kAllocator:
      return NamedPlace(origin.allocator);
    case GroupBy::kTask:
      return NamedPlace(origin.task);
    default:
      break;
  }
  if (by == GroupBy::kWorkLine && index.Imports(origin.stack)) {
    return NamedPlace(kImports);
  }
  const bool is_own = by == GroupBy::kLine || by == GroupBy::kWorkLine;
  const uint32_t own = is_own ? OwnStackOf(index, origin) : 0;
  const SourceLocation where =
      index.ResolveStack(own != 0 ? own : origin.stack);
  // Code that is not Python has a name, but no file.
  if (by == GroupBy::kFile && where.file.empty()) {
    return NamedPlace(where.code_name);
  }
  return PlaceOf(by, where);
}

size_t PlaceTable::Hash::operator()(uint32_t place) const {
  return absl::HashOf((*places)[place]);
}

bool PlaceTable::Same::operator()(uint32_t a, uint32_t b) const {
  return (*places)[a] == (*places)[b];
}

// The set has numbers, and hashes the places that they stand for: a place is in
// memory once.
uint32_t PlaceTable::NumberOf(const Place& place) {
  // It is removed again unless it is new.
  places_.push_back(place);
  const auto [known, is_new] =
      known_.insert(static_cast<uint32_t>(places_.size() - 1));
  if (!is_new) places_.pop_back();
  return *known;
}

// A stack's text is made for it, so the table keeps it, if the place is new.
uint32_t PlaceTable::NumberOf(GroupBy by, const RunIndex& index,
                              const Origin& origin) {
  if (by != GroupBy::kStack) return NumberOf(PlaceOf(by, index, origin));
  stack_texts_.push_back(index.StackText(origin.stack, &stack_budget_));
  const size_t places = places_.size();
  const uint32_t number = NumberOf(NamedPlace(stack_texts_.back()));
  if (places_.size() == places) stack_texts_.pop_back();
  return number;
}

uint32_t OriginNumbers::NumberOf(uint32_t id, const Origin& origin) {
  if (id >= by_id_.size()) by_id_.resize(id + id / 2 + 16);
  uint32_t& known = by_id_[id];
  if (known == 0) known = table_.NumberOf(by_, index_, origin) + 1;
  return known - 1;
}

namespace {

// The rest may be negative, so its sizes are signed cells.
bool IsRough(const Table& table, const std::vector<Cell>& row) {
  if (row.empty() || row[0] != Cell(std::string(kUnattributed))) return false;
  for (size_t i = 1; i < row.size(); ++i) {
    if (table.headings[i].look != CellLook::kBytes) continue;
    const auto* const bytes = std::get_if<int64_t>(&row[i]);
    if (bytes != nullptr && std::abs(*bytes) >= kRoughBytes) return false;
  }
  return true;
}

}  // namespace

void DropRough(Table* table) {
  table->rows.erase(
      std::remove_if(table->rows.begin(), table->rows.end(),
                     [table](const auto& row) { return IsRough(*table, row); }),
      table->rows.end());
}

}  // namespace pymemrun
