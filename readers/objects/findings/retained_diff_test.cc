#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/objects/findings/graph_diff.h"
#include "readers/testing/object_graph_for_tests.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A module's dict with a cache, a log and a table. Addresses go by the order of
// objects, so each is there in each dump, apart from what no one refers to.
struct TwoDumps {
  ObjectRunBuilder builder;
  uint32_t app, cache, log, table, other;
  std::vector<uint32_t> texts;
  TwoDumps() {
    const uint32_t modules = builder.AddGroup("modules");
    app = builder.Add("dict", 500);
    cache = builder.Add("app.Cache", 48);
    log = builder.Add("list", 56);
    table = builder.Add("set", 200);
    other = builder.Add("bytearray", 7000);
    for (int i = 0; i < 100; ++i) texts.push_back(builder.Add("str", 100));
    builder.Refer(modules, app, EDGE_ROOT, "app");
    builder.Refer(app, cache, EDGE_ATTRIBUTE, "CACHE");
    builder.Refer(app, log, EDGE_ATTRIBUTE, "log");
  }
  void Hold(uint32_t holder, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      builder.Refer(holder, texts[i], EDGE_INDEX);
    }
  }
};

std::vector<std::string> Diff(const TwoDumps& before, const TwoDumps& after,
                              uint64_t least) {
  ObjectAnalysis older(GraphOf(before.builder)), newer(GraphOf(after.builder));
  std::vector<std::string> lines;
  for (const RetainedDiff& row : DiffRetained(&older, &newer, least)) {
    const bool is_gone = row.node == kNoNode;
    const ObjectGraph& graph = is_gone ? older.graph() : newer.graph();
    const NodeId node = is_gone ? row.old_node : row.node;
    lines.push_back(absl::StrCat(graph.type_name(graph.type(node)), " ",
                                 row.old_bytes, " ", row.bytes, " ",
                                 row.grown_bytes));
  }
  return lines;
}

TEST(RetainedDiff, SaysWhereItAccumulates) {
  TwoDumps before, after;
  before.Hold(before.cache, 0, 10);
  before.Hold(before.log, 10, 30);
  after.Hold(after.cache, 0, 10);
  after.Hold(after.cache, 40, 100);
  after.Hold(after.log, 10, 15);
  EXPECT_THAT(Diff(before, after, 500),
              ElementsAre("app.Cache 1048 7048 6000", "list 2056 556 -1500"));
  EXPECT_THAT(Diff(before, before, 1), IsEmpty());
}

TEST(RetainedDiff, WhatCameOrWentIsOneRow) {
  TwoDumps before, after;
  before.builder.Refer(before.app, before.other, EDGE_ATTRIBUTE, "other");
  after.builder.Refer(after.app, after.table, EDGE_ATTRIBUTE, "table");
  after.Hold(after.table, 0, 50);
  EXPECT_THAT(Diff(before, after, 500),
              ElementsAre("bytearray 7000 0 -7000", "set 0 5200 5200"));
}

TEST(RetainedDiff, WhatChangedHandsIsMoreHereAndLessThere) {
  TwoDumps before, after;
  before.Hold(before.cache, 0, 40);
  after.Hold(after.log, 0, 40);
  EXPECT_THAT(Diff(before, after, 500),
              ElementsAre("app.Cache 4048 48 -4000", "list 56 4056 4000"));
}

// Random references, so that objects come, go and change hands.
TEST(RetainedDiff, RowsAddUpToTheWholeChange) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    TwoDumps programs[2];
    for (TwoDumps& program : programs) {
      const uint32_t holders[] = {program.app, program.cache, program.log,
                                  program.table, program.other};
      for (int i = 0; i < 120; ++i) {
        const uint32_t from = random() % 2 == 0 ? holders[random() % 5]
                                                : program.texts[random() % 100];
        const uint32_t to = random() % 8 == 0 ? holders[random() % 5]
                                              : program.texts[random() % 100];
        program.builder.Refer(from, to, EDGE_INDEX);
      }
    }
    ObjectAnalysis older(GraphOf(programs[0].builder));
    ObjectAnalysis newer(GraphOf(programs[1].builder));
    int64_t sum = 0;
    for (const auto& row : DiffRetained(&older, &newer, 1)) {
      sum += row.grown_bytes;
    }
    EXPECT_EQ(sum, static_cast<int64_t>(newer.reached_bytes()) -
                       static_cast<int64_t>(older.reached_bytes()))
        << round;
  }
}

}  // namespace
}  // namespace pymemrun
