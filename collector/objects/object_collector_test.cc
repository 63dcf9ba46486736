// The collector of a dump with a real pipe, file and status page.
#include "collector/objects/object_collector.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "collector/objects/walk_for_tests.h"
#include "format/records/record_decoder.h"
#include "format/stream/stream_reader.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

class ObjectCollectorTest : public testing::Test {
 protected:
  ObjectCollectorTest()
      : output_(memfd_create("output", 0)), status_fd_(memfd_create("s", 0)) {
    int ends[2];
    if (pipe(ends) != 0 || ftruncate(status_fd_, kObjectStatusBytes) != 0) {
      abort();
    }
    read_end_ = ends[0];
    write_end_ = ends[1];
    status_ = static_cast<ObjectStatus*>(mmap(nullptr, kObjectStatusBytes,
                                              PROT_READ | PROT_WRITE,
                                              MAP_SHARED, status_fd_, 0));
  }
  ~ObjectCollectorTest() override {
    munmap(status_, kObjectStatusBytes);
    for (const int fd : {output_, status_fd_, read_end_}) close(fd);
    if (write_end_ >= 0) close(write_end_);
  }

  // Collects while `bytes` come, and then the end of the pipe.
  int CollectAll(const std::string& bytes) {
    std::thread writer([&] {
      EXPECT_EQ(write(write_end_, bytes.data(), bytes.size()),
                static_cast<ssize_t>(bytes.size()));
      close(write_end_);
    });
    const int result =
        CollectObjects({read_end_, output_, status_fd_}, place_, -1, 60000);
    writer.join();
    write_end_ = -1;
    return result;
  }
  uint64_t FileBytes() const {
    return static_cast<uint64_t>(lseek(output_, 0, SEEK_END));
  }
  // What readers find in the file.
  ObjectsEnd EndOfFile() {
    struct EndKeeper : RecordVisitor {
      void OnObjectsEnd(const ObjectsEnd& e) override { end = e; }
      ObjectsEnd end;
    } keeper;
    lseek(output_, 0, SEEK_SET);
    FdSource source(output_);
    auto reader = StreamReader::Create(&source, {});
    RecordDecoder decoder(&keeper);
    absl::string_view record;
    while (reader->Next(&record) == StreamReader::Result::kRecord) {
      const absl::Status status = decoder.Decode(record);
      EXPECT_TRUE(status.ok()) << status;
    }
    return keeper.end;
  }

  int output_, status_fd_, read_end_, write_end_;
  DumpPlace place_ = {};
  ObjectStatus* status_;
};

TEST_F(ObjectCollectorTest, WritesTheFileAndSaysHowItWent) {
  status_->pause_us_plus_1 = 5001;
  EXPECT_EQ(CollectAll(SmallWalk()), 0);
  EXPECT_EQ(status_->done, 1u);
  EXPECT_EQ(status_->whole, 1u);
  EXPECT_EQ(status_->outcome, static_cast<uint32_t>(ObjectsEnd::COMPLETE));
  EXPECT_EQ(status_->objects, 3u);
  EXPECT_EQ(status_->references, 4u);
  EXPECT_EQ(status_->duration_us, 99u);
  EXPECT_EQ(status_->file_bytes, FileBytes());
  EXPECT_EQ(status_->writer, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(EndOfFile().objects(), 3u);
}

TEST_F(ObjectCollectorTest, AChildThatDiesLeavesWhatItSaid) {
  status_->pause_us_plus_1 = 1;
  const std::string walk = SmallWalk();
  EXPECT_NE(CollectAll(walk.substr(0, walk.size() - 60)), 0);
  EXPECT_EQ(status_->done, 1u);
  EXPECT_EQ(status_->whole, 0u);
  EXPECT_EQ(status_->outcome, static_cast<uint32_t>(ObjectsEnd::STOPPED));
  EXPECT_EQ(EndOfFile().outcome(), ObjectsEnd::STOPPED);
  EXPECT_EQ(EndOfFile().objects(), 2u);
}

// Unless it is cut off, or its name is another file's.
TEST_F(ObjectCollectorTest, ACompleteDumpTakesThePlaceOfAnEarlierOne) {
  status_->pause_us_plus_1 = 1;
  char folder[] = "/tmp/placeXXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string file = folder + std::string("/run.obj-1.pb"),
                    earlier = folder + std::string("/run.obj.pb");
  const auto make = [](const std::string& path) {
    return open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  };
  const auto collect = [&](const std::string& walk, bool is_ours) {
    close(make(earlier));
    int ends[2];
    if (write_end_ < 0 && pipe(ends) == 0) {
      dup2(ends[0], read_end_);
      close(ends[0]);
      write_end_ = ends[1];
    }
    unlink(file.c_str());
    const int fd = make(file);
    if (is_ours) dup2(fd, output_);
    close(fd);
    place_ = {file.c_str(), earlier.c_str()};
    CollectAll(walk);
    struct stat now;
    return stat(earlier.c_str(), &now) == 0 && now.st_size > 0 &&
           access(file.c_str(), F_OK) != 0;
  };
  const std::string walk = SmallWalk();
  EXPECT_FALSE(collect(walk, /*is_ours=*/false));
  EXPECT_FALSE(collect(walk.substr(0, walk.size() - 60), /*is_ours=*/true));
  EXPECT_TRUE(collect(walk, /*is_ours=*/true));
  EXPECT_EQ(EndOfFile().objects(), 3u);
  unlink(earlier.c_str());
  unlink(file.c_str());
  rmdir(folder);
}

TEST_F(ObjectCollectorTest, AChildThatIsSilentIsKilled) {
  status_->pause_us_plus_1 = 1;
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  const int walker = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  const std::string begin = WalkBegin();
  ASSERT_EQ(write(write_end_, begin.data(), begin.size()),
            static_cast<ssize_t>(begin.size()));
  EXPECT_NE(CollectObjects({read_end_, output_, status_fd_}, {}, walker, 50),
            0);
  int ended = 0;
  EXPECT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
  close(walker);
  EXPECT_EQ(EndOfFile().outcome(), ObjectsEnd::STOPPED);
}

TEST_F(ObjectCollectorTest, AFullDiskIsTold) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  dup2(full, output_);
  close(full);
  status_->pause_us_plus_1 = 1;
  EXPECT_NE(CollectAll(SmallWalk()), 0);
  EXPECT_EQ(status_->whole, 0u);
  EXPECT_EQ(status_->write_errno, ENOSPC);
}

}  // namespace
}  // namespace pymemrun
