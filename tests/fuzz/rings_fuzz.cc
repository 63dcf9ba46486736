// Takes arbitrary bytes for what a traced program left in the shared memory:
// no crash, no hang, bounded memory, and every record one that readers take
// for a record. Built without libFuzzer this replays the files of the folders
// given.
//
//   input := rounds of: slots (1 byte), cells (1 byte), head (8 bytes)
//                       16 bytes for each slot, 56 for each cell
//
// What is missing is zeros. `head` is added to both heads, mostly 0.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/string_view.h"
#include "collector/events/event_encoder.h"
#include "collector/heap/heap_collector.h"
#include "collector/ring/ring_reader.h"
#include "collector/side/side_items.h"
#include "format/records/record_decoder.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

constexpr uint64_t kStartNs = 1000000000;

// Decodes all as readers do. What a program forges may contradict itself.
class Output final : public RecordSink {
 public:
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    Record record;
    if (bytes.size() > (size_t{16} << 20) ||
        !record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      abort();
    }
    decoder_.Decode(bytes).IgnoreError();
  }

 private:
  RecordVisitor visitor_;
  RecordDecoder decoder_{&visitor_};
};

class Input {
 public:
  explicit Input(absl::string_view bytes) : rest_(bytes) {}
  void Take(void* out, size_t bytes) {
    std::memset(out, 0, bytes);
    const size_t there = bytes < rest_.size() ? bytes : rest_.size();
    if (there > 0) std::memcpy(out, rest_.data(), there);
    rest_.remove_prefix(there);
  }
  bool empty() const { return rest_.empty(); }

 private:
  absl::string_view rest_;
};

// One for all inputs: what an earlier one left is as good as anything.
TestRegion& Region() {
  static TestRegion region;
  return region;
}

// Puts a round of the input where the program would.
void Fill(Input* in, ControlPage* page) {
  uint8_t slots = 0, cells = 0;
  uint64_t jump = 0;
  in->Take(&slots, sizeof(slots));
  in->Take(&cells, sizeof(cells));
  in->Take(&jump, sizeof(jump));
  const uint64_t head = page->head + jump;
  for (uint64_t i = 0; i < slots; ++i) {
    in->Take(&Region().slots()[(head + i) & (kRingSlots - 1)],
             sizeof(EventSlot));
  }
  page->head = head + slots;
  const uint64_t side_head = page->side_head + jump;
  for (uint64_t i = 0; i < cells; ++i) {
    SideContinued& cell = Region().cells()[(side_head + i) & (kSideCells - 1)];
    in->Take(cell.payload, sizeof(cell.payload));
    // Its last byte says whether it is committed.
    const bool committed = cell.payload[sizeof(cell.payload) - 1] != '\x7f';
    cell.sequence = committed ? side_head + i + 1 : 0;
  }
  page->side_head = side_head + cells;
}

void Collect(absl::string_view bytes) {
  TestRegion& region = Region();
  region.page()->head = region.reply()->tail = 0;
  region.page()->side_head = region.reply()->side_tail = 0;
  constexpr pid_t kNobody = 0;
  ClockScale clock;
  clock.Start(false, {0, kStartNs}, {});
  Output out;
  EventEncoder encoder(4096, &clock, &out);
  encoder.Start(kStartNs);
  RingReader ring(region.page(), region.slots(), region.reply());
  SideItems side(region.page(), region.reply(), kNobody, &encoder.definitions(),
                 &out);
  RingMerger merger(&ring, &encoder);
  const HeapRates rates;
  HeapCollector heap({{region.page(), kNobody, 4096, &clock,
                       &encoder.definitions(), &side, &out},
                      &merger,
                      &rates,
                      /*takes_forks=*/true});
  merger.set_events(&side, &heap, /*merges=*/true);
  encoder.set_heap(&heap);
  heap.Describe(/*start_ns=*/0);
  side.Start();
  Input in(bytes);
  while (!in.empty()) {
    Fill(&in, region.page());
    merger.Drain(/*last=*/false);
  }
  merger.Drain(/*last=*/true);
  encoder.EndBatch();
  side.Drain(kStartNs, true);
  heap.Finish(kStartNs, /*process_lives=*/false);
}

}  // namespace
}  // namespace pymemrun

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pymemrun::Collect(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef PYMEMRUN_FUZZER

#include "tests/fuzz/replay_main.h"

#endif
