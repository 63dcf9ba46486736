// A table as text that fits a terminal. Used by PrintTable().
#ifndef PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_
#define PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_

#include "readers/output/table.h"

namespace pymemrun {

// Columns as wide as their widest cell, a kKey column first, numbers to the
// right, and the kName columns last in their order, so that long ones do not
// push the numbers. Where the output's terminal is too narrow, paths are
// shortened, then columns that say nothing left out, small shares that leave
// the kKey column no room, and numbers from the right; then names are cut.
// Where there is room, bars show the shares.
void PrintTextTable(const Table& table, OutputBuffer* output);

// The same with all columns in the table's order, for those that somebody chose
// one by one. Where the terminal is too narrow, the widest texts are cut.
void PrintTextTableInOrder(const Table& table, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_
