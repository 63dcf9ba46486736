#include "tracer/objects/dump_name.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(DumpNameTest, AreNumberedBesideTheirRun) {
  char name[64];
  ASSERT_TRUE(DumpName("/a.b/run.pb", 0, name, sizeof(name)));
  EXPECT_STREQ(name, "/a.b/run.obj.pb");
  ASSERT_TRUE(DumpName("/a.b/run", 12, name, sizeof(name)));
  EXPECT_STREQ(name, "/a.b/run.obj-12.pb");
  EXPECT_FALSE(DumpName("/a.b/run.pb", 0, name, 15));
  EXPECT_TRUE(DumpName("/a.b/run.pb", 0, name, 16));
}

TEST(DumpNameTest, SayWhetherTheyAreOfOneRun) {
  EXPECT_TRUE(AreDumpsOfOneRun("/a/run.obj-2.pb", "/a/run.obj.pb"));
  EXPECT_TRUE(AreDumpsOfOneRun("/a/run.obj.pb", "/a/run.obj-7.pb"));
  EXPECT_FALSE(AreDumpsOfOneRun("/a/run.obj-2.pb", "/a/run2.obj.pb"));
  EXPECT_FALSE(AreDumpsOfOneRun("/a/run.obj-2.pb", "/b/run.obj.pb"));
  EXPECT_FALSE(AreDumpsOfOneRun("/a/run.obj-2.pb", "/a/run.2.obj.pb"));
  EXPECT_FALSE(AreDumpsOfOneRun("/a/run.obj-2.pb", ""));
  EXPECT_FALSE(AreDumpsOfOneRun("run", "run"));
}

}  // namespace
}  // namespace pymemrun
