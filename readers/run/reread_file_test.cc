#include "readers/run/reread_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

class Nothing final : public ReplayVisitor {
 public:
  void Finish() override {}
};

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
    char text[4096];
    const ssize_t size = read(terminal_, text, sizeof text);
    return std::string(text, size < 0 ? 0 : size);
  }

  std::string run_;
  const int terminal_ = posix_openpt(O_RDWR | O_NOCTTY);
  int err_ = -1;
};

TEST_F(RereadFileTest, ShowsOnATerminalHowFarALongReadingIs) {
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

}  // namespace
}  // namespace pymemrun
