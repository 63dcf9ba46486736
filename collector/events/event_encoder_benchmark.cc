// What one event costs the collector: encoding, and compressing into the file.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "collector/events/event_encoder.h"
#include "format/stream/byte_io.h"
#include "format/stream/discard_sink_for_tests.h"
#include "format/stream/stream_writer.h"

namespace pymemrun {
namespace {

// Rows as a program makes them that calls some functions in loops, with
// branches at random: `functions` functions, each calling two others or C.
class SyntheticProgram {
 public:
  SyntheticProgram(uint32_t functions, double random_share)
      : functions_(functions), random_share_(random_share) {}

  std::vector<EventSlot> Run(size_t rows) {
    std::vector<EventSlot> slots;
    slots.reserve(rows + 64);
    while (slots.size() < rows) Call(&slots, 1, 0);
    slots.resize(rows);
    return slots;
  }

 private:
  void Add(std::vector<EventSlot>* slots, uint32_t what, uint32_t code,
           uint32_t position, uint32_t function) {
    tsc_ += 60 + rng_() % 60;  // some 30 ns at 3 GHz
    slots->push_back({what << kWhatShift | code, position, function, tsc_});
  }
  void Call(std::vector<EventSlot>* slots, uint32_t code, int depth) {
    Add(slots, 0, code, 0, 0);
    const int loops = 1 + static_cast<int>(code % 3);
    for (int i = 0; i < loops; ++i) {
      const bool random = rng_() < random_share_ * rng_.max();
      const uint32_t pick = random ? rng_() : code * 7 + i;
      if (depth < 4 && pick % 3 != 0)
        Call(slots, 1 + pick % functions_, depth + 1);
      const uint32_t function = 1 + (code * 5 + pick % 3) % 40;
      Add(slots, 2, code, 10 + 8 * (pick % 3), function);
      Add(slots, 3, code, 10 + 8 * (pick % 3), function);
    }
    Add(slots, 1, code, 40, 0);
  }

  const uint32_t functions_;
  const double random_share_;
  std::minstd_rand rng_;
  uint32_t tsc_ = 0;
};

class Output final : public RecordSink {
 public:
  explicit Output(int level) {
    StreamWriter::Options options;
    options.level = level;
    if (level != 99) writer_ = StreamWriter::Create(&sink_, options).value();
  }
  void Write(absl::string_view record, RowCounts) override {
    raw_ += record.size();
    if (writer_ != nullptr) (void)writer_->AppendSerialized(record);
  }
  uint64_t bytes() const {
    return writer_ == nullptr ? raw_ : sink_.bytes_written();
  }
  uint64_t raw() const { return raw_; }

 private:
  DiscardSink sink_;
  std::unique_ptr<StreamWriter> writer_;
  uint64_t raw_ = 0;
};

// Gives every code of the program a name of its own.
void DefineCodes(uint32_t functions, EventEncoder* encoder) {
  for (uint32_t code = 0; code <= functions; ++code) {
    const uint32_t payload[] = {code, 99, 0, 0, 0, 0, 0, 0};
    EventSlot slots[3] = {};
    slots[0] = {
        kControlWhat << kWhatShift | static_cast<uint32_t>(ControlKind::kCode),
        sizeof(payload), code, 0};
    std::memcpy(&slots[1], payload, sizeof(payload));
    encoder->Consume(slots, 3);
  }
}

// Arguments: functions, share of random branches in percent, zstd level (99:
// nothing is compressed).
void BM_EncodeAndCompress(benchmark::State& state) {
  const std::vector<EventSlot> slots =
      SyntheticProgram(state.range(0), state.range(1) / 100.0).Run(1 << 20);
  Output out(static_cast<int>(state.range(2)));
  ClockScale clock;
  const ClockScale::Pair now = ClockScale::Measure();
  clock.Start(true, now, now);
  EventEncoder encoder(4096, &clock, &out);
  encoder.Start(now.tsc);
  DefineCodes(state.range(0), &encoder);
  for (auto _ : state) {
    for (size_t at = 0; at < slots.size(); at += 32768) {
      encoder.Consume(&slots[at], 32768);
    }
  }
  encoder.EndBatch();
  const double events = static_cast<double>(state.iterations()) * slots.size();
  state.SetItemsProcessed(static_cast<int64_t>(events));
  state.counters["time/event"] = benchmark::Counter(
      events, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes/event"] = out.bytes() / events;
  state.counters["raw/event"] = out.raw() / events;
}
BENCHMARK(BM_EncodeAndCompress)
    ->ArgsProduct({{30, 200, 1000}, {0, 20, 100}, {99, 1, -1}});

}  // namespace
}  // namespace pymemrun

BENCHMARK_MAIN();
