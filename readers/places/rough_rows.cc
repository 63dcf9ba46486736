#include "readers/places/rough_rows.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "readers/places/place.h"

namespace pymemrun {
namespace {

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
