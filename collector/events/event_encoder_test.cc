#include "collector/events/event_encoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/events/event_encoder_fixture.h"

namespace pymemrun {
namespace {

TEST_F(EventEncoderTest, ARowCarriesAllThatWasSaid) {
  stream_.Code(7, "a.py", "f", 10);
  stream_.Function(3, "list.append");
  stream_.Thread(2, 4711, "MainThread");
  stream_.State(ControlKind::kThread, 2);
  stream_.Wide(ControlKind::kNumber, uint64_t{1} << 33);
  stream_.State(ControlKind::kRss, 500, static_cast<uint32_t>(-3), kRssInexact);
  stream_.Row(2, 7, 0, 3, 1000 + 5000000);
  stream_.Row(3, 7, 0, 3, 1000 + 5000999, true);
  stream_.Row(1, 7, 0, 0, 1000 + 5001000);
  Send(2);
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), 3u);
  const Row& first = out_.rows[0];
  EXPECT_EQ(first.number, uint64_t{1} << 33);
  EXPECT_EQ(first.time_us, 5000u);
  EXPECT_EQ(first.rss_bytes, 500u * 4096);
  EXPECT_EQ(first.drss_bytes, -3 * 4096);
  EXPECT_FALSE(first.exact);
  EXPECT_FALSE(first.context);
  EXPECT_EQ(first.what, C_CALL);
  EXPECT_EQ(out_.rows[1].time_us, 5000u);
  EXPECT_TRUE(out_.rows[1].context);
  EXPECT_FALSE(out_.rows[1].exact);  // the same estimate
  EXPECT_EQ(out_.rows[1].drss_bytes, 0);
  EXPECT_EQ(out_.rows[1].rss_bytes, 500u * 4096);
  EXPECT_EQ(out_.rows[2].time_us, 5001u);
  EXPECT_EQ(out_.rows[2].number, (uint64_t{1} << 33) + 2);
  const SiteDef& site = out_.sites[first.site - 1];
  EXPECT_EQ(out_.codes[site.code() - 1].name(), "f");
  EXPECT_EQ(site.line(), 10u);
  EXPECT_EQ(out_.functions[site.function() - 1].qualname(), "list.append");
  EXPECT_EQ(out_.threads[first.thread - 1].native_id(), 4711u);
  EXPECT_EQ(encoder_.totals().max_rss_bytes, 500u * 4096);
}

TEST_F(EventEncoderTest, StampsBelowTheRowBeforeAreCounted) {
  stream_.Code(1, "a.py", "f");
  stream_.Row(0, 1, 0, 0, 1000 + 9000000);
  stream_.Row(0, 1, 0, 0, 1000 + 9000000 - 300);  // a little
  stream_.Wide(ControlKind::kClock, 1000 + 2000000);
  stream_.Row(0, 1, 0, 0, 1000 + 2000000);  // a lot
  stream_.Wide(ControlKind::kClock, 1000 + 9500000);
  stream_.Row(0, 1, 0, 0, 1000 + 9500000);
  Send(1);
  encoder_.EndBatch();
  EXPECT_EQ(encoder_.totals().clock_steps_back, 2u);
  EXPECT_EQ(encoder_.totals().worst_clock_step_back, 7000000u);
  std::vector<uint64_t> times;
  for (const Row& r : out_.rows) times.push_back(r.time_us);
  EXPECT_EQ(times, (std::vector<uint64_t>{9000, 9000, 9000, 9500}));
}

// What the random stream means, worked out row by row.
struct Model {
  uint64_t number = 0, stamp = 1000, rss = 0;
  uint32_t thread = 0;
  bool exact = true;
};

