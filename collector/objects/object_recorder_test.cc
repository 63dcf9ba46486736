// A walk's messages become a dump that readers read; what makes no sense ends
// it, and whatever comes, readers can read what was written before.
#include "collector/objects/object_recorder.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/objects/walk_for_tests.h"
#include "format/records/record_decoder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Keeper : public RecordVisitor {
 public:
  void OnHeader(const Header& h) override { header = h; }
  void OnObjectsBegin(const ObjectsBegin& b) override { begin = b; }
  void OnObjectsEnd(const ObjectsEnd& e) override { end = e; }
  void OnObjectType(const ObjectTypeDef& t) override {
    types.push_back(absl::StrCat(t.module(), ".", t.name(), " ", t.base()));
  }
  bool OnObjects(const ObjectNode* nodes, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      objects.push_back(absl::StrCat(nodes[i].number, " t", nodes[i].type, " ",
                                     nodes[i].size_bytes, " ", nodes[i].text));
    }
    return true;
  }
  bool OnReferences(const ObjectReference* references, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      const ObjectReference& r = references[i];
      edges.push_back(
          absl::StrCat(r.from, ">", r.target, " ", r.kind, " ", r.name));
    }
    return true;
  }
  Header header;
  ObjectsBegin begin;
  ObjectsEnd end;
  std::vector<std::string> types, objects, edges;
};

struct Recorded {
  absl::Status taken, finished, decoded;
  Keeper keeper;
};

// In pieces of this many bytes.
Recorded Record(const std::string& bytes, size_t piece = 1 << 20) {
  Recorded result;
  RecordDecoder decoder(&result.keeper);
  ObjectRecorder recorder(
      [&](absl::string_view record) {
        const absl::Status status = decoder.Decode(record);
        if (result.decoded.ok()) result.decoded = status;
        return absl::OkStatus();
      },
      [] { return 1234; });
  ObjectMessages messages(&recorder);
  for (size_t at = 0; at < bytes.size() && result.taken.ok(); at += piece) {
    result.taken = messages.Take(absl::string_view(bytes).substr(at, piece));
  }
  result.finished = recorder.Finish();
  return result;
}

TEST(ObjectRecorderTest, AWalkBecomesADump) {
  for (const size_t piece : {1, 7, 64, 1 << 20}) {
    const Recorded result = Record(SmallWalk(), piece);
    EXPECT_TRUE(result.taken.ok()) << result.taken;
    EXPECT_TRUE(result.finished.ok()) << result.finished;
    EXPECT_TRUE(result.decoded.ok()) << result.decoded;
    const Keeper& kept = result.keeper;
    EXPECT_EQ(kept.header.pid(), 42u);
    EXPECT_EQ(kept.header.process_start_ticks(), 7u);
    EXPECT_EQ(kept.header.start_realtime_ns(), 77u);
    EXPECT_EQ(kept.begin.time_us(), 4000u);
    EXPECT_EQ(kept.begin.reason(), OBJECTS_SIGNAL);
    EXPECT_EQ(kept.begin.pause_us(), 1234u);
    EXPECT_THAT(kept.types,
                ElementsAre(".<root> 0", "builtins.list 0", "builtins.str 2"));
    EXPECT_THAT(kept.objects, ElementsAre("0 t1 0 ", "1 t2 88 ",
                                          "2 t3 54 hello", "3 t3 50 x"));
    EXPECT_THAT(kept.edges, testing::UnorderedElementsAre(
                                "0>1 13 1", "0>3 13 0", "1>2 4 0", "1>2 4 0"));
    EXPECT_EQ(kept.end.outcome(), ObjectsEnd::COMPLETE);
    EXPECT_EQ(kept.end.objects(), 3u);
    EXPECT_EQ(kept.end.references(), 4u);
    EXPECT_EQ(kept.end.size_bytes(), 192u);
    EXPECT_EQ(kept.end.duration_us(), 99u);
  }
}

