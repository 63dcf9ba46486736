#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/python/path_python.h"
#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

constexpr uid_t kNobody = 65534;

class OthersAccessTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ = folder_.Write("a/b/file", "");
    for (const char* name : {"a", "a/b", "a/b/file"}) Allow(name, 0755);
    Allow("", 0700);
  }
  void Allow(const std::string& name, mode_t mode) {
    ASSERT_EQ(chmod((folder_ / name).c_str(), mode), 0);
  }

  TestFolder folder_;
  std::string file_;
};

TEST_F(OthersAccessTest, OnesOwnFilesAreOnesOwn) {
  EXPECT_EQ(OthersMayChange(file_), "");
  EXPECT_EQ(OthersMayChange(folder_ / "a/../a//b/./file"), "");
}

TEST_F(OthersAccessTest, APlaceWhereAllMayWriteIsNamed) {
  for (const char* name : {"a", "a/b", "a/b/file"}) {
    Allow(name, 0777);
    EXPECT_EQ(OthersMayChange(file_), folder_ / name);
    Allow(name, 0755);
  }
}

TEST_F(OthersAccessTest, NamesInAStickyFolderAreTheirOwners) {
  Allow("a", 01777);
  EXPECT_EQ(OthersMayChange(file_), "");
}

TEST_F(OthersAccessTest, LinksAreFollowedToTheirEnds) {
  std::filesystem::create_symlink("../a/b", folder_ / "a/link");
  EXPECT_EQ(OthersMayChange(folder_ / "a/link/file"), "");
  Allow("a/b", 0777);
  EXPECT_EQ(OthersMayChange(folder_ / "a/link/file"), folder_ / "a/b");
  std::filesystem::create_symlink("loop", folder_ / "a/loop");
  EXPECT_EQ(OthersMayChange(folder_ / "a/loop"), folder_ / "a/loop");
}

TEST_F(OthersAccessTest, WhatIsMissingOthersCouldMake) {
  EXPECT_EQ(OthersMayChange(folder_ / "a/gone/file"), folder_ / "a/gone");
}

TEST_F(OthersAccessTest, AnotherUsersFilesAreTheirs) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(lchown((folder_ / "a/b").c_str(), kNobody, 0), 0);
  EXPECT_EQ(OthersMayChange(file_), folder_ / "a/b");
}

TEST_F(OthersAccessTest, AGroupOfOnesOwnMayWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Allow("a", 0775);
  ASSERT_EQ(chown((folder_ / "a").c_str(), 0, 0), 0);
  EXPECT_EQ(OthersMayChange(file_), "");
  for (const gid_t group : {gid_t{65534}, gid_t{4000000}}) {
    ASSERT_EQ(chown((folder_ / "a").c_str(), 0, group), 0);
    EXPECT_EQ(OthersMayChange(file_), folder_ / "a") << group;
  }
}

}  // namespace
}  // namespace pymemrun
