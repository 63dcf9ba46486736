#include "tracer/base/container_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pymemrun {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A made-up tree of control groups.
class ContainerMemoryTest : public testing::Test {
 protected:
  ContainerMemoryTest()
      : root_(std::filesystem::path(testing::TempDir()) / "groups") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~ContainerMemoryTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) {
    const auto path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void Write(const std::string& name, uint64_t number) {
    Write(name, std::to_string(number) + "\n");
  }
  uint64_t Left(const std::string& groups) {
    Write("groups", groups);
    return ContainerMemory::Left((root_ / "groups").c_str(), root_.c_str());
  }

  const std::filesystem::path root_;
};

TEST_F(ContainerMemoryTest, TheNarrowestGroupCounts) {
  Write("memory.max", "max\n");
  Write("a/memory.max", 100 * kMiB);
  Write("a/memory.current", 90 * kMiB);
  Write("a/b/memory.max", 80 * kMiB);
  Write("a/b/memory.current", 40 * kMiB);
  EXPECT_EQ(Left("0::/a/b\n"), 10 * kMiB);
  Write("a/memory.max", "max\n");
  EXPECT_EQ(Left("0::/a/b\n"), 40 * kMiB);
  EXPECT_EQ(Left("0::/\n"), ContainerMemory::kNoLimit);
}

TEST_F(ContainerMemoryTest, CachedFilesThatAreNotMappedAreFree) {
  Write("c/memory.max", 100 * kMiB);
  Write("c/memory.current", 100 * kMiB);
  Write("c/memory.stat", "anon 5\nfile_mapped " + std::to_string(8 * kMiB) +
                             "\ninactive_file " + std::to_string(20 * kMiB) +
                             "\nactive_file " + std::to_string(10 * kMiB) +
                             "\n");
  EXPECT_EQ(Left("0::/c\n"), 22 * kMiB);
}

TEST_F(ContainerMemoryTest, TheFirstVersionHasOtherNames) {
  Write("memory/d/memory.limit_in_bytes", 50 * kMiB);
  Write("memory/d/memory.usage_in_bytes", 49 * kMiB);
  Write("memory/d/memory.stat", "cache 1\ntotal_inactive_file 4096\n");
  EXPECT_EQ(Left("9:pids:/x\n4:cpu,memory:/d\n0::/\n"), kMiB + 4096);
  EXPECT_EQ(Left("4:hugememory:/d\n"), ContainerMemory::kNoLimit);
}

TEST_F(ContainerMemoryTest, WithinAContainerItsOwnGroupIsTheRoot) {
  Write("memory/memory.limit_in_bytes", 50 * kMiB);
  Write("memory/memory.usage_in_bytes", 60 * kMiB);  // just lowered
  EXPECT_EQ(Left("4:memory:/docker/0123\n"), 0u);
}

TEST_F(ContainerMemoryTest, WithoutGroupsThereIsNoLimit) {
  EXPECT_EQ(Left(""), ContainerMemory::kNoLimit);
  EXPECT_EQ(Left("nonsense\n0::/../..\n"), ContainerMemory::kNoLimit);
  EXPECT_GE(ContainerMemory::NeededForCopy(), 4 * kMiB);
}

}  // namespace
}  // namespace pymemrun
