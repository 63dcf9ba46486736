#include "collector/definitions/mapping_table.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

struct Names final : RecordSink {
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    Record record;
    ASSERT_TRUE(record.ParseFromArray(bytes.data(), bytes.size()));
    EXPECT_EQ(record.mapping().id(), names.size());  // dense, from 1
    names.push_back(record.mapping().name());
  }
  std::vector<std::string> names = {"(none)"};
};

constexpr char kMaps[] =
    "00400000-00500000 r-xp 00000000 fe:00 9977913      /usr/bin/my program\n"
    "00500000-00600000 rw-p 00100000 fe:00 9977913      /usr/bin/my program\n"
    "00600000-00700000 rw-p 00000000 00:00 0 \n"
    "7f0000000000-7f0000001000 r-xp 00000000 fe:00 3    /lib/libc.so.6\n"
    "7ffd00000000-7ffd00004000 r--p 00000000 00:00 0    [vvar]\n"
    "nonsense\n";

constexpr uint64_t kHourNs = uint64_t{3600} * 1000000000;

TEST(MappingTable, NamesAreDefinedOnceAndCodeIsFound) {
  Names out;
  MappingTable table(0, &out);
  table.Parse(kMaps);
  table.Parse(kMaps);
  EXPECT_EQ(out.names,
            (std::vector<std::string>{"(none)", "/usr/bin/my program", "",
                                      "/lib/libc.so.6", "[vvar]"}));
  ASSERT_EQ(table.mappings().size(), 5u);
  EXPECT_EQ(table.mappings()[2].begin, 0x600000u);
  EXPECT_EQ(table.mappings()[2].end, 0x700000u);
  EXPECT_FALSE(table.mappings()[4].counted);
  EXPECT_EQ(out.names[table.CodeAt(0x400123, 0)], "/usr/bin/my program");
  EXPECT_EQ(out.names[table.CodeAt(0x7f0000000fff, 0)], "/lib/libc.so.6");
  EXPECT_EQ(table.CodeAt(0x550000, 0), 0u);  // not executable
  EXPECT_EQ(table.CodeAt(0x7f0000001000, 0), 0u);
  EXPECT_EQ(out.names[table.CodeAt(~uint64_t{0} << 40, 0)], "[kernel]");
}

TEST(MappingTable, WhatWasGivenBackIsNamedAsItWasUnlessItIsAFiles) {
  Names out;
  MappingTable table(0, &out);  // which cannot be looked at again
  table.Parse(kMaps);
  const uint32_t anonymous = table.NameAt(0x600000, 0);
  EXPECT_EQ(out.names[anonymous], "");
  EXPECT_NE(anonymous, 0u);
  EXPECT_EQ(table.NameAt(0x700000, 0), 0u);
  table.Left(0x610000, 0x1000, 0);
  EXPECT_EQ(table.NameAt(0x600000, 0), anonymous);
  EXPECT_EQ(out.names[table.NameAt(0x510000, 0)], "/usr/bin/my program");
  EXPECT_TRUE(table.IsFileAt(0x510000, 0));
  table.Left(0x4f0000, 0x20000, 0);  // it overlaps two mappings
  EXPECT_EQ(table.NameAt(0x510000, 0), 0u);
  EXPECT_FALSE(table.IsFileAt(0x410000, 0));
  EXPECT_EQ(out.names[table.CodeAt(0x400123, 0)], "/usr/bin/my program");
}

TEST(MappingTable, SharedMemoryThatLooksLikeAFileIsNone) {
  Names out;
  MappingTable table(0, &out);
  table.Parse(
      "10000000-20000000 r--p 00000000 08:01 99  /usr/lib/libm.so.6\n"
      "20000000-30000000 rw-s 00000000 00:01 98  /dev/zero (deleted)\n"
      "30000000-40000000 rw-s 00000000 00:01 98  /memfd:x (deleted)\n"
      "40000000-50000000 rw-p 00000000 00:00 0   [heap]\n");
  EXPECT_TRUE(table.IsFileAt(0x10000000, 0));
  for (const uint64_t address : {0x20000000, 0x30000000, 0x40000000}) {
    EXPECT_FALSE(table.IsFileAt(address, 0));
  }
}

