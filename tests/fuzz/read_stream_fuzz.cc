// Reads arbitrary bytes as a run file: no crash, no hang, bounded memory, and
// every promise to visitors kept (CheckingVisitor ends the program else).
#include <cstdint>

#include "format/stream/read_plan.h"
#include "format/stream/stream_for_tests.h"
#include "format/stream/stream_reader.h"

namespace pymemrun {
namespace {

void ReadOnce(absl::string_view file, StreamReader::Options options) {
  StringSource source(file);
  CheckingVisitor visitor(/*keep_lines=*/false);
  ReadResult result;
  ReadStream(&source, options, &visitor, &result).IgnoreError();
}

// As pymemcat --from does, with whatever index the file has.
void ReadPlanned(absl::string_view file, uint64_t from_us, uint64_t to_us) {
  StringSource source(file);
  const auto plan = ReadPlan::Create(&source, file.size(), from_us, to_us);
  if (!plan.ok() || *plan == nullptr) return;
  CheckingVisitor visitor(/*keep_lines=*/false);
  ReadResult result;
  ReadStream(&source, {.plan = plan->get()}, &visitor, &result).IgnoreError();
}

void ReadBothWays(absl::string_view file) {
  ReadOnce(file, {});
  ReadPlanned(file, 15, 15);
  ReadPlanned(file, 5000, 12000);
  // Bounds so small that each of them is met.
  ReadOnce(
      file,
      {.max_record_bytes = 200, .max_window_log = 16, .max_frame_bytes = 1000});
}

}  // namespace
}  // namespace pymemrun

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pymemrun::ReadBothWays(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef PYMEMRUN_FUZZER
#include "tests/fuzz/replay_main.h"
#endif
