#include "readers/objects/meliae_loader.h"

#include <zlib.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "absl/strings/match.h"
#include "readers/objects/json_line.h"
#include "readers/objects/object_text.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kDump[] =
    "[\n"
    R"({"address": 100, "type": "module", "size": 56, "name": "app", "refs": [200]},)"
    "\n"
    R"({"address": 200, "type": "dict", "size": 280, "len": 1, "refs": [300, 400]},)"
    "\n\n"
    R"({"address": 300, "type": "str", "size": 42, "len": 5, "value": "CACHE", "refs": []},)"
    "\r\n"
    R"({"address": 400, "type": "Thing", "size": 64, "refs": [500, 600]},)"
    "\n"
    R"({"address": 500, "type": "dict", "size": 280, "len": 1, "refs": [999, 700]},)"
    "\n"
    R"({"address": 600, "type": "type", "size": 900, "name": "Thing", "refs": []},)"
    "\n"
    R"({"address": 700, "type": "int", "size": 24, "value": -12, "refs": []},)"
    "\n"
    R"({"address": 800, "type": "list", "size": 72, "len": 1, "refs": [800]})"
    "\n]\n";

absl::Status Load(const std::string& text, ObjectGraph* graph) {
  StringSource source(text);
  PeekedSource peeked(&source);
  EXPECT_TRUE(LooksLikeMeliae(&peeked));
  return LoadMeliae(&peeked, graph);
}

std::vector<std::string> References(const ObjectGraph& graph, NodeId node) {
  std::vector<std::string> all;
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    all.push_back(EdgeKindName(graph.kind(e)) + " " +
                  NodeText(graph, graph.target(e)));
  }
  return all;
}

void ExpectDump(const ObjectGraph& graph) {
  EXPECT_EQ(graph.objects(), 8u);
  EXPECT_EQ(graph.total_bytes(), 56u + 280 + 42 + 64 + 280 + 900 + 24 + 72);
  EXPECT_EQ(graph.facts().lost_references, 1u);
  EXPECT_THAT(References(graph, graph.Find(100)),
              ElementsAre("dict dict 0xc8"));
  EXPECT_THAT(References(graph, graph.Find(200)),
              ElementsAre("key str 0x12c 'CACHE'", "value Thing 0x190"));
  EXPECT_THAT(References(graph, graph.Find(400)),
              ElementsAre("dict dict 0x1f4", "type type 0x258 Thing"));
  // What no other leads to is a root, and one of each circle.
  EXPECT_THAT(References(graph, kRootNode),
              ElementsAre("root module 0x64 app", "root list 0x320"));
  EXPECT_EQ(ValueText(graph, graph.Find(700)), "-12");
}

TEST(MeliaeLoader, ReadsItsLines) {
  ObjectGraph graph;
  const absl::Status status = Load(kDump, &graph);
  ASSERT_TRUE(status.ok()) << status;
  ExpectDump(graph);
}

TEST(MeliaeLoader, ReadsGzip) {
  std::string packed(4096, '\0');
  z_stream stream = {};
  ASSERT_EQ(
      deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(kDump));
  stream.avail_in = sizeof(kDump) - 1;
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  ObjectGraph graph;
  ASSERT_TRUE(Load(packed, &graph).ok());
  ExpectDump(graph);
  for (size_t size = 2; size < packed.size(); ++size) {
    ObjectGraph cut;
    // What came whole before is read.
    EXPECT_TRUE(!Load(packed.substr(0, size), &cut).ok() ||
                absl::StrContains(cut.facts().damage, "is cut off"))
        << size;
  }
}

TEST(MeliaeLoader, ADictMayHaveItsValuesAlone) {
  ObjectGraph graph;
  ASSERT_TRUE(
      Load(
          R"({"address": 1, "type": "dict", "size": 9, "len": 2, "refs": [2, 2]})"
          "\n"
          R"({"address": 2, "type": "int", "size": 9, "refs": []})",
          &graph)
          .ok());
  EXPECT_THAT(References(graph, graph.Find(1)),
              ElementsAre("other int 0x2", "other int 0x2"));
}

TEST(MeliaeLoader, NamesTheLineThatIsWrong) {
  ObjectGraph graph;
  ASSERT_TRUE(
      Load("{\"address\": 1, \"size\": 2}\n{\"address\": 1}\n", &graph).ok());
  EXPECT_EQ(graph.objects(), 1u);
  EXPECT_EQ(graph.facts().damage,
            "line 2: expected a JSON object with address and size: it is left "
            "out");
  ObjectGraph none;
  EXPECT_THAT(std::string(Load("{\"x\n{\n", &none).message()),
              HasSubstr("line 1: expected a JSON object"));
  ObjectGraph empty;
  EXPECT_FALSE(Load("[\n]\n", &empty).ok());
}

// Where each line cost the rest of what was read, this took minutes.
TEST(MeliaeLoader, EmptyLinesCostNoMoreThanTheyAreLong) {
  ObjectGraph graph;
  ASSERT_TRUE(Load("{\"address\": 1, \"size\": 2}\n" +
                       std::string(20 << 20, '\n') +
                       "{\"address\": 3, \"size\": 4}",
                   &graph)
                  .ok());
  EXPECT_EQ(graph.objects(), 2u);
  EXPECT_EQ(graph.facts().damage, "");
}

TEST(MeliaeLoader, ALineHasALimit) {
  ObjectGraph graph;
  const absl::Status status =
      Load("{\"address\": 1, \"size\": 2}\n" + std::string(300 << 20, 'x'),
           &graph);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(graph.facts().damage,
            "line 2: a line is too long: what follows is missing");
}

TEST(MeliaeLine, IsReadWithItsEscapesAndUnknownFields) {
  MeliaeObject object;
  ASSERT_TRUE(ParseMeliaeLine(
      R"( {"x": {"y": [1, "]", {}, null]}, "address": 7, "size": 8,)"
      R"( "type": "str", "value": "a\"\\\n\u00e9\ud83d\ude00\ud800", "len": 9,)"
      R"( "refs": [1, 2 ,3]} , )",
      &object));
  EXPECT_EQ(object.text, "a\"\\\n\xC3\xA9\xF0\x9F\x98\x80\xED\xA0\x80");
  EXPECT_EQ(object.length, 9u);
  EXPECT_THAT(object.references, ElementsAre(1, 2, 3));
  ASSERT_TRUE(ParseMeliaeLine(R"({"address":1,"size":2,"name":"f"})", &object));
  EXPECT_EQ(object.text, "f");
  EXPECT_THAT(object.references, ElementsAre());
}

TEST(MeliaeLine, IsRefusedWhenItIsCutOrHasAnyByteTooMuch) {
  const std::string line =
      R"({"address": 7, "size": 8, "type": "s", "value": "\u00e9", "refs": [1]})";
  MeliaeObject object;
  ASSERT_TRUE(ParseMeliaeLine(line, &object));
  for (size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(ParseMeliaeLine(line.substr(0, size), &object)) << size;
  }
  EXPECT_FALSE(ParseMeliaeLine(line + "x", &object));
  EXPECT_FALSE(ParseMeliaeLine(R"({"address": -7, "size": 8})", &object));
  EXPECT_FALSE(ParseMeliaeLine(R"({"address": 1e3, "size": 8})", &object));
  std::string deep = R"({"address": 1, "size": 2, "x": )";
  deep += std::string(100, '[') + std::string(100, ']') + "}";
  EXPECT_FALSE(ParseMeliaeLine(deep, &object));
}

}  // namespace
}  // namespace pymemrun
