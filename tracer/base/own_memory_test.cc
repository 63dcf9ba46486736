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

}  // namespace
}  // namespace pymemrun
