#include "readers/relations/objects/graph_relations.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/objects/graph/object_text.h"
#include "readers/relations/engine/sql_query.h"
#include "readers/testing/object_graph_for_tests.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Module app -> dict -> CACHE -> a list of three strings. A second list has two
// of these, and a weak reference to the first list.
class GraphRelationsTest : public testing::Test {
 protected:
  GraphRelationsTest() : analysis_(GraphOf(Program())) {}

  static ObjectRunBuilder Program() {
    ObjectRunBuilder builder;
    const uint32_t modules = builder.AddGroup("modules");
    const uint32_t module = builder.Add("module", 72, "app");
    const uint32_t app = builder.Add("dict", 500, std::nullopt, 2);
    const uint32_t cache = builder.Add("app.Cache", 48);
    const uint32_t first = builder.Add("list", 80, std::nullopt, 3);
    const uint32_t second = builder.Add("list", 72, std::nullopt, 2);
    builder.Refer(modules, module, EDGE_ROOT, "app");
    builder.Refer(module, app, EDGE_DICT);
    builder.Put(app, builder.AddText("CACHE"), cache);
    builder.Put(app, builder.AddText("seen"), second);
    builder.Refer(cache, first, EDGE_ATTRIBUTE, "entries");
    for (int i = 0; i < 3; ++i) {
      const uint32_t text = builder.Add("str", 1000 + i, "it's");
      builder.Refer(first, text, EDGE_INDEX);
      if (i > 0) builder.Refer(second, text, EDGE_INDEX);
    }
    builder.Refer(second, first, EDGE_WEAK);
    return builder;
  }

  // Rows as "a|b"; a failure as its message.
  std::vector<std::string> Ask(const std::string& sql, uint64_t most = 0) {
    const auto answer = RunSql(sql, most, GraphRelations(&analysis_));
    if (!answer.ok()) return {std::string(answer.status().message())};
    std::vector<std::string> lines;
    for (const auto& row : answer->table.rows) {
      lines.push_back(
          absl::StrJoin(row, "|", [](std::string* out, const Cell& cell) {
            const auto* text = std::get_if<std::string>(&cell);
            *out += text != nullptr ? *text : PlainCell(cell);
          }));
    }
    return lines;
  }

  ObjectAnalysis analysis_;
};

TEST_F(GraphRelationsTest, AnswersFromAllTables) {
  EXPECT_THAT(Ask("SELECT type, count(*), sum(size), max(length) FROM nodes "
                  "WHERE NOT synthetic GROUP BY type ORDER BY 1"),
              ElementsAre("app.Cache|1|48|", "dict|1|500|2", "list|2|152|3",
                          "module|1|72|", "str|5|3110|5"));
  EXPECT_THAT(Ask("SELECT objects, size, retained FROM types WHERE type = "
                  "'app.Cache'"),
              ElementsAre("1|48|1128"));
  EXPECT_THAT(
      Ask("SELECT e.name, e.kind, n.type, n.module FROM edges e JOIN "
          "nodes n ON n.id = e.target WHERE e.name IN ('entries', "
          "'CACHE', 'app') ORDER BY 1"),
      ElementsAre("CACHE|value|app.Cache|app", "app|root|module|builtins",
                  "entries|attribute|list|builtins"));
  EXPECT_THAT(Ask("SELECT n.type, d.retained, o.type FROM dominators d JOIN "
                  "nodes n ON n.id = d.node JOIN nodes o ON o.id = d.dominator "
                  "WHERE n.type = 'list' ORDER BY n.size DESC"),
              ElementsAre("list|1080|app.Cache", "list|72|dict"));
}

