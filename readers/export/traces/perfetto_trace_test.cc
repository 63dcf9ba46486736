#include "readers/export/traces/perfetto_trace.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/call_run_for_tests.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"
#include "readers/track_event.pb.h"

namespace pymemrun {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using track_events::Packet;
using track_events::TrackEvent;

// What a reader of the trace sees, event by event.
class SeenTrace {
 public:
  explicit SeenTrace(const std::string& bytes) {
    EXPECT_TRUE(trace_.ParseFromString(bytes));
    for (int i = 0; i < trace_.packets_size(); ++i) Add(trace_.packets(i), i);
  }

  std::vector<std::string> lines, threads, counters;
  std::map<std::string, int64_t> highest;  // by counter
  const track_events::Trace& trace() const { return trace_; }

 private:
  void Add(const Packet& packet, int number) {
    EXPECT_EQ(packet.sequence(), 2u);
    EXPECT_EQ(packet.sequence_flags(), number == 0 ? track_events::STATE_CLEARED
                                                   : track_events::NEEDS_STATE);
    for (const auto& name : packet.interned().event_names()) {
      names_[name.id()] = name.name();
    }
    for (const auto& name : packet.interned().annotation_names()) {
      annotations_[name.id()] = name.name();
    }
    for (const auto& name : packet.interned().categories()) {
      categories_[name.id()] = name.name();
    }
    for (const auto& at : packet.interned().source_locations()) {
      locations_[at.id()] = absl::StrCat(at.file(), ":", at.line());
    }
    if (packet.has_track()) AddTrack(packet.track());
    if (packet.has_event()) AddEvent(packet);
  }
  void AddTrack(const track_events::TrackDescriptor& track) {
    std::string name = track.name();
    if (track.has_process()) name = track.process().name();
    if (track.has_thread()) {
      name = track.thread().name();
      threads.push_back(absl::StrCat(name, " ", track.thread().pid(), "/",
                                     track.thread().tid()));
    }
    if (track.has_counter()) counters.push_back(name);
    EXPECT_TRUE(tracks_.emplace(track.uuid(), name).second);
  }
  void AddEvent(const Packet& packet) {
    const TrackEvent& event = packet.event();
    const std::string& track = tracks_.at(event.track());
    const uint64_t ns = packet.timestamp_ns();
    std::string said;
    for (const auto& annotation : event.annotations()) {
      absl::StrAppend(&said, " ", annotations_.at(annotation.name_id()), "=",
                      annotation.int_value());
    }
    switch (event.type()) {
      case TrackEvent::SLICE_BEGIN:
        lines.push_back(
            absl::StrCat(track, " ", ns, " ", names_.at(event.name_id()), " [",
                         categories_.at(event.category_ids(0)), "] ",
                         event.source_location_id() == 0
                             ? ""
                             : locations_.at(event.source_location_id())));
        break;
      case TrackEvent::SLICE_END:
        lines.push_back(absl::StrCat(track, " ", ns, " end", said));
        break;
      case TrackEvent::INSTANT:
        lines.push_back(absl::StrCat(track, " ", ns, " ! ", event.name()));
        break;
      default:
        highest[track] = std::max(highest[track], event.counter_value());
    }
  }

