#include "readers/columns/mapped_column.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

// Numbers in a file of 8 bytes more, as a map of it would have them.
struct Packed {
  explicit Packed(const std::vector<uint64_t>& numbers) {
    ColumnPacker packer;
    std::string bytes(8, 'x');
    for (const uint64_t number : numbers) packer.Add(number, &bytes);
    EXPECT_TRUE(packer.Finish(&bytes).ok());
    words = packer.words();
    rows = numbers.size();
    file.resize(bytes.size() / 8);
    std::memcpy(file.data(), bytes.data(), bytes.size());
  }
  bool Open(MappedColumn* column, uint64_t limit = 0, bool rises = false) {
    return column->Open({view(), 8, words, rows, limit, rises}, &damage);
  }
  absl::string_view view() const {
    return {reinterpret_cast<const char*>(file.data()), file.size() * 8};
  }

  std::vector<uint64_t> file;
  uint64_t words, rows;
  ColumnDamage damage;
};

std::vector<uint64_t> Made(size_t count,
                           const std::function<uint64_t(size_t)>& make) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(make(i));
  return numbers;
}

TEST(MappedColumnTest, WhatGoesInComesOut) {
  std::mt19937_64 random(7);
  const std::vector<std::function<uint64_t(size_t)>> kinds = {
      [](size_t) { return 5; },
      [](size_t i) { return i; },
      [](size_t i) { return 0x7f0000000000 - i * 48; },
      [&](size_t) { return random(); },
      [&](size_t i) { return i % 2 == 0 ? ~uint64_t{0} : 0; },
      [&](size_t) { return random() % 1000; },
      [&](size_t i) { return random() % 40 == 0 ? random() : i * 3; },
      [&](size_t) { return (random() % 4096) * 16 + 0x7f1234560000; }};
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{255}, size_t{256},
                               size_t{257}, size_t{2000}}) {
      const std::vector<uint64_t> numbers = Made(count, kinds[kind]);
      Packed packed(numbers);
      MappedColumn column;
      ASSERT_TRUE(packed.Open(&column));
      ASSERT_EQ(column.size(), count);
      for (size_t i = count; i-- > 0;) {
        ASSERT_EQ(column[i], numbers[i]) << kind << " of " << count << " " << i;
      }
      EXPECT_FALSE(packed.damage.found);
    }
  }
}

TEST(MappedColumnTest, NumbersOnALineTakeNoWords) {
  EXPECT_EQ(Packed(Made(1024, [](size_t i) { return 1000 + i * 7; })).words,
            0u);
  // One of 64 lies elsewhere.
  const Packed few(Made(
      1024, [](size_t i) { return i % 64 == 9 ? 1000000 + i * i : i; }));
  EXPECT_LT(few.words, 1024u / 16);
}

TEST(MappedColumnTest, FindGivesTheFirstRow) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> numbers =
      Made(3000, [&](size_t) { return random() % 5000 * 16; });
  numbers[700] = 999999999999;
  Packed packed(numbers);
  MappedColumn column;
  ASSERT_TRUE(packed.Open(&column));
  for (const uint64_t wanted : numbers) {
    const auto first = std::find(numbers.begin(), numbers.end(), wanted);
    EXPECT_EQ(column.Find(wanted), static_cast<size_t>(first - numbers.begin()));
  }
  EXPECT_EQ(column.Find(8), std::nullopt);
  EXPECT_EQ(column.Find(~uint64_t{0}), std::nullopt);
}

TEST(MappedColumnTest, NumbersBeyondTheLimitAreDamage) {
  Packed packed(Made(300, [](size_t i) { return i; }));
  MappedColumn column;
  ASSERT_TRUE(packed.Open(&column, /*limit=*/299));
  EXPECT_EQ(column[255], 255u);
  EXPECT_FALSE(packed.damage.found);
  EXPECT_EQ(column[299], 0u);
  EXPECT_TRUE(packed.damage.found);
}

TEST(MappedColumnTest, WhatFallsIsDamageInAColumnThatRises) {
  Packed packed(Made(256, [](size_t i) { return i == 200 ? 3 : i; }));
  MappedColumn column;
  ASSERT_TRUE(packed.Open(&column, 0, /*rises=*/true));
  EXPECT_EQ(column[255], 0u);
  EXPECT_TRUE(packed.damage.found);
}

TEST(MappedColumnTest, EachFlippedByteIsFound) {
  const std::vector<uint64_t> numbers = Made(
      700, [](size_t i) { return i % 30 == 0 ? i << 40 : (i * 37) % 1000; });
  const Packed whole(numbers);
  for (size_t at = 8; at < whole.view().size(); ++at) {
    Packed packed(numbers);
    reinterpret_cast<char*>(packed.file.data())[at] ^= 0x10;
    MappedColumn column;
    ASSERT_TRUE(packed.Open(&column));
    for (size_t i = 0; i < column.size(); ++i) {
      if (column[i] != numbers[i]) {
        ASSERT_TRUE(packed.damage.found) << at;
      }
    }
    ASSERT_TRUE(packed.damage.found) << at;
    EXPECT_GT(packed.damage.offset, 0u);
    column.Find(17);
  }
}

TEST(MappedColumnTest, APlaceOutsideOfTheFileIsNone) {
  Packed packed(Made(1000, [](size_t i) { return i * i; }));
  const uint64_t bytes = packed.view().size(), words = packed.words;
  MappedColumn column;
  ColumnDamage damage;
  EXPECT_TRUE(column.Open({packed.view(), 8, words, 1000}, &damage));
  EXPECT_FALSE(column.Open({packed.view(), 4, words, 1000}, &damage));
  EXPECT_FALSE(column.Open({packed.view(), 16, words, 1000}, &damage));
  EXPECT_FALSE(column.Open({packed.view(), 8, words + 1, 1000}, &damage));
  EXPECT_FALSE(column.Open({packed.view(), 8, words, 1025}, &damage));
  EXPECT_FALSE(column.Open({packed.view(), bytes + 8, 0, 0}, &damage));
  EXPECT_FALSE(
      column.Open({packed.view(), 8, ~uint64_t{0} / 8, 1000}, &damage));
  EXPECT_FALSE(column.Open({packed.view(), 8, words, ~uint64_t{0}}, &damage));
  EXPECT_FALSE(
      column.Open({packed.view(), ~uint64_t{7}, words, 1000}, &damage));
}

}  // namespace
}  // namespace pymemrun
