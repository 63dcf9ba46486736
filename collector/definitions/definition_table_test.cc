#include "collector/definitions/definition_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/ring/ring_fixture.h"

namespace pymemrun {
namespace {

class SiteOutput final : public RecordSink {
 public:
  void Write(absl::string_view bytes, RowCounts) override {
    Record record;
    ASSERT_TRUE(record.ParseFromArray(bytes.data(), bytes.size()));
    if (record.has_site()) sites.push_back(record.site());
    if (record.has_code()) codes.push_back(record.code());
    if (record.has_stack()) stacks.push_back(record.stack());
  }
  std::vector<CodeDef> codes;
  std::vector<StackDef> stacks;
  std::vector<SiteDef> sites;
};

class DefinitionTableTest : public testing::Test {
 protected:
  void DefineCode(uint32_t id, absl::string_view name, uint32_t start) {
    table_.Define(ControlKind::kCode, id,
                  SlotStream::CodeBytes("a.py", name, 10, "", start));
  }
  void DefineFunction(uint32_t id, absl::string_view name, bool bound) {
    table_.Define(ControlKind::kFunction, id,
                  SlotStream::FunctionBytes(name, bound));
  }
  // Whether a site that is new says that its events make objects.
  bool MakesObject(What what, uint32_t code, uint32_t position,
                   uint32_t function) {
    const uint32_t site = table_.Site(what, code, position, function);
    EXPECT_EQ(site, table_.Site(what, code, position, function));
    return out_.sites[site - 1].makes_object();
  }

  ClockScale clock_;
  SiteOutput out_;
  DefinitionTable table_{&clock_, &out_};
};

TEST_F(DefinitionTableTest, ACallMakesAFrameObjectWhereItBegins) {
  DefineCode(1, "f", 4);
  DefineCode(2, "g", kNoPosition);
  EXPECT_TRUE(MakesObject(CALL, 1, 4, 0));
  EXPECT_FALSE(MakesObject(CALL, 1, 9, 0));  // a generator goes on
  EXPECT_TRUE(MakesObject(CALL, 1, 4, 0));
  EXPECT_FALSE(MakesObject(RETURN, 1, 4, 0));
  EXPECT_FALSE(MakesObject(CALL, 2, 4, 0));
  EXPECT_FALSE(MakesObject(CALL, 3, 4, 0));  // never defined
  EXPECT_EQ(out_.sites.size(), 5u);
}

TEST_F(DefinitionTableTest, ACutStackBeginsWithDeeperFrames) {
  DefineCode(1, "f", 4);
  const auto define = [this](uint32_t id, uint32_t parent, uint32_t code) {
    table_.Define(ControlKind::kStackDef, id,
                  SlotStream::Bytes(StackPayload{parent, code, 0, 0}));
  };
  define(1, 0, kDeeperFrames);
  define(2, 1, 1);
  ASSERT_EQ(out_.stacks.size(), 2u);
  EXPECT_EQ(out_.codes[out_.stacks[0].code() - 1].name(), "<deeper frames>");
  EXPECT_EQ(out_.stacks[0].line(), 0u);
  EXPECT_EQ(out_.stacks[1].parent(), out_.stacks[0].id());
  // What other rings' cut stacks begin with is the same.
  EXPECT_EQ(table_.InternStack(0, out_.stacks[0].code(), 0), table_.Stack(1));
}

TEST_F(DefinitionTableTest, ACallOfAMethodMakesABoundObject) {
  DefineCode(1, "f", 4);
  DefineFunction(1, "list.append", true);
  DefineFunction(2, "len", false);
  EXPECT_TRUE(MakesObject(C_CALL, 1, 4, 1));
  EXPECT_FALSE(MakesObject(C_RETURN, 1, 4, 1));
  EXPECT_FALSE(MakesObject(C_CALL, 1, 4, 2));
  EXPECT_FALSE(MakesObject(C_CALL, 1, 4, 3));  // never defined
  // The ids mean something else.
  DefineFunction(1, "abs", false);
  DefineFunction(2, "str.upper", true);
  EXPECT_FALSE(MakesObject(C_CALL, 1, 4, 1));
  EXPECT_TRUE(MakesObject(C_CALL, 1, 4, 2));
  table_.Forget(ControlKind::kFunction);
  DefineFunction(2, "len", false);
  EXPECT_FALSE(MakesObject(C_CALL, 1, 4, 2));
}

}  // namespace
}  // namespace pymemrun
