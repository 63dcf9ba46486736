// What a row costs a reader: decoding it, and printing it in each form.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "format/byte_io.h"
#include "format/record_visitor.h"
#include "readers/output_buffer.h"
#include "readers/row_writer.h"
#include "readers/run_builder.h"
#include "readers/run_index.h"

namespace pymemrun {
namespace {

constexpr uint64_t kRows = 1 << 20;

// A run file of kRows rows, made once.
const std::string& File() {
  static const std::string* const file = [] {
    StringSink sink;
    BuildLargeRun(kRows, &sink);
    return new std::string(sink.contents());
  }();
  return *file;
}

class Discard final : public ByteSink {
 public:
  absl::Status Append(absl::string_view bytes) override {
    bytes_ += bytes.size();
    return absl::OkStatus();
  }
  uint64_t bytes_written() const override { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

class KeepRows final : public IndexingVisitor {
 public:
  bool OnRows(const Row* rows, size_t count) override {
    rows_.insert(rows_.end(), rows, rows + count);
    return true;
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

void CountRows(benchmark::State& state, uint64_t rows) {
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * rows));
  state.counters["time/row"] = benchmark::Counter(
      static_cast<double>(state.iterations() * rows),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// From the file's bytes to rows: frames, checksums, columns.
void BM_Decode(benchmark::State& state) {
  File();
  for (auto _ : state) {
    StringSource source(File());
    RecordVisitor visitor;
    ReadResult result;
    if (!ReadStream(&source, {}, &visitor, &result).ok() ||
        result.rows != kRows) {
      state.SkipWithError("rows are missing");
    }
  }
  CountRows(state, kRows);
}
BENCHMARK(BM_Decode);

using MakeWriter = std::unique_ptr<RowWriter> (*)(const RowWriter::Options&,
                                                  OutputBuffer*);

void BM_WriteRows(benchmark::State& state, MakeWriter make) {
  StringSource source(File());
  KeepRows kept;
  ReadResult result;
  if (!ReadStream(&source, {}, &kept, &result).ok()) {
    return state.SkipWithError("not readable");
  }
  Discard sink;
  OutputBuffer output(&sink);
  const std::unique_ptr<RowWriter> writer = make({}, &output);
  RunView view;
  view.index = &kept.index();
  for (auto _ : state) {
    for (const Row& row : kept.rows()) writer->WriteRow(view, row, 1);
  }
  CountRows(state, kept.rows().size());
}
BENCHMARK_CAPTURE(BM_WriteRows, text, &NewTextWriter);
BENCHMARK_CAPTURE(BM_WriteRows, csv, &NewCsvWriter);
BENCHMARK_CAPTURE(BM_WriteRows, jsonl, &NewJsonlWriter);

}  // namespace
}  // namespace pymemrun

BENCHMARK_MAIN();