TEST_F(EventEncoderTest, RandomStreamsComeBackRowByRow) {
  Model model;
  std::vector<Row> expected;
  for (uint32_t id = 1; id <= 300; ++id) {
    stream_.Code(id, "f.py", absl::StrCat("f", id), id);
  }
  for (uint32_t id = 1; id <= 5; ++id) stream_.Thread(id, 100 + id, "t");
  for (int i = 0; i < 300000; ++i) {
    Row row = {};
    const uint32_t kind = random_() % 50;
    if (i == 0 || kind == 0) {
      stream_.State(ControlKind::kThread, model.thread = 1 + random_() % 5);
    }
    if (kind == 1) {
      model.number += random_() % 100;
      stream_.Wide(ControlKind::kNumber, model.number);
    }
    if (kind == 2 || kind == 3) {
      const uint32_t pages = random_() % 100000;
      const int32_t step = static_cast<int32_t>(random_() % 200) - 100;
      stream_.State(ControlKind::kRss, pages, static_cast<uint32_t>(step),
                    kind == 3 ? kRssInexact : 0);
      model.rss = pages * uint64_t{4096};
      model.exact = kind == 2;
      row.drss_bytes = step * 4096;
    }
    if (kind == 4) {
      model.stamp += uint64_t{5} << 32;
      stream_.Wide(ControlKind::kClock, model.stamp);
    }
    model.stamp += random_() % 100;
    row.context = kind == 5;
    row.exact = model.exact;
    row.number = model.number++;
    row.time_us = (model.stamp - 1000) / 1000;
    row.rss_bytes = model.rss;
    row.thread = model.thread;
    row.what = static_cast<What>(random_() % 2);
    const uint32_t code = 1 + random_() % 300;
    stream_.Row(row.what, code, random_() % 3, 0, model.stamp, row.context);
    row.site = code;  // compared by what the site says
    expected.push_back(row);
  }
  Send(3000);
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Row& got = out_.rows[i];
    const Row& want = expected[i];
    ASSERT_EQ(got.number, want.number) << i;
    ASSERT_EQ(got.time_us, want.time_us) << i;
    ASSERT_EQ(got.rss_bytes, want.rss_bytes) << i;
    ASSERT_EQ(got.drss_bytes, want.drss_bytes) << i;
    ASSERT_EQ(out_.threads[got.thread - 1].native_id(), 100 + want.thread) << i;
    ASSERT_EQ(got.context, want.context) << i;
    ASSERT_EQ(got.exact, want.exact) << i;
    ASSERT_EQ(got.what, want.what) << i;
    ASSERT_EQ(out_.sites[got.site - 1].line(), want.site) << i;
  }
  // One code, two kinds, one line: positions of one line are one site.
  EXPECT_EQ(out_.sites.size(), 600u);
  EXPECT_EQ(encoder_.bad_slots(), 0u);
}

TEST_F(EventEncoderTest, ForgottenIdsMeanWhatTheyAreGivenNext) {
  for (int round = 0; round < 50; ++round) {
    stream_.Code(1, "x.py", round % 2 == 0 ? "one" : "two", 1 + round % 2);
    stream_.Row(0, 1, 4, 0, 1000);
    stream_.Row(1, 1, 4, 0, 1000);
    stream_.State(ControlKind::kForget, 0, 0,
                  static_cast<uint32_t>(ControlKind::kCode));
  }
  Send();
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), 100u);
  for (size_t i = 0; i < 100; ++i) {
    const SiteDef& site = out_.sites[out_.rows[i].site - 1];
    EXPECT_EQ(out_.codes[site.code() - 1].name(), i / 2 % 2 ? "two" : "one");
  }
  EXPECT_EQ(out_.codes.size(), 2u);  // the file does not grow
  EXPECT_EQ(out_.sites.size(), 4u);
}

TEST_F(EventEncoderTest, AnIdRedefinedWithoutWarningIsNotConfused) {
  stream_.Code(1, "x.py", "old");
  stream_.Row(0, 1, 0, 0, 1000);
  stream_.Code(1, "x.py", "new");
  stream_.Row(0, 1, 0, 0, 1000);
  Send();
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), 2u);
  EXPECT_NE(out_.rows[0].site, out_.rows[1].site);
}

TEST_F(EventEncoderTest, UndefinedIdsStillMakeAReadableFile) {
  stream_.State(ControlKind::kThread, 9);
  stream_.Row(3, 12345, 1, 99, 1000);
  Send();
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), 1u);
  EXPECT_EQ(out_.codes.size(), 1u);
  EXPECT_EQ(out_.functions.size(), 1u);
  EXPECT_EQ(out_.threads.size(), 1u);
}

TEST_F(EventEncoderTest, StacksAreDefinedBeforeTheyAreUsed) {
  stream_.Code(1, "x.py", "f", 3);
  stream_.Row(0, 1, 0, 0, 1000);
  stream_.Payload(ControlKind::kStackDef, 1,
                  SlotStream::Bytes(StackPayload{0, 1, 0, 0}));
  stream_.Payload(ControlKind::kStackDef, 2,
                  SlotStream::Bytes(StackPayload{1, 1, 0, 0}));
  stream_.State(ControlKind::kStack, 2);
  stream_.Row(0, 1, 0, 0, 1000);
  stream_.Row(1, 1, 0, 0, 1000);
  Send();
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), 3u);
  EXPECT_EQ(out_.rows[0].stack, 0u);
  EXPECT_EQ(out_.rows[1].stack, 2u);
  EXPECT_EQ(out_.rows[2].stack, 0u);
  ASSERT_EQ(out_.stacks.size(), 2u);
  EXPECT_EQ(out_.stacks[1].parent(), 1u);
  EXPECT_EQ(out_.stacks[1].line(), 3u);
}

