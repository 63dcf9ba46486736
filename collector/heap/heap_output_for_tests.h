// The records of a run with heap events, as readers see them.
#ifndef PYMEMRUN_COLLECTOR_HEAP_HEAP_OUTPUT_FOR_TESTS_H_
#define PYMEMRUN_COLLECTOR_HEAP_HEAP_OUTPUT_FOR_TESTS_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/output/record_sink.h"
#include "format/records/record_decoder.h"

namespace pymemrun {

// Decodes all as readers do, and keeps each record as a line.
class HeapOutput final : public RecordSink, public RecordVisitor {
 public:
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    EXPECT_LT(bytes.size(), size_t{4} << 20);
    const absl::Status status = decoder_.Decode(bytes);
    EXPECT_TRUE(status.ok()) << status;
  }
  void OnCode(const CodeDef& def) override { codes.push_back(def); }
  void OnStack(const StackDef& def) override { stacks.push_back(def); }
  void OnThread(const ThreadDef& def) override { threads.push_back(def); }
  void OnMapping(const MappingDef& def) override {
    files.push_back(def.name());
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      lines.push_back(TextOf(events[i]));
      heap.push_back(events[i]);
    }
    return true;
  }
  void OnHeapRates(const HeapRates& rates) override {
    std::string line = absl::StrCat("rates ", rates.mean_bytes(),
                                    rates.adapted() ? " adapted" : "");
    for (const HeapClass& c : rates.classes()) {
      absl::StrAppend(&line, " ", c.below_bytes(), ":", c.probability());
    }
    lines.push_back(line);
  }
  void OnHeapLoss(const HeapLoss& loss) override {
    lines.push_back(absl::StrCat("loss ", loss.events()));
  }
  void OnFork(const Fork& fork) override {
    lines.push_back(absl::StrCat("fork ", fork.child_pid()));
  }
  void OnMark(const Mark& mark) override {
    lines.push_back(absl::StrCat("mark ", mark.label()));
  }
  bool OnRows(const Row*, size_t count) override {
    lines.push_back(absl::StrCat(count, " rows"));
    return true;
  }

  std::string StackText(uint32_t stack) const {
    if (stack == 0) return "";
    const StackDef& def = stacks[stack];
    return absl::StrCat(StackText(def.parent()), "/", codes[def.code()].name());
  }
  // Without time and thread.
  std::string TextOf(const HeapEvent& event) const {
    const std::string address = absl::StrCat(absl::Hex(event.address));
    if (event.free_of != HeapFreeOf::kBlock) {
      const bool moves = event.free_of == HeapFreeOf::kMovedRange;
      return absl::StrCat(moves ? "move " : "unmap ", address, " ", event.size);
    }
    if (event.is_free) return absl::StrCat("free ", address);
    return absl::StrCat(HeapAllocator_Name(event.allocator), " ", address, " ",
                        event.size, " ", StackText(event.stack));
  }

  std::vector<CodeDef> codes = {CodeDef()};
  std::vector<StackDef> stacks = {StackDef()};
  std::vector<ThreadDef> threads = {ThreadDef()};
  std::vector<std::string> files = {""};
  std::vector<std::string> lines;
  std::vector<HeapEvent> heap;

 private:
  RecordDecoder decoder_{this};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_HEAP_HEAP_OUTPUT_FOR_TESTS_H_
