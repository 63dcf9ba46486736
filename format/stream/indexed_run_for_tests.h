// A run with an index. For tests only.
#ifndef PYMEMRUN_FORMAT_STREAM_INDEXED_RUN_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_STREAM_INDEXED_RUN_FOR_TESTS_H_

#include <cstdlib>
#include <string>
#include <vector>

#include "format/stream/stream_for_tests.h"

namespace pymemrun {

// A run of `frames` frames with 40 rows each and an index: each frame ends
// with the context of the next one's first row, every tenth begins with a site
// of its own. Frame i has the times 1000 i to 1000 i + 39.
inline std::string IndexedRun(int frames, int level = StreamWriter::kStored) {
  StringSink sink;
  auto writer = StreamWriter::Create(&sink, {.level = level});
  for (const Record& record : Definitions()) {
    if (!(*writer)->Append(record).ok()) abort();
  }
  uint32_t sites = 2;
  for (int i = 0; i < frames; ++i) {
    if (i % 10 == 9) {
      Record site;
      site.mutable_site()->set_id(++sites);
      site.mutable_site()->set_code(1);
      if (!(*writer)->Append(site).ok()) abort();
    }
    std::vector<Row> rows;
    for (uint64_t k = 0; k < 40; ++k) {
      const auto at = static_cast<uint64_t>(i);
      rows.push_back(PlainRow(80 * at + 2 * k, 1000 * at + k, 4096 * k));
      if (sites > 2) rows.back().site = sites;
      rows.back().context = k == 39;
    }
    if (!(*writer)->Append(RowsRecord(rows)).ok()) abort();
    if (!(*writer)->Flush().ok()) abort();
  }
  Record footer;
  footer.mutable_footer()->set_events(80 * static_cast<uint64_t>(frames));
  if (!(*writer)->Append(footer).ok()) abort();
  if (!(*writer)->WriteIndex().ok()) abort();
  return sink.contents();
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_INDEXED_RUN_FOR_TESTS_H_
