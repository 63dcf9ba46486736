#include "readers/across_runs/diff/code_match.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

// A line of function `f`, which begins at line 10.
CodeItem Line(uint32_t line, std::optional<uint32_t> hash,
              absl::string_view qualname = "f",
              absl::string_view file = "/a/job.py") {
  return {file, line, "", qualname, line - 10, hash};
}
CodeItem Function(uint32_t line, absl::string_view qualname,
                  absl::string_view file = "/a/job.py") {
  return {file, line, qualname, qualname, 0, std::nullopt};
}

// "0>1 1>- 2>0 edited", by index in both.
std::string Matched(const std::vector<CodeItem>& before,
                    const std::vector<CodeItem>& after) {
  std::string text;
  const std::vector<CodeMatch> matches = MatchCode(before, after);
  for (size_t i = 0; i < matches.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : " ", i, ">");
    if (matches[i].after == CodeMatch::kNone) {
      text += "-";
    } else {
      absl::StrAppend(&text, matches[i].after);
    }
    if (matches[i].edited) text += " edited";
    if (matches[i].moved) text += " moved";
  }
  return text;
}

TEST(MatchCodeTest, LinesOfAnUnchangedFileAreWhatTheirNumberSays) {
  const auto stamped = [](std::vector<CodeItem> items, uint64_t mtime_ns) {
    for (CodeItem& item : items) item.stamp = {100, mtime_ns};
    return items;
  };
  const std::vector<CodeItem> before = {Line(12, 1), Line(13, 5)},
                              after = {Line(12, 1), Line(14, 2), Line(15, 5)};
  EXPECT_EQ(Matched(before, after), "0>0 1>2");
  EXPECT_EQ(Matched(stamped(before, 7), stamped(after, 7)), "0>0 1>-");
  EXPECT_EQ(Matched(stamped(before, 7), stamped(after, 8)), "0>0 1>2");
  EXPECT_EQ(Matched(stamped(before, 0), stamped(after, 0)), "0>0 1>2");
}

TEST(MatchCodeTest, LinesThatMovedAreTheSame) {
  EXPECT_EQ(Matched({Line(11, 1), Line(12, 2)}, {Line(15, 1), Line(19, 2)}),
            "0>0 1>1");
  EXPECT_EQ(Matched({Line(11, 1), Line(12, 2)}, {Line(11, 2), Line(12, 1)}),
            "0>1 1>0");
}

TEST(MatchCodeTest, OfOneTextTheDistanceCountsAndThenTheOrder) {
  EXPECT_EQ(Matched({Line(11, 1), Line(15, 1)}, {Line(15, 1), Line(18, 1)}),
            "0>1 1>0");
  EXPECT_EQ(Matched({Line(11, 1), Line(15, 1)}, {Line(21, 1), Line(25, 1)}),
            "0>0 1>1");
}

TEST(MatchCodeTest, WithoutHashesTheDistanceCounts) {
  EXPECT_EQ(Matched({Line(11, {}), Line(12, {})}, {Line(11, 1), Line(19, 2)}),
            "0>0 1>-");
}

TEST(MatchCodeTest, AnEditedLineKeepsItsPlace) {
  EXPECT_EQ(Matched({Line(11, 1), Line(12, 2)}, {Line(11, 1), Line(12, 3)}),
            "0>0 1>1 edited");
  // Lines were added above; it is between two that are the same.
  EXPECT_EQ(Matched({Line(11, 1), Line(12, 2), Line(13, 3)},
                    {Line(14, 1), Line(15, 9), Line(16, 3)}),
            "0>0 1>1 edited 2>2");
  // One of two may be it.
  EXPECT_EQ(Matched({Line(11, 1), Line(12, 2)},
                    {Line(14, 1), Line(15, 8), Line(16, 9)}),
            "0>0 1>-");
}

TEST(MatchCodeTest, AnotherCheckoutIsTheSameFile) {
  EXPECT_EQ(Matched({Line(11, 1)}, {Line(11, 1, "f", "/b/job.py")}), "0>0");
}

TEST(MatchCodeTest, WhatGoesHereAndComesThereHasMoved) {
  EXPECT_EQ(Matched({Line(11, 1)}, {Line(31, 1, "g")}), "0>0 moved");
  EXPECT_EQ(Matched({Line(11, 1)}, {Line(11, 1, "f", "/a/other.py")}),
            "0>0 moved");
  // Two came.
  EXPECT_EQ(Matched({Line(11, 1)}, {Line(31, 1, "g"), Line(41, 1, "h")}),
            "0>-");
  EXPECT_EQ(Matched({Line(11, {})}, {Line(31, {}, "g")}), "0>-");
}

TEST(MatchCodeTest, FunctionsGoByTheirWholeNames) {
  EXPECT_EQ(Matched({Function(3, "A.run"), Function(9, "B.run")},
                    {Function(30, "A.run"), Function(90, "B.run")}),
            "0>0 1>1");
  EXPECT_EQ(
      Matched({Function(3, "A.run")}, {Function(3, "A.run", "/a/other.py")}),
      "0>0 moved");
  EXPECT_EQ(Matched({Function(3, "<lambda>")},
                    {Function(3, "<lambda>", "/a/other.py")}),
            "0>-");
}

TEST(LinesOfTest, AComprehensionsLineIsThatOfTheFunctionAroundIt) {
  RunIndex index;
  CodeDef code;
  code.set_file("/a.py");
  code.set_first_line(3);
  for (const char* const name : {"f.<locals>.<listcomp>", "f"}) {
    code.set_qualname(name);
    index.Add(code);
  }
  for (const uint32_t of : {1, 2, 1}) {
    StackDef node;
    node.set_code(of);
    node.set_line(5);
    index.Add(node);
  }
  SiteDef site;
  site.set_code(2);
  site.set_line(4);
  index.Add(site);
  SourceFile source;
  source.set_file("/a.py");
  source.add_line(5);
  source.add_hash(77);
  index.Add(source);
  const std::vector<CodeItem> lines = LinesOf(index);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].line, 4u);
  EXPECT_FALSE(lines[0].hash.has_value());
  EXPECT_EQ(lines[1].line, 5u);
  EXPECT_EQ(lines[1].qualname, "f");
  EXPECT_EQ(lines[1].offset, 2u);
  EXPECT_EQ(lines[1].hash, 77u);
}

}  // namespace
}  // namespace pymemrun
