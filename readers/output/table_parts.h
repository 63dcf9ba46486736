// A table for machines that is printed a part at a time. Used where there may
// be millions of rows.
#ifndef PYMEMRUN_READERS_OUTPUT_TABLE_PARTS_H_
#define PYMEMRUN_READERS_OUTPUT_TABLE_PARTS_H_

#include "readers/output/table.h"

namespace pymemrun {

// Not all rows need to be in memory at once. CSV as pymemcat writes it. JSON:
// an array of objects, one for each row. Not thread safe. The output must
// outlive it.
class TableParts {
 public:
  // REQUIRES: format is not kText.
  TableParts(TableFormat format, OutputBuffer* output)
      : format_(format), output_(*output) {}
  // The rows of a part; all parts have the same headings. A table without rows
  // is one empty part.
  void Print(const Table& part);
  // To be called after the last part.
  void Finish();

 private:
  void PrintWhole(const Table& part);

  const TableFormat format_;
  OutputBuffer& output_;
  bool has_head_ = false;  // of CSV
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TABLE_PARTS_H_