TEST(ObjectRecorderTest, AWalkThatIsCutIsStopped) {
  const std::string whole = SmallWalk();
  const size_t begin = WalkBegin().size();
  for (size_t size = 0; size < whole.size(); ++size) {
    const Recorded result = Record(whole.substr(0, size));
    EXPECT_TRUE(result.taken.ok()) << size << result.taken;
    EXPECT_EQ(result.finished.ok(), size >= begin) << size;
    EXPECT_TRUE(result.decoded.ok()) << size << result.decoded;
    EXPECT_EQ(result.keeper.end.outcome(),
              size >= begin ? ObjectsEnd::STOPPED : ObjectsEnd::COMPLETE);
  }
}

// Whatever a broken child says, nothing is written that readers refuse.
TEST(ObjectRecorderTest, AnyByteMayBeAnother) {
  const std::string whole = SmallWalk();
  int refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0, 1, 2, 127, 128, 255, whole[at] ^ 4}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(value);
      const Recorded result = Record(bytes, 64);
      EXPECT_TRUE(result.decoded.ok()) << at << " " << value << result.decoded;
      if (!result.taken.ok()) ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

struct BadMessage {
  const char* name;
  std::string bytes;
  const char* says;
};

void PrintTo(const BadMessage& bad, std::ostream* out) { *out << bad.name; }

class BadMessageTest : public testing::TestWithParam<BadMessage> {};

TEST_P(BadMessageTest, EndsTheDump) {
  const std::string start = WalkBegin() +
                            TypeMessage(1, 0, true, "", "<root>") +
                            NodeMessage(1, 0, 0);
  const Recorded result = Record(start + GetParam().bytes + WalkEnd());
  EXPECT_EQ(result.taken.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.taken.message()), HasSubstr(GetParam().says));
  EXPECT_EQ(result.keeper.end.outcome(), ObjectsEnd::STOPPED);
  EXPECT_TRUE(result.decoded.ok()) << result.decoded;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadMessageTest,
    testing::Values(
        BadMessage{"LateTarget", EdgesMessage({EdgeTo(2, 4)}), ""},
        BadMessage{"Name", EdgesMessage({EdgeTo(1, 4, 1)}), "name, found 1"},
        BadMessage{"EdgeKind", EdgesMessage({EdgeTo(1, 31)}), "found 31"},
        BadMessage{"EdgePart", Message(ObjectMessage::kEdges, "abc"),
                   "found 3"},
        BadMessage{"Type", NodeMessage(2, 1, 1), "no such type, found 2"},
        BadMessage{"TypeId", TypeMessage(3, 0, false, "", "x"), "type 2"},
        BadMessage{"Base", TypeMessage(2, 2, false, "", "x"), "no such base"},
        BadMessage{"NotReached", NodeMessage(1, 8, 8), ""},
        BadMessage{"Text", Message(ObjectMessage::kNode, "short"), "64 bytes"},
        BadMessage{"Kind", Message(static_cast<ObjectMessage>(99), ""), "99"},
        BadMessage{"SecondBegin", WalkBegin(), "one launch text"},
        BadMessage{"LongName",
                   Message(ObjectMessage::kName, std::string(600, 'n')), "600"},
        BadMessage{"Large",
                   Message(ObjectMessage::kName, std::string(70000, 'n')),
                   "70000"},
        BadMessage{"Unfinished", EdgesMessage({EdgeTo(1, 4)}),
                   "expected 2 nodes, found 1"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ObjectRecorderTest, NothingIsTakenAfterTheEnd) {
  const Recorded result =
      Record(SmallWalk() + Message(ObjectMessage::kName, "n"));
  EXPECT_FALSE(result.taken.ok());
  EXPECT_EQ(result.keeper.end.outcome(), ObjectsEnd::COMPLETE);
}

TEST(ObjectRecorderTest, NothingComesBeforeTheBeginning) {
  const Recorded result = Record(NodeMessage(1, 0, 0));
  EXPECT_FALSE(result.taken.ok());
  EXPECT_FALSE(result.finished.ok());
}

}  // namespace
}  // namespace pymemrun
