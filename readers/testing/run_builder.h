// Writes run files event by event, for tests and for generating large ones.
// Not part of the library.
#ifndef PYMEMRUN_READERS_TESTING_RUN_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_RUN_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "format/stream/stream_writer.h"

namespace pymemrun {

// Records go out in the order of the calls. Ids are given out from 1. Not
// thread safe. CHECK-fails (aborts) when the sink does.
class RunBuilder {
 public:
  // Rows of one batch, as the collector makes them.
  static constexpr size_t kRowsPerBatch = 8192;

  explicit RunBuilder(ByteSink* sink);

  static Header DefaultHeader();
  void AddHeader(const Header& header);
  uint32_t AddCode(absl::string_view file, absl::string_view name,
                   uint32_t first_line, absl::string_view module = "mod");
  uint32_t AddFunction(absl::string_view qualname, absl::string_view module);
  uint32_t AddSite(What what, uint32_t code, uint32_t line,
                   uint32_t function = 0);
  // `renamed`: the id that this thread got under its earlier name; 0: none.
  uint32_t AddThread(absl::string_view name, uint64_t native_id,
                     uint32_t renamed = 0);
  uint32_t AddStack(uint32_t parent, uint32_t code, uint32_t line);
  uint32_t AddMapping(absl::string_view name);
  void AddRow(const Row& row);
  // Each record holds what one call gives it.
  void AddPages(const std::vector<PageEntry>& entries);
  void AddHeap(const std::vector<HeapEvent>& events);
  void AddResidency(uint64_t begin_us, uint64_t time_us, uint64_t rss_bytes,
                    const std::vector<ResidentRange>& ranges);
  void AddProcess(uint64_t time_us, uint64_t rss_bytes, uint64_t hwm_bytes);
  void AddFork(uint64_t time_us);
  void AddMark(uint64_t time_us, uint64_t next_number, uint32_t thread,
               absl::string_view label, uint64_t rss_bytes);
  void AddRecord(const Record& record);
  // Ends the batch and the frame.
  void Flush();
  // To be called last: the index of frames.
  void WriteIndex();

 private:
  void EndBatch();
  void Write(const Record& record);

  std::unique_ptr<StreamWriter> writer_;
  std::vector<Row> rows_;
  uint32_t codes_ = 0, functions_ = 0, sites_ = 0, threads_ = 0;
  uint32_t stacks_ = 0, mappings_ = 0;
};

// A row: thread 1, no stack, exact.
Row MakeRow(uint64_t number, uint64_t time_us, uint32_t site,
            uint64_t rss_bytes, int64_t drss_bytes, bool context = false);

// `rows` rows of a run as if everything had been logged: eight lines in four
// functions, a dRSS now and then.
void BuildLargeRun(uint64_t rows, ByteSink* sink);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_RUN_BUILDER_H_
