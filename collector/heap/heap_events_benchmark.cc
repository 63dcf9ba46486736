// What one heap event costs the collector and the readers. PYMEMRUN_HEAP_RUN
// names a run file with heap events (--heap all) to take them from; otherwise
// they are those of a program that makes and drops rows of objects.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "collector/events/event_encoder.h"
#include "collector/ring/ring_fixture.h"
#include "format/batches/heap_batch.h"
#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "format/stream/discard_sink_for_tests.h"
#include "format/stream/stream_writer.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

constexpr size_t kBatch = 1 << 17;

// The block freed last is given out first, as CPython does.
std::vector<HeapEvent> SyntheticEvents() {
  std::vector<HeapEvent> events;
  std::deque<uint64_t> rows;
  std::vector<uint64_t> freed;
  uint64_t fresh = 0x7f0000004030;
  while (events.size() < size_t{1} << 21) {
    HeapEvent event;
    event.thread = 1;
    if (rows.size() < 20000 + events.size() / 7 % 9000) {
      event.address = fresh;
      if (!freed.empty()) {
        event.address = freed.back();
        freed.pop_back();
      } else {
        fresh += (fresh + 2 * 64) % 16384 < 64 ? 112 : 64;
      }
      event.size = 49 + rows.size() % 5;
      event.stack = static_cast<uint32_t>(1 + rows.size() % 5);
      rows.push_back(event.address);
    } else {
      event.is_free = true;
      event.address = rows.front();
      freed.push_back(event.address);
      rows.pop_front();
    }
    events.push_back(event);
  }
  return events;
}

class Keeper final : public RecordVisitor {
 public:
  bool OnHeap(const HeapEvent* some, size_t count) override {
    events.insert(events.end(), some, some + count);
    return events.size() < size_t{1} << 24;
  }
  std::vector<HeapEvent> events;
};

const std::vector<HeapEvent>& Events() {
  static const auto* const events = new std::vector<HeapEvent>([] {
    const char* const path = getenv("PYMEMRUN_HEAP_RUN");
    if (path == nullptr) return SyntheticEvents();
    FILE* const file = fopen(path, "rb");
    if (file == nullptr) abort();
    FdSource source(fileno(file));
    Keeper keeper;
    ReadResult result;
    if (!ReadStream(&source, {}, &keeper, &result).ok()) abort();
    fclose(file);
    return std::move(keeper.events);
  }());
  return *events;
}

class Output final : public RecordSink {
 public:
  Output() : writer_(StreamWriter::Create(&sink_, {.level = 1}).value()) {}
  void Write(absl::string_view record, RowCounts) override {
    (void)writer_->AppendSerialized(record);
  }
  uint64_t bytes() {
    (void)writer_->Flush();
    return sink_.bytes_written();
  }

 private:
  DiscardSink sink_;
  std::unique_ptr<StreamWriter> writer_;
};

void Report(benchmark::State* state, double bytes) {
  const double events =
      static_cast<double>(state->iterations()) * Events().size();
  state->SetItemsProcessed(static_cast<int64_t>(events));
  state->counters["time/event"] = benchmark::Counter(
      events, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (bytes > 0) state->counters["bytes/event"] = bytes / events;
}

std::vector<HeapBatch> Encoded() {
  std::vector<HeapBatch> batches;
  HeapBatchEncoder encoder;
  for (const HeapEvent& event : Events()) {
    encoder.Add(event);
    if (encoder.entries() < kBatch) continue;
    encoder.Take(&batches.emplace_back());
  }
  encoder.Take(&batches.emplace_back());
  return batches;
}

void BM_Encode(benchmark::State& state) {
  Events();
  for (auto _ : state) benchmark::DoNotOptimize(Encoded());
  Report(&state, 0);
}
BENCHMARK(BM_Encode)->Unit(benchmark::kMillisecond);

void BM_Decode(benchmark::State& state) {
  const std::vector<HeapBatch> batches = Encoded();
  HeapBatchDecoder decoder;
  std::vector<HeapEvent> events(kEntriesPerCall);
  uint64_t sum = 0;
  for (auto _ : state) {
    for (const HeapBatch& batch : batches) {
      decoder.Begin(batch);
      while (const size_t count = decoder.Next(events.data(), events.size())) {
        for (size_t i = 0; i < count; ++i) sum += events[i].address;
      }
    }
  }
  benchmark::DoNotOptimize(sum);
  Report(&state, 0);
}
BENCHMARK(BM_Decode)->Unit(benchmark::kMillisecond);

// The events as slots of the event ring, behind their stacks.
std::vector<EventSlot> SlotsOf(const std::vector<HeapEvent>& events) {
  SlotStream slots;
  slots.Code(1, "a.py", "f");
  uint32_t stacks = 0;
  for (const HeapEvent& event : events) stacks = std::max(stacks, event.stack);
  for (uint32_t id = 1; id <= stacks; ++id) slots.Stack(id, id / 2, 1, id);
  for (const HeapEvent& event : events) {
    if (event.is_free) {
      slots.Free(event.address);
    } else {
      slots.Alloc(event.stack, event.address, event.size,
                  static_cast<AllocatorKind>(event.allocator));
    }
  }
  return slots.slots();
}

// From the ring into the file: all of the collector's work except waiting.
void BM_Collect(benchmark::State& state) {
  const std::vector<EventSlot> slots = SlotsOf(Events());
  const TestRegion region;
  ClockScale clock;
  const ClockScale::Pair now = ClockScale::Measure();
  clock.Start(true, now, now);
  Output out;
  EventEncoder encoder(4096, &clock, &out);
  encoder.Start(now.tsc);
  SideItems side(region.page(), region.reply(), getpid(),
                 &encoder.definitions(), &out);
  RingReader reader(region.page(), region.slots(), region.reply());
  RingMerger merger(&reader, &encoder);
  const HeapRates rates;
  HeapCollector heap({{region.page(), getpid(), 4096, &clock,
                       &encoder.definitions(), &side, &out},
                      &merger,
                      &rates,
                      /*takes_forks=*/true});
  merger.set_events(&side, &heap, /*merges=*/true);
  encoder.set_heap(&heap);
  for (auto _ : state) {
    for (size_t at = 0; at < slots.size(); at += 16384) {
      encoder.Consume(&slots[at], std::min<size_t>(16384, slots.size() - at));
    }
  }
  heap.WriteBatch();
  Report(&state, static_cast<double>(out.bytes()));
}
BENCHMARK(BM_Collect)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pymemrun

BENCHMARK_MAIN();