TEST(MappingTable, TheStacksOfThreadsAreNamed) {
  Names out;
  MappingTable table(getpid(), &out);
  pthread_barrier_t until;
  ASSERT_EQ(pthread_barrier_init(&until, nullptr, 2), 0);
  const auto wait = [](void* barrier) -> void* {
    pthread_barrier_wait(static_cast<pthread_barrier_t*>(barrier));
    return nullptr;
  };
  pthread_t thread;  // glibc's own facts about it are in its stack
  ASSERT_EQ(pthread_create(&thread, nullptr, wait, &until), 0);
  const auto address = reinterpret_cast<uint64_t>(thread);
  EXPECT_EQ(out.names[table.NameAt(address, kHourNs)], kThreadStackName);
  ASSERT_TRUE(table.Refresh());
  EXPECT_EQ(out.names[table.NameAt(address, kHourNs)], kThreadStackName);
  pthread_barrier_wait(&until);
  pthread_join(thread, nullptr);
  pthread_barrier_destroy(&until);
}

TEST(MappingTable, OnlyAStackAboveAGuardIsNamedSo) {
  Names out;
  MappingTable table(0, &out);
  const uint64_t stack = DefaultThreadStackBytes();
  const auto line = [](uint64_t begin, uint64_t end, const char* rights) {
    return absl::StrCat(absl::Hex(begin), "-", absl::Hex(end), " ", rights,
                        " 00000000 00:00 0 \n");
  };
  constexpr uint64_t kAt = uint64_t{1} << 40, kGuard = 4096, kMore = 8192;
  const auto name_of = [&](uint64_t address) {
    return out.names[table.NameAt(address, 0)];
  };
  table.Parse(line(kAt - kGuard, kAt, "---p") +
              line(kAt, kAt + stack + kMore, "rw-p"));
  EXPECT_EQ(name_of(kAt), kThreadStackName);
  EXPECT_EQ(name_of(kAt + stack - 1), kThreadStackName);
  EXPECT_EQ(name_of(kAt + stack), "");
  table.Parse(line(kAt - (1 << 20), kAt, "---p") +  // an arena of malloc below
              line(kAt, kAt + stack, "rw-p"));
  EXPECT_EQ(name_of(kAt), "");
  table.Parse(line(kAt - kGuard, kAt, "---p") +
              line(kAt, kAt + stack - kGuard, "rw-p"));
  EXPECT_EQ(name_of(kAt), "");
}

