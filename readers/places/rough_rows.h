// What of a table says nothing to people.
#ifndef PYMEMRUN_READERS_PLACES_ROUGH_ROWS_H_
#define PYMEMRUN_READERS_PLACES_ROUGH_ROWS_H_

#include <cstdint>

#include "readers/output/table.h"

namespace pymemrun {

// The kernel counts RSS later than some pages come: less has no owner for no
// reason that concerns people.
inline constexpr int64_t kRoughBytes = 64 << 10;

// Takes away the row kUnattributed where no size of it is that much.
void DropRough(Table* table);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_ROUGH_ROWS_H_
