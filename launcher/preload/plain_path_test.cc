#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "launcher/preload/delivery.h"
#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

class PlainPathTest : public ::testing::Test {
 protected:
  const TestFolder folder_;
  const std::string place_ = folder_ / "place";
  const std::string own_ = place_ + "/pymemrun-" + std::to_string(geteuid());
  // In a folder whose name LD_PRELOAD cannot have.
  const std::string object_ = folder_.Write("a b:c/x.so", "text");

  PlainPathTest() { mkdir(place_.c_str(), 0755); }
};

TEST_F(PlainPathTest, APlainPathIsItself) {
  EXPECT_EQ(PlainPathOf("/usr/lib/x.so", {}), "/usr/lib/x.so");
}

TEST_F(PlainPathTest, AnotherIsReachedThroughALinkThatStays) {
  const std::string plain = PlainPathOf(object_, {place_});
  EXPECT_EQ(plain.find_first_of(": "), std::string::npos);
  EXPECT_EQ(TestFolder::Read(plain), "text");
  EXPECT_EQ(PlainPathOf(object_, {place_}), plain);
}

TEST_F(PlainPathTest, AFolderThatOthersMayWriteToIsPassedOver) {
  mkdir(own_.c_str(), 0755);
  chmod(own_.c_str(), 0777);
  EXPECT_EQ(PlainPathOf(object_, {place_}), "");
  EXPECT_EQ(TestFolder::Read(PlainPathOf(object_, {place_, folder_ / "."})),
            "text");
}

TEST_F(PlainPathTest, ALinkInThePlaceOfTheFolderIsNotFollowed) {
  mkdir((place_ + "/other").c_str(), 0755);
  ASSERT_EQ(symlink("other", own_.c_str()), 0);
  EXPECT_EQ(PlainPathOf(object_, {place_}), "");
}

TEST_F(PlainPathTest, ALinkThatLeadsElsewhereIsNotTaken) {
  const std::string plain = PlainPathOf(object_, {place_});
  const std::string link = plain.substr(0, plain.rfind('/'));
  unlink(link.c_str());
  ASSERT_EQ(symlink("/usr", link.c_str()), 0);
  EXPECT_EQ(PlainPathOf(object_, {place_}), "");
}

TEST_F(PlainPathTest, APlaceThatIsNotPlainItselfDoesNotDo) {
  EXPECT_EQ(PlainPathOf(object_, {folder_ / "a b:c", "/no/where"}), "");
}

}  // namespace
}  // namespace pymemrun
