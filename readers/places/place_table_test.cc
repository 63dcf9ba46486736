#include "readers/places/place_table.h"

#include <memory>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

// Its last frame's stack: the user's job.py, line 5, loads a module.
std::unique_ptr<RunIndex> Import() {
  auto index = std::make_unique<RunIndex>();
  const char* const files[] = {"/job.py", "<frozen importlib._bootstrap>",
                               "/usr/lib/python3.11/csv.py"};
  uint32_t id = 0;
  for (const char* file : files) {
    CodeDef code;
    code.set_id(++id);
    code.set_file(file);
    index->Add(code);
    StackDef node;
    node.set_id(id);
    node.set_parent(id - 1);
    node.set_code(id);
    node.set_line(5);
    index->Add(node);
  }
  return index;
}

TEST(PlaceTableTest, ImportsAreApartFromTheLineThatImports) {
  const auto index = Import();
  const Origin imported = {.stack = 3}, line = {.stack = 1};
  EXPECT_EQ(LabelOf(PlaceOf(GroupBy::kLine, *index, imported)), "/job.py:5");
  EXPECT_EQ(LabelOf(PlaceOf(GroupBy::kWorkLine, *index, imported)),
            "<imports>");
  EXPECT_EQ(LabelOf(PlaceOf(GroupBy::kWorkLine, *index, line)), "/job.py:5");
}

TEST(PlaceTableTest, EachPlaceHasOneNumber) {
  PlaceTable table;
  EXPECT_EQ(table.NumberOf(NamedPlace("a")), 0u);
  EXPECT_EQ(table.NumberOf(Place{"a", 1, {}}), 1u);
  EXPECT_EQ(table.NumberOf(NamedPlace("a")), 0u);
  EXPECT_EQ(table.places().size(), 2u);
}

}  // namespace
}  // namespace pymemrun
