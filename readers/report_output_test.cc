#include "readers/report_output.h"

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

TEST_F(ReplacedFileTest, PermissionsStayAndNewFilesHaveTheUsualOnes) {
  Put("out", "old");
  chmod(Path("out").c_str(), 0640);
  ASSERT_TRUE(Create("out")->Commit().ok());
  struct stat info;
  ASSERT_EQ(stat(Path("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  const mode_t mask = umask(027);
  ASSERT_TRUE(Create("new")->Commit().ok());
  umask(mask);
  ASSERT_EQ(stat(Path("new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST_F(ReplacedFileTest, ALinkStaysAndItsFileIsReplaced) {
  Put("out", "old");
  ASSERT_EQ(symlink("out", Path("link").c_str()), 0);
  auto file = Create("link");
  ASSERT_TRUE(file->Append("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Get("out"), "new");
  struct stat info;
  ASSERT_EQ(lstat(Path("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
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
  auto file = Create("link");
  EXPECT_TRUE(file->Replaces(Path("out")));
  EXPECT_TRUE(
      file->Replaces(Path("../") + std::string(folder_).substr(5) + "/out"));
  EXPECT_FALSE(file->Replaces(Path("other")));
  EXPECT_FALSE(file->Replaces(Path("nothing")));
  EXPECT_FALSE(Create("new")->Replaces(Path("new")));
}

}  // namespace
}  // namespace pymemrun
