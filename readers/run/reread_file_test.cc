#include "readers/run/reread_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/heap_run_builder.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

class Nothing final : public ReplayVisitor {
 public:
  void Finish() override {}
};

// Counts what it is given, until it was given this many events.
class Counter final : public ReplayVisitor {
 public:
  explicit Counter(HeapUse use, uint64_t most_events = kEnd)
      : use_(use), most_events_(most_events) {}
  HeapUse heap_use() const override { return use_; }
  void OnHeapBatch(const HeapBatchFacts& facts) override {
    stated += facts.allocations + facts.frees;
  }
  bool OnHeap(const HeapEvent*, size_t count) override {
    events += count;
    return events < most_events_;
  }
  void OnFooter(const Footer&) override { ++footers; }
  void Finish() override { ++finished; }

  uint64_t stated = 0, events = 0;
  int footers = 0, finished = 0;

 private:
  const HeapUse use_;
  const uint64_t most_events_;
};

// Large enough to be read by two threads.
std::string LargeRun(uint64_t events) {
  StringSink bytes;
  BuildLargeHeapRun(events, &bytes);
  EXPECT_GT(bytes.contents().size(), size_t{1} << 20);
  return bytes.contents();
}

class RereadFileTest : public testing::Test {
 protected:
  RereadFileTest() {
    StringSink bytes;
    RunBuilder builder(&bytes);
    builder.AddHeader(RunBuilder::DefaultHeader());
    Record end;
    end.mutable_footer()->set_end_us(1000);
    builder.AddRecord(end);
    builder.Flush();
    run_ = bytes.contents();
    grantpt(terminal_);
    unlockpt(terminal_);
    err_ = open(ptsname(terminal_), O_RDWR | O_NOCTTY);
  }
  ~RereadFileTest() override {
    close(err_);
    close(terminal_);
  }
  // What the terminal was given.
  std::string Shown() {
    fcntl(terminal_, F_SETFL, O_NONBLOCK);
    std::string shown;
    char text[4096];
    ssize_t size = 0;
    while ((size = read(terminal_, text, sizeof text)) > 0) {
      shown.append(text, size);
    }
    return shown;
  }

  void ExpectShowsHowFarItIs() {
    const TempFolder folder;
    const std::string path = folder.path() + "/slow";
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] {
      const int fd = open(path.c_str(), O_WRONLY);
      absl::SleepFor(absl::Milliseconds(2100));
      EXPECT_EQ(write(fd, run_.data(), run_.size()),
                static_cast<ssize_t>(run_.size()));
      close(fd);
    });
    const Console console{"test", nullptr, 1, err_};
    const auto file = RereadFile::Open(path, console);
    writer.join();
    ASSERT_NE(file, nullptr);
    Nothing nothing;
    EXPECT_TRUE(file->Read(&nothing));
    const std::string shown = Shown();
    EXPECT_THAT(shown, testing::HasSubstr("] 100 %"));
    EXPECT_THAT(shown, testing::EndsWith("\r\x1b[K"));
  }

  std::string run_;
  const int terminal_ = posix_openpt(O_RDWR | O_NOCTTY);
  int err_ = -1;
};

TEST_F(RereadFileTest, ShowsOnATerminalHowFarALongReadingIs) {
  ExpectShowsHowFarItIs();
}

TEST_F(RereadFileTest, ShowsHowFarAReadingByTwoThreadsIs) {
  run_ = LargeRun(1 << 21);
  ExpectShowsHowFarItIs();
}

// Each gets what it wants, in the first reading as in a later one.
TEST_F(RereadFileTest, SeveralVisitorsShareAReading) {
  constexpr uint64_t kEvents = 1 << 21;
  const TempFolder folder;
  const std::string path = folder.path() + "/large";
  std::ofstream(path) << LargeRun(kEvents);
  const Console console{"test", nullptr, 1, err_};
  const auto file = RereadFile::Open(path, console);
  ASSERT_NE(file, nullptr);
  for (int reading = 0; reading < 2; ++reading) {
    Counter none(HeapUse::kNone), facts(HeapUse::kFacts);
    Counter few(HeapUse::kEvents, 1), all(HeapUse::kEvents);
    ASSERT_TRUE(file->Read({&none, &few, &all}, &facts));
    EXPECT_EQ(none.stated + none.events, 0u);
    EXPECT_EQ(facts.stated, all.events);
    EXPECT_EQ(facts.events, 0u);
    EXPECT_EQ(all.stated, all.events);
    EXPECT_GE(all.events, kEvents);
    EXPECT_GT(few.events, 0u);
    EXPECT_LT(few.events, kEvents / 100);
    EXPECT_EQ(none.footers + facts.footers + all.footers, 3);
    EXPECT_EQ(few.footers, 0);
    EXPECT_EQ(none.finished + few.finished + all.finished, 3);
    EXPECT_EQ(facts.finished, 0);
    Counter alone(HeapUse::kNone);
    EXPECT_TRUE(file->Read(&alone));
    EXPECT_EQ(alone.footers, 1);
  }
  EXPECT_TRUE(file->whole());
}

}  // namespace
}  // namespace pymemrun
