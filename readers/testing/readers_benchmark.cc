// What a row costs a reader: decoding it, and printing it in each form; and
// what a heap event costs that is replayed.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "format/stream/discard_sink_for_tests.h"
#include "readers/output/output_buffer.h"
#include "readers/replay/heap/heap_model.h"
#include "readers/replay/rows/row_writer.h"
#include "readers/run/replay_visitor.h"
#include "readers/testing/run_builder.h"

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
  DiscardSink sink;
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

// Blocks that are allocated and freed at once, at `live` different addresses.
std::vector<HeapEvent> HeapEvents(uint64_t live) {
  std::vector<HeapEvent> events;
  for (uint64_t i = 0; i < kRows; ++i) {
    const uint64_t block = i / 2;
    HeapEvent event;
    event.time_us = i;
    event.thread = 1;
    event.is_free = i % 2 != 0;
    // Scattered, as addresses of a used heap are.
    const uint64_t slot = block % live * 0x9e3779b1 % live;
    event.address = 0x7f0000000000 + slot * 48;
    if (!event.is_free) {
      event.size = 16 + block % 480;
      event.stack = static_cast<uint32_t>(1 + block % 997);
    }
    events.push_back(event);
  }
  return events;
}

void BM_HeapModel(benchmark::State& state) {
  const auto live = static_cast<uint64_t>(state.range(0));
  const std::vector<HeapEvent> events = HeapEvents(live);
  std::vector<HeapEvent> first;
  for (uint64_t i = 0; i < live; ++i) {
    first.push_back(events[2 * i % events.size()]);
    first.back().address = 0x7f0000000000 + i * 48 + 16;
  }
  HeapModel model;
  model.Add(first.data(), first.size());
  for (auto _ : state) {
    constexpr size_t kBatch = 4096;  // as they are read
    for (size_t i = 0; i < events.size(); i += kBatch) {
      model.Add(&events[i], kBatch);
    }
  }
  CountRows(state, kRows);
}
BENCHMARK(BM_HeapModel)->Arg(1000)->Arg(1000000);

}  // namespace
}  // namespace pymemrun

BENCHMARK_MAIN();