// What is looked up equals what is found by reading all.
TEST_F(GraphRelationsTest, FindsByValueWhatReadingAllFinds) {
  const ObjectGraph& graph = analysis_.graph();
  const std::vector<std::pair<std::string, std::string>> columns = {
      {"nodes", "id"},     {"nodes", "address"},   {"edges", "source"},
      {"edges", "target"}, {"dominators", "node"}, {"dominators", "dominator"}};
  for (const auto& [table, column] : columns) {
    for (NodeId node = 0; node <= graph.nodes(); ++node) {
      const std::string value = column != "address" ? std::to_string(node)
                                : node < graph.nodes()
                                    ? "'" + AddressText(graph, node) + "'"
                                    : "'x'";
      const std::string all = "SELECT * FROM " + table + " WHERE ";
      // A unary plus keeps SQLite from looking up.
      EXPECT_EQ(Ask(all + column + " = " + value),
                Ask(all + "+" + column + " = " + value))
          << table << " " << column << " " << value;
    }
    EXPECT_THAT(Ask("SELECT * FROM " + table + " WHERE " + column + " = NULL"),
                IsEmpty());
    EXPECT_THAT(Ask("SELECT * FROM " + table + " WHERE " + column + " = -1"),
                IsEmpty());
  }
}

TEST_F(GraphRelationsTest, FollowsDominatorsDown) {
  EXPECT_THAT(
      Ask("WITH RECURSIVE below(node) AS (SELECT id FROM nodes WHERE type = "
          "'app.Cache' UNION ALL SELECT d.node FROM below b JOIN dominators d "
          "ON d.dominator = b.node) SELECT count(*), sum(size) FROM below JOIN "
          "nodes ON id = node"),
      ElementsAre("3|1128"));
}

TEST_F(GraphRelationsTest, SaysWhatIsWrongInOneLine) {
  EXPECT_THAT(Ask("SELECT colour FROM nodes"),
              ElementsAre("SQL: no such column: colour"));
  EXPECT_THAT(Ask("SELEC 1"), ElementsAre(HasSubstr("syntax error")));
  EXPECT_THAT(Ask(""), ElementsAre(HasSubstr("expected a SELECT")));
  EXPECT_THAT(Ask("SELECT 1; SELECT 2"),
              ElementsAre(HasSubstr("expected one statement")));
  EXPECT_THAT(Ask("SELECT 1;\n"), ElementsAre("1"));
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunSql("SELECT colour FROM nodes", 0, GraphRelations(&analysis_))
          .status()));
}

TEST_F(GraphRelationsTest, ReadsAlone) {
  for (const char* sql :
       {"ATTACH '/tmp/pymemrun-query-test.db' AS other", "PRAGMA cache_size=1",
        "CREATE TABLE t(a)", "DELETE FROM nodes", "VACUUM INTO '/tmp/x'",
        "SELECT load_extension('x')", "SELECT fts3_tokenizer('simple')",
        "SELECT FTS3_Tokenizer('x', x'4141414141414141')"}) {
    const auto answer = RunSql(sql, 0, GraphRelations(&analysis_));
    EXPECT_TRUE(absl::IsInvalidArgument(answer.status()))
        << sql << " " << answer.status();
  }
}

TEST_F(GraphRelationsTest, EndsAtTheLimitAndSaysThatThereIsMore) {
  const auto some =
      RunSql("SELECT id FROM nodes", 2, GraphRelations(&analysis_));
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->table.rows.size(), 2u);
  EXPECT_TRUE(some->has_more);
  const auto all = RunSql("SELECT id FROM nodes", analysis_.graph().nodes(),
                          GraphRelations(&analysis_));
  ASSERT_TRUE(all.ok());
  EXPECT_FALSE(all->has_more);
}

TEST_F(GraphRelationsTest, NamesColumnsOnce) {
  const auto answer = RunSql("SELECT 1 AS a, 2.5 AS a, 'x' AS b", 0,
                             GraphRelations(&analysis_));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->table.headings[0].name, "a");
  EXPECT_EQ(answer->table.headings[1].name, "a_2");
  EXPECT_EQ(answer->table.headings[2].name, "b");
  EXPECT_EQ(answer->table.rows[0][1], Cell(ExactNumber{2.5}));
}

TEST_F(GraphRelationsTest, RealsHaveAsManyDigitsAsTheyNeed) {
  EXPECT_THAT(Ask("SELECT 0.1, 1e-9, 2.5, 1.0/3, 1e300"),
              ElementsAre("0.1|1e-09|2.5|0.3333333333333333|1e+300"));
}

}  // namespace
}  // namespace pymemrun
