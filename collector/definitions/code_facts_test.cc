#include "collector/definitions/code_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace pymemrun {
namespace {

constexpr CodePayload kHead = {
    10, static_cast<uint32_t>(LineTableKind::kLocations)};

// A location table of 3.11: `lines` instructions, each on the next line.
std::string Table(int lines) {
  std::string table;
  for (int i = 0; i < lines; ++i) {
    table += static_cast<char>(0x80 | 11 << 3);  // one unit, one line on
    table += std::string(2, '\0');               // columns
  }
  return table;
}

TEST(CodeFactsTest, KeepsNamesAndLines) {
  CodeFacts facts;
  facts.Add(1, kHead, "a.py", "f", Table(3));
  facts.Add(2, {100, kHead.line_table_kind}, "a.py", "g", Table(2));
  EXPECT_TRUE(facts.Has(1));
  EXPECT_EQ(facts.LineOf(1, 0), 11u);
  EXPECT_EQ(facts.LineOf(2, 1), 102u);
  EXPECT_EQ(facts.LineOf(1, 2), 13u);
  EXPECT_EQ(facts.FileOf(2), "a.py");
  EXPECT_EQ(facts.NameOf(2), "g");
}

TEST(CodeFactsTest, KnowsNothingOfWhatWasNotAddedOrIsCleared) {
  CodeFacts facts;
  facts.Add(1, kHead, "a.py", "f", Table(3));
  EXPECT_EQ(facts.LineOf(1, 0), 11u);
  facts.Clear();
  for (const uint32_t code : {1u, 2u}) {
    EXPECT_FALSE(facts.Has(code));
    EXPECT_EQ(facts.LineOf(code, 0), 0u);
    EXPECT_EQ(facts.FileOf(code), "");
    EXPECT_EQ(facts.NameOf(code), "");
  }
  facts.Add(3, kHead, "b.py", "", "");
  EXPECT_EQ(facts.LineOf(3, 7), 10u);
  EXPECT_EQ(facts.FileOf(3), "b.py");
}

TEST(CodeFactsTest, TablesOfAnySizeTakeTurns) {
  CodeFacts facts;
  // Small ones that share a place, and two large ones.
  for (const uint32_t code : {1u, 257u, 513u}) {
    facts.Add(code, {code, kHead.line_table_kind}, "a.py", "f", Table(5));
  }
  for (const uint32_t code : {5u, 6u}) {
    facts.Add(code, {code * 100000, kHead.line_table_kind}, "a.py", "f",
              Table(2000));
  }
  for (int turn = 0; turn < 3; ++turn) {
    for (const uint32_t code : {1u, 257u, 513u}) {
      EXPECT_EQ(facts.LineOf(code, 4), code + 5);
    }
    EXPECT_EQ(facts.LineOf(5, 1999), 502000u);
    EXPECT_EQ(facts.LineOf(6, 1000), 601001u);
  }
}

TEST(CodeFactsTest, WhatTheTracerMayDefineFits) {
  CodeFacts facts;
  const std::string table(kMaxCodeTextBytes / kMaxCodes - 1, '\x80');
  for (uint32_t code = 1; code <= kMaxCodes; ++code) {
    facts.Add(code, kHead, "a.py", "f", table);
  }
  // The last one before it forgets may be as large as a payload can be.
  facts.Add(kMaxCodes + 1, kHead, "a.py", "last", Table(kRingBytes / 4 / 3));
  EXPECT_LE(facts.text_bytes(), kMaxCodeTextBytes + kRingBytes / 4 + 100);
  EXPECT_EQ(facts.NameOf(kMaxCodes), "f");
  EXPECT_EQ(facts.NameOf(kMaxCodes + 1), "last");
  EXPECT_EQ(facts.LineOf(kMaxCodes + 1, 99), 110u);
}

TEST(CodeFactsTest, MemoryIsBoundedWhateverComes) {
  CodeFacts facts;
  const std::string large(1 << 20, '\x80');
  for (uint32_t code = 1; code <= 100; ++code) {
    facts.Add(code, kHead, "a.py", "f", large);
  }
  for (uint32_t code = 101; code <= 4 * kMaxCodes; ++code) {
    facts.Add(code, kHead, "a.py", "f", "");
  }
  EXPECT_LE(facts.text_bytes(), CodeFacts::kEventRing.text_bytes);
  EXPECT_EQ(facts.LineOf(100, 5), 10u);  // its first line
  EXPECT_FALSE(facts.Has(4 * kMaxCodes));
}

TEST(CodeFactsTest, WhatIsRemovedIsForgottenDecodedOrNot) {
  CodeFacts facts;
  for (const int lines : {5, 2000}) {
    facts.Add(1, kHead, "", "f", Table(lines));
    EXPECT_EQ(facts.LineOf(1, 0), 11u);
    facts.Remove(1);
    EXPECT_EQ(facts.LineOf(1, 0), 0u);
    EXPECT_EQ(facts.text_bytes(), 0u);
    facts.Add(1, {20, kHead.line_table_kind}, "", "f", Table(lines));
    EXPECT_EQ(facts.LineOf(1, 0), 21u);
    facts.Remove(1);
    facts.Remove(1);
  }
}

}  // namespace
}  // namespace pymemrun
