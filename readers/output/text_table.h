// A table as text that fits a terminal. Used by PrintTable().
#ifndef PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_
#define PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_

#include "readers/output/table.h"

namespace pymemrun {

// Columns as wide as their widest cell, numbers to the right, and the kName
// columns last in their order, so that long ones do not push the numbers. Where
// the output's terminal is too narrow, paths are shortened, then columns of
// numbers left out from the right, then names cut. Where there is room, bars
// show the shares.
void PrintTextTable(const Table& table, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TEXT_TABLE_H_