TEST(MappingTable, NewMemoryIsSeenWhenItIsAskedFor) {
  Names out;
  MappingTable table(getpid(), &out);
  ASSERT_TRUE(table.Refresh());
  void* memory = mmap(nullptr, 64 << 20, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto address = reinterpret_cast<uint64_t>(memory);
  const uint32_t name = table.NameAt(address + (32 << 20), 1);
  EXPECT_NE(name, 0u);
  EXPECT_EQ(out.names[name], "");
  munmap(memory, 64 << 20);
  table.Left(address, 64 << 20, 0);
  EXPECT_EQ(table.NameAt(address, kHourNs), name);
}

// A fault is looked at when its mapping has gone, and another file's is there.
TEST(MappingTable, AFileIsKnownAtTheTimesWhenItWasThere) {
  Names out;
  MappingTable table(0, &out);
  const auto name_at = [&](uint64_t address, uint64_t time_ns) {
    return out.names[table.NameAt(address, time_ns)];
  };
  table.Came({0x1000, 0x9000}, "/a\nb", 100);
  table.Left(0x8000, 0x1000, 150);  // its end
  table.Left(0x1000, 0x7000, 200);
  table.Came({0x1000, 0x3000}, "/memfd:c (deleted)", 300);
  EXPECT_EQ(name_at(0x1000, 99), "(none)");
  EXPECT_EQ(name_at(0x1000, 100), "/a\\012b");
  EXPECT_TRUE(table.IsFileAt(0x7fff, 199));
  EXPECT_EQ(name_at(0x8000, 199), "(none)");
  EXPECT_EQ(name_at(0x1000, 200), "(none)");
  EXPECT_EQ(name_at(0x1000, 300), "/memfd:c (deleted)");
  EXPECT_FALSE(table.IsFileAt(0x1000, 300));
  // Put over what was there.
  table.Came({0x2000, 0x3000}, "/d", 400);
  EXPECT_EQ(name_at(0x2000, 399), "/memfd:c (deleted)");
  EXPECT_EQ(name_at(0x2000, 400), "/d");
  EXPECT_EQ(name_at(0x1000, 400), "/memfd:c (deleted)");
}

TEST(MappingTable, AFileThatMovesKeepsItsName) {
  Names out;
  MappingTable table(0, &out);
  const auto name_at = [&](uint64_t address, uint64_t time_ns) {
    return out.names[table.NameAt(address, time_ns)];
  };
  table.Came({0x1000, 0x4000}, "/a", 100);
  table.Moved(0x1000, {0x11000, 0x19000}, 200);
  table.Left(0x1000, 0x3000, 199);
  EXPECT_EQ(name_at(0x3000, 150), "/a");
  EXPECT_EQ(name_at(0x3000, 200), "(none)");
  EXPECT_EQ(name_at(0x11000, 199), "(none)");
  EXPECT_EQ(name_at(0x18fff, 200), "/a");
  EXPECT_TRUE(table.IsFileAt(0x18fff, 200));
  // In its place.
  table.Moved(0x11000, {0x11000, 0x21000}, 300);
  EXPECT_EQ(name_at(0x20fff, 299), "(none)");
  EXPECT_EQ(name_at(0x20fff, 300), "/a");
  EXPECT_EQ(name_at(0x18fff, 250), "/a");
  table.Moved(0x51000, {0x61000, 0x62000}, 400);  // an unknown mapping
  EXPECT_EQ(name_at(0x61000, 400), "(none)");
}

TEST(MappingTable, ForgottenFilesAreTheOldest) {
  Names out;
  MappingTable table(0, &out);
  for (uint64_t i = 1; i <= 10 * FileMappings::kMost; ++i) {
    table.Came({i << 12, (i + 1) << 12}, "/a", i);
  }
  EXPECT_EQ(table.NameAt(1 << 12, kHourNs), 0u);
  EXPECT_NE(table.NameAt((10 * FileMappings::kMost) << 12, kHourNs), 0u);
}

TEST(MappingTable, OneMappingIsNamedAsInTheListOfAll) {
  Names names, out;
  MappingTable all(getpid(), &names);
  ASSERT_TRUE(all.Refresh());
  const std::vector<Mapping> mappings = all.mappings();
  MappingTable table(getpid(), &out);
  size_t files = 0;
  for (const Mapping& mapping : mappings) {
    if (!mapping.counted) continue;  // [vsyscall] is no mapping
    const uint32_t id = table.NameAt(mapping.end - 1, kHourNs);
    ASSERT_EQ(out.names[id], names.names[mapping.name]);
    ASSERT_EQ(table.IsFileAt(mapping.begin, kHourNs), mapping.file);
    files += mapping.file;
  }
  EXPECT_GT(files, 0u);
}

TEST(MappingTable, WhatHasGrownIsOneMapping) {
  Names out;
  MappingTable table(getpid(), &out);
  constexpr size_t kPart = 1 << 20;
  void* memory =
      mmap(nullptr, 4 * kPart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto address = reinterpret_cast<uint64_t>(memory);
  ASSERT_EQ(mprotect(memory, kPart, PROT_READ | PROT_WRITE), 0);
  EXPECT_NE(table.NameAt(address, kHourNs), 0u);
  ASSERT_EQ(mprotect(memory, 3 * kPart, PROT_READ | PROT_WRITE), 0);
  EXPECT_NE(table.NameAt(address + 2 * kPart, kHourNs), 0u);
  size_t over = 0;
  for (const Mapping& mapping : table.mappings()) {
    over += mapping.end > address && mapping.begin < address + 3 * kPart;
  }
  EXPECT_EQ(over, 1u);
  munmap(memory, 4 * kPart);
}

TEST(MappingTable, LooksAgainWhereNothingIsKnown) {
  Names out;
  MappingTable table(getpid(), &out);
  const uint64_t here = reinterpret_cast<uint64_t>(&getpid);
  const uint32_t id = table.CodeAt(here, 1000);
  ASSERT_NE(id, 0u);
  EXPECT_NE(out.names[id].find(".so"), std::string::npos) << out.names[id];
}

}  // namespace
}  // namespace pymemrun
