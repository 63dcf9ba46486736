// Prints a table as text that fits a terminal. Used by PrintTable().
#ifndef PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_
#define PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_

#include "readers/output/table.h"

namespace pymemrun {

// Columns are as wide as their widest cell. A kKey column is first, numbers are
// right-aligned, and kName columns are last, so that long names do not move
// numbers.
//
// If the terminal is too narrow, these steps follow until the table fits. Paths
// are shortened. Columns without information are left out, then small shares
// that leave no room for the kKey column, then numbers from the right. At last
// names are cut. If there is room, bars show the shares.
void PrintTextTable(const Table& table, OutputBuffer* output);

// The same with all columns in the table's order, for columns that the user
// chose. If the terminal is too narrow, the widest texts are cut.
// Columns that have no room even so are named below.
void PrintTextTableInOrder(const Table& table, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_
