// Runs with page events that a test builds. For tests of replays.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_BUILT_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_BUILT_RUN_FOR_TESTS_H_

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/testing/page_run_for_tests.h"

namespace pymemrun {

template <typename Replay>
void ReadInto(const std::string& file, Replay* replay) {
  StringSource source(file);
  ReadResult result;
  ASSERT_TRUE(ReadStream(&source, {}, replay, &result).ok());
  replay->Finish();
}

// Builds a run from what a test adds to its header.
struct BuiltRun {
  StringSink sink;
  RunBuilder builder{&sink};
  explicit BuiltRun(uint64_t first_rss_bytes = 0) {
    BeginPageRun(&builder, first_rss_bytes);
    builder.AddMapping("");
  }
  uint64_t Peak() {
    builder.Flush();
    PeakFinder finder;
    ReadInto(sink.contents(), &finder);
    return finder.peak_us();
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_BUILT_RUN_FOR_TESTS_H_
