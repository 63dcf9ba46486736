// Each byte of a run with heap events changed, and each length cut: every
// command ends, with an exit code and words of its own.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

const std::vector<std::vector<std::string>>& Commands() {
  static const auto* const commands = new std::vector<std::vector<std::string>>{
      {"heap"},
      {"heap", "--leaks", "--stacks"},
      {"diff", "--csv"},
      {"diff", "--stacks", "--by", "library-line"},
      {"heap", "--temporary"},
      {"heap", "--at", "0.002", "--to", "exit"},
      {"history", "--csv"},
      {"history", "--svg", "--interval", "1ms"},
      {"snapshot", "--json"},
      {"stats"},
      {"flame"},
      {"export"},
      {"export", "--format", "speedscope"},
      {"timeline", "--by", "heap"},
      {"summary"}};
  return *commands;
}

void ExpectAnEnd(const std::string& run) {
  TempFile file(run);
  for (std::vector<std::string> command : Commands()) {
    const size_t files = command[0] == "diff" ? 2 : 1;
    command.insert(command.begin() + 1, files, file.path());
    const Printed printed = RunProgram("pymemreport", [&](const Console& c) {
      return RunPymemreport(command, c);
    });
    ASSERT_THAT(printed.code, testing::AnyOf(0, 1, 2));
    if (printed.code != 0) {
      ASSERT_THAT(printed.err, testing::StartsWith("pymemreport: "));
    }
  }
}

TEST(HeapDamageTest, EachByteChanged) {
  const std::string whole = HeapRun().Build();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string run = whole;
    run[i] = static_cast<char>(run[i] ^ (1 << (i % 8)));
    ExpectAnEnd(run);
  }
}

TEST(HeapDamageTest, EachLengthCut) {
  const std::string whole = HeapRun().Build();
  for (size_t size = 0; size < whole.size(); size += 3) {
    ExpectAnEnd(whole.substr(0, size));
  }
}

// Records that are well formed and say what cannot be.
TEST(HeapDamageTest, ValuesBeyondAllBounds) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_SAMPLED);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
  Record rates;
  rates.mutable_heap_rates()->set_mean_bytes(UINT64_MAX);
  builder.AddRecord(rates);
  const uint64_t all = UINT64_MAX;
  builder.AddHeap({AllocEvent(1, 0, all, 1), AllocEvent(2, all, all, 1),
                   AllocEvent(3, all - 1, 0, 1), AllocEvent(all, 7, 1, 1),
                   FreeEvent(all, all)});
  Record footer;
  footer.mutable_footer()->set_end_us(all);
  builder.AddRecord(footer);
  builder.Flush();
  ExpectAnEnd(sink.contents());
}

}  // namespace
}  // namespace pymemrun
