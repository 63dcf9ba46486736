#include "readers/testing/heap_run_builder.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

constexpr uint32_t kStacks = 512;
constexpr size_t kBatchEvents = 8192;
constexpr size_t kMostKept = 1 << 16;

// Leaves under a few callers each; ids 1 to the number returned.
uint32_t AddStacks(RunBuilder* builder) {
  uint32_t stacks = 0;
  std::vector<uint32_t> codes;
  for (uint32_t i = 0; i < 32; ++i) {
    codes.push_back(
        builder->AddCode(absl::StrCat("/usr/lib/python3/job", i % 8, ".py"),
                         absl::StrCat("step_", i), 10 * i + 1));
  }
  for (uint32_t i = 0; i < kStacks; ++i) {
    const uint32_t parent = i < 4 ? 0 : 1 + (i - 4) / 2;
    stacks =
        builder->AddStack(parent, codes[i % 32], 10 * (i % 32) + 2 + i % 7);
  }
  return stacks;
}

class HeapRunMaker {
 public:
  HeapRunMaker(RunBuilder* builder, uint32_t stacks)
      : builder_(*builder), stacks_(stacks) {}

  void Allocate(uint64_t address) {
    HeapEvent event;
    event.time_us = events_ / 10;
    event.address = address;
    event.size = 16 + 16 * (Random() % 30);
    event.stack = static_cast<uint32_t>(1 + Random() % stacks_);
    event.thread = 1;
    Add(event);
  }
  void Free(uint64_t address) {
    HeapEvent event;
    event.time_us = events_ / 10;
    event.address = address;
    event.thread = 1;
    event.is_free = true;
    Add(event);
  }
  uint64_t Random() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return state_ >> 33;
  }
  void Flush() {
    if (!batch_.empty()) builder_.AddHeap(batch_);
    batch_.clear();
  }
  uint64_t events() const { return events_; }

 private:
  void Add(const HeapEvent& event) {
    batch_.push_back(event);
    ++events_;
    if (batch_.size() == kBatchEvents) Flush();
  }

  RunBuilder& builder_;
  const uint32_t stacks_;
  std::vector<HeapEvent> batch_;
  uint64_t events_ = 0, state_ = 1;
};

}  // namespace

void BuildLargeHeapRun(uint64_t events, ByteSink* sink) {
  constexpr uint64_t kTemporary = 0x7f0000000000, kKept = 0x7f1000000000;
  RunBuilder builder(sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  header.set_script("job.py");
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  HeapRunMaker maker(&builder, AddStacks(&builder));
  size_t kept = 0;
  while (maker.events() < events) {
    if (maker.Random() % 16 == 0) {
      maker.Allocate(kKept + kept++ * 512);
    } else {
      const uint64_t address = kTemporary + maker.Random() % 8 * 512;
      maker.Allocate(address);
      maker.Free(address);
    }
    if (kept < kMostKept) continue;
    while (kept > kMostKept / 4) maker.Free(kKept + --kept * 512);
  }
  maker.Flush();
  Record record;
  record.mutable_footer()->set_end(Footer::EXIT);
  record.mutable_footer()->set_end_us(maker.events() / 10);
  builder.AddRecord(record);
  builder.Flush();
  builder.WriteIndex();
}

}  // namespace pymemrun
