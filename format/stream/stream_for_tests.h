// Small streams. For tests and the fuzzer only.
#ifndef PYMEMRUN_FORMAT_STREAM_STREAM_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_STREAM_STREAM_FOR_TESTS_H_

#include <cstdlib>
#include <string>
#include <vector>

#include "format/batches/encode_batch_for_tests.h"
#include "format/records/checking_visitor_for_tests.h"
#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "format/stream/stream_writer.h"

namespace pymemrun {

inline bool operator==(const Row& a, const Row& b) {
  return a.number == b.number && a.time_us == b.time_us &&
         a.rss_bytes == b.rss_bytes && a.drss_bytes == b.drss_bytes &&
         a.site == b.site && a.thread == b.thread && a.stack == b.stack &&
         a.what == b.what && a.context == b.context && a.exact == b.exact &&
         a.call_events == b.call_events && a.call_us == b.call_us &&
         a.call_drss == b.call_drss;
}

// A row of thread 1 and site 1.
inline Row PlainRow(uint64_t number, uint64_t time_us, uint64_t rss_bytes) {
  return {number, time_us, rss_bytes, 0, 1, 1, 0, CALL, false, true, 0, 0, 0};
}

// Rows with successive numbers, a microsecond apart, without growth.
inline std::vector<Row> PlainRows(uint64_t first, int count) {
  std::vector<Row> rows;
  for (int i = 0; i < count; ++i) {
    rows.push_back(PlainRow(first + i, 5 + i, 1 << 20));
  }
  return rows;
}

inline Record HeaderRecord() {
  Record record;
  record.mutable_header()->set_format_version(1);
  record.mutable_header()->set_pid(42);
  return record;
}

// Header, two codes, a function, two sites, a thread, a stack node.
inline std::vector<Record> Definitions() {
  std::vector<Record> records(8);
  records[0] = HeaderRecord();
  for (uint32_t id = 1; id <= 2; ++id) {
    CodeDef* code = records[id].mutable_code();
    code->set_id(id);
    code->set_file(id == 1 ? "/src/job.py" : "/src/parse,\"2\".py");
    code->set_name(id == 1 ? "<module>" : "load");
    code->set_qualname(code->name());
    code->set_module("__main__");
    code->set_first_line(id);
  }
  records[3].mutable_function()->set_id(1);
  records[3].mutable_function()->set_qualname("len");
  for (uint32_t id = 1; id <= 2; ++id) {
    SiteDef* site = records[3 + id].mutable_site();
    site->set_id(id);
    site->set_what(id == 1 ? CALL : C_RETURN);
    site->set_code(id);
    site->set_line(10 * id);
    site->set_function(id - 1);
  }
  records[6].mutable_thread()->set_id(1);
  records[6].mutable_thread()->set_native_id(4242);
  records[6].mutable_thread()->set_name("MainThread");
  records[7].mutable_stack()->set_id(1);
  records[7].mutable_stack()->set_code(1);
  return records;
}

inline Record RowsRecord(const std::vector<Row>& rows, bool stacks = false) {
  return EncodeRows(rows, stacks);
}

// These records as one frame (up to 1 MiB).
inline std::string FrameOf(const std::vector<Record>& records,
                           int level = StreamWriter::kStored) {
  StringSink sink;
  auto writer = StreamWriter::Create(&sink, {.level = level});
  for (const Record& record : records) {
    if (!(*writer)->Append(record).ok()) abort();
  }
  if (!(*writer)->Flush().ok()) abort();
  return sink.contents();
}

// The frames of a small whole run: definitions; rows 0 to 9, rows 10 to 19 with
// a mark, the footer.
inline std::vector<std::string> SmallRunFrames(
    int level = StreamWriter::kStored) {
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 20; ++i) {
    Row row = PlainRow(i, 10 + i / 2, 8192 + 4096 * (i / 5));
    if (i != 0 && i % 5 == 0) row.drss_bytes = 4096;
    if (i % 3 == 0) row.site = 2, row.what = C_RETURN;
    if (i % 4 == 0) row.context = true;
    rows.push_back(row);
  }
  Record mark, footer;
  mark.mutable_mark()->set_time_us(15);
  mark.mutable_mark()->set_label("half");
  footer.mutable_footer()->set_events(20);
  const std::vector<Row> first(rows.begin(), rows.begin() + 10);
  const std::vector<Row> second(rows.begin() + 10, rows.end());
  return {FrameOf(Definitions(), level), FrameOf({RowsRecord(first)}, level),
          FrameOf({mark, RowsRecord(second)}, level), FrameOf({footer}, level)};
}

inline std::string Joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_STREAM_FOR_TESTS_H_