TEST_F(EventEncoderTest, FactsStandBetweenTheirRows) {
  stream_.Row(0, 1, 0, 0, 1000);
  stream_.Payload(ControlKind::kMark, 0,
                  SlotStream::Bytes(MarkPayload{1, 2501000, 3, 0, 0}) +
                      SlotStream::Text("here"));
  stream_.Payload(ControlKind::kLoss, 0,
                  SlotStream::Bytes(LossPayload{5, 1, 6, 1000}));
  stream_.Wide(ControlKind::kNumber, 7);
  stream_.Row(1, 1, 0, 0, 1000);
  stream_.Payload(ControlKind::kPeak, 0,
                  SlotStream::Bytes(PeakPayload{100, 7, 8, 1000}));
  stream_.Payload(ControlKind::kGauge, 0,
                  SlotStream::Bytes(GaugePayload{8, 1000, GaugeSource::kHints,
                                                 GaugeSource::kFaults}) +
                      SlotStream::Text("why"));
  stream_.Payload(ControlKind::kProfilerGap, 0,
                  SlotStream::Bytes(GapPayload{8, 9, 1000, 2000, 0, 0}));
  stream_.Payload(ControlKind::kPause, 0,
                  SlotStream::Bytes(PausePayload{8, 1000, 2000, 5, 7}));
  stream_.Payload(ControlKind::kObjects, 0,
                  SlotStream::Bytes(ObjectsPayload{0, 2, 3, 4, 5, 6, 1, 0}) +
                      SlotStream::Text("run.obj.pb") + SlotStream::Text("why"));
  Send(3);
  std::vector<Record::KindCase> kinds;
  for (const Record& record : out_.records) {
    if (record.kind_case() >= Record::kEvents) {
      kinds.push_back(record.kind_case());
    }
  }
  EXPECT_EQ(kinds,
            (std::vector<Record::KindCase>{
                Record::kEvents, Record::kMark, Record::kLoss, Record::kEvents,
                Record::kPeak, Record::kGauge, Record::kProfilerGap,
                Record::kPause, Record::kObjectsDumped}));
  const ObjectsDumped& dumped = out_.records.back().objects_dumped();
  EXPECT_EQ(dumped.reason(), OBJECTS_AT_EXIT);
  EXPECT_EQ(dumped.pause_us() + dumped.duration_us(), 5u);
  EXPECT_EQ(dumped.file_bytes(), 4u);
  EXPECT_EQ(dumped.objects() + dumped.references(), 11u);
  EXPECT_EQ(dumped.file() + dumped.problem(), "run.obj.pbwhy");
  EXPECT_EQ(encoder_.dumps().count, 0u);  // not whole
  const Pause& pause = out_.records[out_.records.size() - 2].pause();
  EXPECT_EQ(pause.next_number(), 8u);
  EXPECT_LT(pause.from_us(), pause.to_us());
  EXPECT_EQ(pause.from_rss_bytes(), 5u * 4096);
  EXPECT_EQ(pause.to_rss_bytes(), 7u * 4096);
  EXPECT_EQ(encoder_.totals().peak.hwm_bytes(), 409600u);
  const GaugeChange& change = encoder_.totals().gauge_change;
  EXPECT_EQ(encoder_.totals().gauge_changes, 1u);
  EXPECT_EQ(change.number(), 8u);
  EXPECT_EQ(change.rss_source(), HINTS);
  EXPECT_EQ(change.old_rss_source(), FAULTS);
  EXPECT_EQ(change.reason(), "why");
  EXPECT_EQ(out_.rows[1].number, 7u);
}

