#include "readers/output/report_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

class ReplacedFileTest : public ::testing::Test {
 protected:
  ReplacedFileTest() { EXPECT_NE(mkdtemp(folder_), nullptr); }
  ~ReplacedFileTest() override {
    (void)!system(("rm -rf " + std::string(folder_)).c_str());
  }
  std::string Path(const std::string& name) const {
    return std::string(folder_) + "/" + name;
  }
  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  std::string Get(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int Entries() const {
    DIR* folder = opendir(folder_);
    int count = -2;  // . and ..
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
  }
  std::unique_ptr<ReplacedFile> Create(const std::string& name) const {
    auto file = ReplacedFile::Create(Path(name));
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }

  char folder_[32] = "/tmp/report_output.XXXXXX";
};

TEST_F(ReplacedFileTest, TheNewFileComesAsAWhole) {
  Put("out", "old");
  auto file = Create("out");
  ASSERT_TRUE(file->Append("new ").ok());
  ASSERT_TRUE(file->Append("text").ok());
  EXPECT_EQ(Get("out"), "old");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Get("out"), "new text");
  EXPECT_EQ(Entries(), 1);
}

TEST_F(ReplacedFileTest, WhatIsNotCommittedLeavesTheOldFileAndNoOther) {
  Put("out", "old");
  {
    auto file = Create("out");
    ASSERT_TRUE(file->Append("half").ok());
  }
  EXPECT_EQ(Get("out"), "old");
  EXPECT_EQ(Entries(), 1);
  Create("never");
  EXPECT_EQ(Entries(), 1);
}

TEST_F(ReplacedFileTest, AnEmptyReportIsAFileToo) {
  ASSERT_TRUE(Create("out")->Commit().ok());
  EXPECT_EQ(Get("out"), "");
  EXPECT_EQ(Entries(), 1);
}

TEST_F(ReplacedFileTest, WithAnotherModeTheUmaskCounts) {
  const mode_t before = umask(027);
  auto file = ReplacedFile::Create(Path("out"), 0666);
  ASSERT_TRUE(file.ok() && (*file)->Commit().ok());
  umask(before);
  struct stat info;
  ASSERT_EQ(stat(Path("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST_F(ReplacedFileTest, AReportIsItsOwnersAloneWhateverTheUmask) {
  Put("out", "old");
  chmod(Path("out").c_str(), 0644);
  for (const mode_t mask : {000u, 022u, 0277u}) {
    const mode_t before = umask(mask);
    for (const std::string name : {"out", "new"}) {
      ASSERT_TRUE(Create(name)->Commit().ok());
      struct stat info;
      ASSERT_EQ(stat(Path(name).c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 07777, 0600u) << name;
    }
    umask(before);
    unlink(Path("new").c_str());
  }
}

TEST_F(ReplacedFileTest, ALinkIsNotFollowed) {
  Put("out", "old");
  ASSERT_EQ(symlink("out", Path("link").c_str()), 0);
  ASSERT_EQ(symlink("nothing", Path("dangling").c_str()), 0);
  for (const std::string name : {"link", "dangling"}) {
    EXPECT_EQ(ReplacedFile::Create(Path(name)).status().message(),
              "is a symbolic link: name the file itself");
  }
  EXPECT_EQ(Get("out"), "old");
  EXPECT_EQ(Entries(), 3);
}

TEST_F(ReplacedFileTest, ALinkThatComesMeanwhileIsNotFollowed) {
  Put("target", "old");
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  auto pipe = Create("pipe");
  auto made = Create("new");
  for (const std::string name : {"pipe", "new"}) {
    unlink(Path(name).c_str());
    ASSERT_EQ(symlink("target", Path(name).c_str()), 0);
  }
  EXPECT_FALSE(pipe->Append("text").ok());
  ASSERT_TRUE(made->Append("text").ok());
  ASSERT_TRUE(made->Commit().ok());  // it takes the link's place
  EXPECT_EQ(Get("target"), "old");
  EXPECT_EQ(Get("new"), "text");
}

TEST_F(ReplacedFileTest, WhatStandsInTheWayIsSaidAtOnce) {
  EXPECT_EQ(ReplacedFile::Create(folder_).status().message(), "Is a directory");
  EXPECT_EQ(ReplacedFile::Create("/nowhere/x").status().message(),
            "No such file or directory");
  if (geteuid() == 0) return;  // nothing is forbidden
  Put("out", "old");
  chmod(Path("out").c_str(), 0444);
  EXPECT_EQ(ReplacedFile::Create(Path("out")).status().message(),
            "Permission denied");
}

TEST_F(ReplacedFileTest, DevicesAreWrittenAsTheyAre) {
  auto full = ReplacedFile::Create("/dev/full");
  ASSERT_TRUE(full.ok());
  EXPECT_FALSE((*full)->Append("x").ok());
  EXPECT_EQ((*full)->last_errno(), ENOSPC);
  auto null = ReplacedFile::Create("/dev/null");
  ASSERT_TRUE(null.ok());
  EXPECT_TRUE((*null)->Append("x").ok());
  EXPECT_TRUE((*null)->Commit().ok());
}

TEST_F(ReplacedFileTest, ADescriptorIsWrittenBehindWhatItHas) {
  Put("out", "before ");
  const int fd = open(Path("out").c_str(), O_WRONLY);
  ASSERT_GE(fd, 0);
  auto file = ReplacedFile::Create("/proc/self/fd/" + std::to_string(fd));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append("after").ok());
  ASSERT_TRUE((*file)->Commit().ok());
  close(fd);
  EXPECT_EQ(Get("out"), "before after");
}

TEST_F(ReplacedFileTest, KnowsItsFileByWhateverName) {
  Put("out", "old");
  Put("other", "other");
  ASSERT_EQ(symlink("out", Path("link").c_str()), 0);
  auto file = Create("out");
  EXPECT_TRUE(file->Replaces(Path("link")));
  EXPECT_TRUE(
      file->Replaces(Path("../") + std::string(folder_).substr(5) + "/out"));
  EXPECT_FALSE(file->Replaces(Path("other")));
  EXPECT_FALSE(file->Replaces(Path("nothing")));
  EXPECT_FALSE(Create("new")->Replaces(Path("new")));
}

}  // namespace
}  // namespace pymemrun