  track_events::Trace trace_;
  std::map<uint64_t, std::string> names_, annotations_, categories_, locations_,
      tracks_;
};

TEST(PerfettoTraceTest, HasCallsOfThreads) {
  CallRun run;
  const Printed printed = Busy(&run).Report({"export", "--format", "perfetto"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.err, "");
  const SeenTrace seen(printed.out);
  EXPECT_THAT(seen.threads,
              ElementsAre("MainThread 4711/4711", "Thread-6 4711/4712"));
  EXPECT_THAT(seen.lines,
              ElementsAre("MainThread 0 a [own] /src/main.py:10",
                          "MainThread 1000000000 b [own] /src/main.py:20",
                          "MainThread 3000000000 d [own] /src/lib.py:40",
                          "MainThread 4000000000 end rss_growth_bytes=307200",
                          "Thread-6 2000000000 c [own] /src/main.py:30",
                          "Thread-6 6000000000 end rss_growth_bytes=614400",
                          "MainThread 5000000000 d [own] /src/lib.py:40",
                          "MainThread 7000000000 end rss_growth_bytes=307200",
                          "MainThread 8000000000 end rss_growth_bytes=768000",
                          "MainThread 9000000000 end rss_growth_bytes=512000"));
  EXPECT_EQ(seen.highest.at("RSS"), 1750 * 1024);
}

TEST(PerfettoTraceTest, SaysWhatTheClockIs) {
  CallRun run;
  const SeenTrace seen(
      Busy(&run).Report({"export", "--format", "perfetto"}).out);
  const auto& clocks = seen.trace().packets(0).clocks();
  ASSERT_EQ(clocks.clocks_size(), 3);
  EXPECT_EQ(clocks.clocks(0).id(), 6u);
  EXPECT_EQ(clocks.clocks(0).timestamp_ns(), 0u);
  EXPECT_EQ(clocks.clocks(2).id(), 1u);
  EXPECT_EQ(clocks.clocks(2).timestamp_ns(),
            RunBuilder::DefaultHeader().start_realtime_ns());
}

TEST(PerfettoTraceTest, LeavesOutShortCallsAndSaysSo) {
  CallRun run;
  const Printed printed = Busy(&run).Report(
      {"export", "--format", "perfetto", "--min-duration", "5s"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err,
            "pymemreport: run.pb: 2 of 5 calls written; 3 were shorter than "
            "5000 ms (--min-duration)\n");
  EXPECT_EQ(SeenTrace(printed.out).lines.size(), 4u);
}

TEST(PerfettoTraceTest, MarksAreInstants) {
  TempFile file(SmallRun().Build());
  const Printed printed =
      Report({"export", file.path(), "--format", "perfetto"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const SeenTrace seen(printed.out);
  EXPECT_THAT(seen.lines, Contains("MainThread 250000 ! half"));
  EXPECT_EQ(seen.highest.at("RSS"), 13 << 20);
  EXPECT_EQ(seen.highest.at("highest RSS (VmHWM)"), 14 << 20);
}

TEST(PerfettoTraceTest, LiveHeapIsACounterOfEachLine) {
  TempFile file(HeapRun().Build());
  const Printed printed =
      Report({"export", file.path(), "--format", "perfetto"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const SeenTrace seen(printed.out);
  EXPECT_THAT(seen.counters, Contains("live heap"));
  EXPECT_EQ(seen.highest.at("live heap, /job.py:5 load"), 1000);
  EXPECT_EQ(seen.highest.at("live heap, /job.py:6 load"), 5000);
}

TEST(PerfettoTraceTest, NamesMayBeAnyBytes) {
  StringSink sink;
  OutputBuffer output(&sink);
  PerfettoTrace trace(&output);
  trace.SetProcess(RunBuilder::DefaultHeader());
  const uint32_t track = trace.AddThread({1, 7, "a\xff\x1b[31m"});
  SliceName name;
  name.kind = SliceName::kOwn;
  name.name = "\xc3(";
  name.file = "\xed\xb2\x80.py";
  trace.Begin(track, 1, trace.AddName(name));
  trace.End(track, UINT64_MAX, {});
  EXPECT_TRUE(output.Flush().ok());
  const SeenTrace seen(sink.contents());
  EXPECT_THAT(seen.threads, ElementsAre("a\\xff\\x1b[31m 4711/7"));
  EXPECT_THAT(seen.lines[0], HasSubstr("\\xc3( [own] \\udc80.py:0"));
}

TEST(PerfettoTraceTest, LanesBelongToTheirThreads) {
  StringSink sink;
  OutputBuffer output(&sink);
  PerfettoTrace trace(&output);
  trace.SetProcess(RunBuilder::DefaultHeader());
  const uint32_t thread = trace.AddThread({1, 7, "worker"});
  EXPECT_EQ(trace.AddThread({1, 7, "worker"}), thread);
  trace.AddLane(thread, "GIL");
  EXPECT_TRUE(output.Flush().ok());
  track_events::Trace packets;
  EXPECT_TRUE(packets.ParseFromString(sink.contents()));
  const auto& of_thread = packets.packets(2).track();
  const auto& lane = packets.packets(3).track();
  EXPECT_EQ(lane.parent(), of_thread.uuid());
  EXPECT_EQ(lane.name(), "worker: GIL");
}

TEST(TraceOptionsTest, OptionsThatDoNotFitTheFormatAreRefused) {
  CallRun run;
  Printed printed = run.Report({"export", "--min-duration", "1ms"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err,
              HasSubstr("--min-duration 1ms needs --format perfetto or "
                        "chrome"));
  printed = run.Report({"export", "--format", "chrome", "--at", "end"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err,
              HasSubstr("--at end does not go with --format chrome"));
  printed =
      run.Report({"export", "--format", "chrome", "--min-duration", "fast"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("expected a time such as 60s or 500ms, "
                                     "found 'fast'"));
}

}  // namespace
}  // namespace pymemrun