TEST_F(EventEncoderTest, CountersAreBoundedInNameAndNumber) {
  const auto counter = [this](const std::string& name, uint64_t bits,
                              uint32_t is_real) {
    stream_.Payload(
        ControlKind::kCounter, 0,
        SlotStream::Bytes(CounterPayload{2501000, bits, 0, is_real}) +
            SlotStream::Text(name));
  };
  counter("queue", static_cast<uint64_t>(-3), 0);
  counter("load", uint64_t{0x3fe0000000000000}, 1);  // 0.5
  counter(std::string(300, 'x'), 1, 0);
  for (int i = 0; i < 1030; ++i) counter(std::to_string(i), 1, 0);
  counter("queue", 4, 0);
  stream_.Payload(
      ControlKind::kGcRun, 0,
      SlotStream::Bytes(GcRunPayload{1, 9000, 2000, 7, 1, 0, 2, 0, 0}));
  Send();
  std::vector<CounterValue> values;
  for (const Record& record : out_.records) {
    if (record.has_counter()) values.push_back(record.counter());
  }
  ASSERT_EQ(values.size(), 1024u + 1);
  EXPECT_EQ(values[0].whole(), -3);
  EXPECT_EQ(values[1].real(), 0.5);
  EXPECT_EQ(values[2].name(), std::string(200, 'x'));
  EXPECT_EQ(values.back().whole(), 4);
  EXPECT_EQ(encoder_.refused_counters(), 1030u + 3 - 1024);
  const GcRun& run = out_.records.back().gc_run();
  EXPECT_EQ(run.begin_us(), run.time_us());  // it cannot end before it began
  EXPECT_EQ(run.generation(), 2u);
  EXPECT_EQ(run.collected() + run.uncollectable(), 8u);
}

TEST_F(EventEncoderTest, LongDefinitionsComeInPieces) {
  const std::string name(150000, 'n');
  const std::string payload = SlotStream::CodeBytes("x.py", name, 1, "");
  absl::string_view rest = payload;
  while (rest.size() > kMaxChunkBytes) {
    stream_.Payload(ControlKind::kChunk, 1, rest.substr(0, kMaxChunkBytes));
    rest.remove_prefix(kMaxChunkBytes);
  }
  stream_.Payload(ControlKind::kCode, 1, rest);
  stream_.Code(2, "y.py", "short");
  Send(700);
  ASSERT_EQ(out_.codes.size(), 2u);
  EXPECT_EQ(out_.codes[0].name(), name);
  EXPECT_EQ(out_.codes[1].name(), "short");
}

TEST_F(EventEncoderTest, NamesAreCutToWhatReadersAccept) {
  // Characters of two bytes; the limit is within one.
  std::string name = "n";
  while (name.size() < 3 * kMaxKnownRecordBytes / 4) name += "\xc3\xa9";
  const std::string payload = SlotStream::CodeBytes(name, name, 1, "");
  absl::string_view rest = payload;
  for (; rest.size() > kMaxChunkBytes; rest.remove_prefix(kMaxChunkBytes)) {
    stream_.Payload(ControlKind::kChunk, 1, rest.substr(0, kMaxChunkBytes));
  }
  stream_.Payload(ControlKind::kCode, 1, rest);
  Send(700);
  ASSERT_EQ(out_.codes.size(), 1u);
  EXPECT_EQ(out_.codes[0].name(), name.substr(0, kMaxNameBytes - 1));
  EXPECT_LT(out_.codes[0].ByteSizeLong(), kMaxKnownRecordBytes);
}

TEST_F(EventEncoderTest, NumbersThatWouldGoBackArePassedOver) {
  stream_.Wide(ControlKind::kNumber, 100);
  stream_.Row(0, 1, 0, 0, 1000);
  stream_.Wide(ControlKind::kNumber, 50);
  stream_.Row(0, 1, 0, 0, 1000);
  Send();
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), 2u);
  EXPECT_EQ(out_.rows[1].number, 101u);
  EXPECT_EQ(encoder_.bad_slots(), 1u);
}

TEST_F(EventEncoderTest, TimeNeverGoesBack) {
  stream_.Row(0, 1, 0, 0, 1000000);
  stream_.Row(0, 1, 0, 0, 1000000 - 5000);  // another processor's clock
  stream_.Row(0, 1, 0, 0, 1000000 + 2000);
  Send();
  encoder_.EndBatch();
  EXPECT_EQ(out_.rows[0].time_us, 999u);
  EXPECT_EQ(out_.rows[1].time_us, 999u);
  EXPECT_EQ(out_.rows[2].time_us, 1001u);
}

TEST_F(EventEncoderTest, NoiseInTheRingIsHarmless) {
  std::vector<EventSlot> noise(200000);
  for (EventSlot& slot : noise) {
    slot.what_and_code = static_cast<uint32_t>(random_() * 2);
    slot.position = static_cast<uint32_t>(random_() % 70000);
    slot.function = static_cast<uint32_t>(random_());
    slot.tsc_low = static_cast<uint32_t>(random_());
  }
  encoder_.Consume(noise.data(), noise.size());
  encoder_.EndBatch();
  EXPECT_GT(encoder_.bad_slots(), 0u);
}

}  // namespace
}  // namespace pymemrun
