#include "tracer/base/own_memory.h"

#include <unistd.h>

#include <algorithm>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(OwnMemory, ForkedChildHasItsParentsTablesAgainAsZeros) {
  const size_t bytes = 16 * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* const table = static_cast<char*>(OwnMemory::Map(bytes));
  char* const kept = static_cast<char*>(OwnMemory::Map(bytes));
  ASSERT_NE(table, nullptr);
  ASSERT_NE(kept, nullptr);
  const uint64_t resident = OwnMemory::ResidentBytes();
  table[0] = table[bytes - 1] = table[bytes / 2 + 7] = kept[0] = 1;

  OwnMemory::ForgetTables(kept, nullptr);
  EXPECT_NE(OwnMemory::Map(bytes / 2), table);
  EXPECT_EQ(OwnMemory::Map(bytes), table);
  EXPECT_TRUE(std::all_of(table, table + bytes, [](char c) { return c == 0; }));
  EXPECT_EQ(kept[0], 1);
  EXPECT_EQ(OwnMemory::ResidentBytes(), resident + bytes / 2);
  EXPECT_NE(OwnMemory::Map(bytes), table);  // it has been given out
}

// What is not told costs a forked child nothing, and stays.
TEST(OwnMemory, ForkedChildHasZerosWhereWritesWereTold) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = 600 * page;  // more than there are bits for
  char* const table = static_cast<char*>(OwnMemory::MapTold(bytes));
  ASSERT_NE(table, nullptr);
  OwnMemory::Wrote(table + 3 * page - 1, 2);
  OwnMemory::Wrote(table + 511 * page, 1);
  const size_t told[] = {2 * page, 4 * page - 1, 511 * page, bytes - 1};
  for (const size_t at : told) table[at] = 1;
  table[5 * page] = 7;

  OwnMemory::ForgetTables(nullptr, nullptr);
  EXPECT_NE(OwnMemory::Map(bytes), table);  // whose user must have zeros
  EXPECT_EQ(OwnMemory::MapTold(bytes), table);
  for (const size_t at : told) EXPECT_EQ(table[at], 0) << at;
  EXPECT_EQ(table[5 * page], 7);

  // In the child's own child.
  table[2 * page] = 1;
  OwnMemory::Wrote(table + 5 * page, 1);
  OwnMemory::ForgetTables(nullptr, nullptr);
  ASSERT_EQ(OwnMemory::MapTold(bytes), table);
  EXPECT_EQ(table[5 * page], 0);
  EXPECT_EQ(table[2 * page], 1);  // this child did not tell of it
}

}  // namespace
}  // namespace pymemrun
