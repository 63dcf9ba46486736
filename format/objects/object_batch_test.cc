// Object dumps: what goes in comes out, and damage is refused.
#include "format/objects/object_batch.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "format/limits.h"
#include "format/objects/object_run_for_tests.h"
#include "format/records/record_decoder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// Keeps all that comes as text.
class ObjectKeeper : public CheckingVisitor {
 public:
  bool OnObjects(const ObjectNode* nodes, size_t count) override {
    CheckingVisitor::OnObjects(nodes, count);
    for (size_t i = 0; i < count; ++i) Keep(nodes[i]);
    return !stop;
  }
  bool OnReferences(const ObjectReference* references, size_t count) override {
    CheckingVisitor::OnReferences(references, count);
    for (size_t i = 0; i < count; ++i) {
      const ObjectReference& r = references[i];
      edges.push_back(absl::StrCat(r.from, ">", r.target, " ",
                                   EdgeKind_Name(r.kind), " ", r.name));
    }
    return true;
  }
  void OnObjectsBegin(const ObjectsBegin& b) override { begin = b; }
  void OnObjectsEnd(const ObjectsEnd& e) override { end = e; }
  bool stop = false;
  std::vector<std::string> nodes, edges;
  ObjectsBegin begin;
  ObjectsEnd end;

 private:
  void Keep(const ObjectNode& n) {
    std::string line = absl::StrCat(n.number, ":", absl::Hex(n.address), " t",
                                    n.type, " ", n.size_bytes, "B");
    if (n.length.has_value()) absl::StrAppend(&line, " len", *n.length);
    if (n.has_text()) absl::StrAppend(&line, " '", n.text, "'");
    if (n.text_hash != 0) absl::StrAppend(&line, " h", absl::Hex(n.text_hash));
    if (n.flags != 0) absl::StrAppend(&line, " f", n.flags);
    if (n.line != 0) absl::StrAppend(&line, " l", n.line);
    nodes.push_back(line);
  }
};

struct Outcome {
  absl::Status status;
  ReadResult result;
  ObjectKeeper kept;
};

void Read(const std::string& file, Outcome* outcome) {
  StringSource source(file);
  outcome->status = ReadStream(&source, {}, &outcome->kept, &outcome->result);
}

void ExpectAll(const ObjectKeeper& kept) {
  EXPECT_THAT(
      kept.nodes,
      ElementsAre("0:0 t1 0B", "1:7000 t2 88B len3 f1",
                  "2:6000 t3 52B len3 'a\"b'", "3:6100 t4 28B '-7' f2",
                  "4:8000 t3 1049B len1000 'xxxx' hfedcba9876543210 l12"));
}

TEST(ObjectBatch, WhatGoesInComesOut) {
  Outcome outcome;
  Read(Joined(ObjectRunFrames()), &outcome);
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_THAT(outcome.kept.damages(), IsEmpty());
  ExpectAll(outcome.kept);
  EXPECT_THAT(
      outcome.kept.edges,
      ElementsAre("0>1 EDGE_ROOT 1", "1>2 EDGE_INDEX 0", "1>3 EDGE_INDEX 0",
                  "1>1 EDGE_INDEX 0", "0>4 EDGE_WEAK 2"));
  EXPECT_EQ(outcome.kept.begin.pause_us(), 5700u);
  EXPECT_EQ(outcome.kept.end.references(), 5u);
  EXPECT_EQ(outcome.result.objects, 5u);
  EXPECT_EQ(outcome.result.references, 5u);
}

TEST(ObjectBatch, ManySmallBatchesSayTheSame) {
  Outcome outcome;
  EXPECT_EQ(ObjectRunBatches(1 << 20).size(), 2u);
  EXPECT_GE(ObjectRunBatches(1).size(), 10u);
  Read(Joined(ObjectRunFrames(StreamWriter::kStored, 1)), &outcome);
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_THAT(outcome.kept.damages(), IsEmpty());
  ExpectAll(outcome.kept);
  EXPECT_EQ(outcome.kept.edges.size(), 5u);
  EXPECT_EQ(outcome.kept.edges[4], "0>4 EDGE_WEAK 2");
}

TEST(ObjectBatch, AVisitorMayStop) {
  Outcome outcome;
  outcome.kept.stop = true;
  Read(Joined(ObjectRunFrames()), &outcome);
  EXPECT_TRUE(outcome.result.stopped);
  EXPECT_THAT(outcome.kept.edges, IsEmpty());
}

TEST(ObjectBatch, ANodeOfManyReferencesGoesOverBatches) {
  std::vector<Record> records;
  ObjectBatchEncoder encoder(EmitTo(&records), 1000);
  MustBeOk(encoder.AddNode(PlainNode(0, 0, 0)));
  for (int i = 0; i < 1000; ++i) {
    MustBeOk(encoder.AddReference(EDGE_INDEX, 0, encoder.next_new()));
  }
  for (int i = 0; i < 1000; ++i) MustBeOk(encoder.AddNode(PlainNode(0, i, i)));
  MustBeOk(encoder.Flush());
  EXPECT_GE(records.size(), 20u);
  ObjectKeeper kept;
  RecordDecoder decoder(&kept);
  MustBeOk(decoder.Decode(HeaderRecord().SerializeAsString()));
  for (const Record& record : records) {
    const absl::Status status = decoder.Decode(record.SerializeAsString());
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(kept.nodes.size(), 1001u);
  ASSERT_EQ(kept.edges.size(), 1000u);
  EXPECT_EQ(kept.edges[999], "0>1000 EDGE_INDEX 0");
}

TEST(ObjectBatch, WhatLiesBesideANodeComesBack) {
  std::vector<Record> records;
  ObjectBatchEncoder encoder(EmitTo(&records));
  const uint64_t besides[] = {0, 0x6ff0, 0, ~uint64_t{15}};
  for (uint32_t i = 0; i < 4; ++i) {
    ObjectNode node = PlainNode(1, 0x7000 + i, 200);
    node.beside = besides[i];
    node.beside_bytes = besides[i] == 0 ? 0 : 100 + i;
    MustBeOk(encoder.AddNode(node));
    if (i < 3) MustBeOk(encoder.AddReference(EDGE_OTHER, 0, i + 1));
  }
  ObjectNode large = PlainNode(1, 1, 1);
  large.beside_bytes = kMaxSizeBytes + 1;
  EXPECT_TRUE(absl::IsInvalidArgument(encoder.AddNode(large)));
  MustBeOk(encoder.Flush());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].objects().beside_at_size(), 2);
  ObjectNode nodes[4];
  ObjectNodeCursor cursor(records[0].objects());
  ASSERT_EQ(cursor.Next(nodes, 4), 4u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(nodes[i].beside, besides[i]);
    EXPECT_EQ(nodes[i].beside_bytes, besides[i] == 0 ? 0 : 100 + i);
  }
}

TEST(ObjectBatch, TheEncoderRefusesWhatBreaksTheRules) {
  std::vector<Record> records;
  ObjectBatchEncoder encoder(EmitTo(&records));
  EXPECT_TRUE(absl::IsInvalidArgument(encoder.AddReference(EDGE_OTHER, 0, 0)));
  EXPECT_TRUE(absl::IsInvalidArgument(encoder.ContinueNode(0)));
  ObjectNode node = PlainNode(1, 0, kMaxSizeBytes + 1);
  EXPECT_TRUE(absl::IsInvalidArgument(encoder.AddNode(node)));
  const std::string text(kMaxObjectTextBytes + 1, 'x');
  node.size_bytes = 0;
  node.text = text;
  EXPECT_TRUE(absl::IsInvalidArgument(encoder.AddNode(node)));
  MustBeOk(encoder.AddNode(PlainNode(1, 0, 0)));
  EXPECT_TRUE(absl::IsInvalidArgument(encoder.AddNode(PlainNode(1, 1, 0))));
  EXPECT_TRUE(absl::IsInvalidArgument(encoder.AddReference(EDGE_OTHER, 0, 2)));
  MustBeOk(encoder.Flush());
  EXPECT_EQ(encoder.nodes(), 1u);
  EXPECT_EQ(encoder.references(), 0u);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].objects().target_size(), 0);
}

TEST(ObjectBatch, AFailureToEmitIsPassedOn) {
  ObjectBatchEncoder encoder(
      [](absl::string_view) { return absl::UnavailableError("full"); }, 1);
  MustBeOk(encoder.AddNode(PlainNode(1, 0, 0)));
  EXPECT_TRUE(absl::IsUnavailable(encoder.AddReference(EDGE_OTHER, 0, 1)));
}

// Gives the decoder the definitions of ObjectRunFrames().
void Define(RecordDecoder* decoder) {
  for (const Record& record :
       {HeaderRecord(), ObjectTypeRecord(1, "<root>"),
        ObjectTypeRecord(2, "list"), ObjectTypeRecord(3, "str", 2),
        ObjectTypeRecord(4, "int"), ObjectNameRecord(1, "a"),
        ObjectNameRecord(2, "b")}) {
    MustBeOk(decoder->Decode(record.SerializeAsString()));
  }
}

// What is wrong once `spoil` has changed the first batch; nothing of it may be
// given.
std::string Fault(const std::function<void(ObjectBatch*)>& spoil) {
  ObjectKeeper kept;
  RecordDecoder decoder(&kept);
  Define(&decoder);
  Record record = ObjectRunBatches(1 << 20)[0];
  spoil(record.mutable_objects());
  const absl::Status status = decoder.Decode(record.SerializeAsString());
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(kept.nodes, IsEmpty());
  return std::string(status.message());
}

TEST(SpoiltObjectBatch, EachColumnIsChecked) {
  const std::pair<std::function<void(ObjectBatch*)>, const char*> cases[] = {
      {[](ObjectBatch* b) { b->add_type(1); }, "objects.type: "},
      {[](ObjectBatch* b) { b->set_type(1, 5); }, "objects.type: "},
      {[](ObjectBatch* b) { b->add_size_bytes(1); }, "objects.size_bytes: "},
      {[](ObjectBatch* b) { b->set_size_bytes(0, ~uint64_t{0}); },
       "objects.size_bytes: "},
      {[](ObjectBatch* b) { b->add_edges(0); }, "objects.edges: "},
      {[](ObjectBatch* b) { b->set_edges(0, 2); }, "objects.target: "},
      {[](ObjectBatch* b) { b->set_edges(0, 0xFFFFFFFF); }, "objects.target: "},
      {[](ObjectBatch* b) { b->add_length(1); }, "objects.length: "},
      {[](ObjectBatch* b) { b->set_length_at(0, 4); }, "objects.length_at: "},
      {[](ObjectBatch* b) { b->add_text("x"); }, "objects.text: "},
      {[](ObjectBatch* b) { b->set_text(0, std::string(1025, 'x')); },
       "objects.text: "},
      {[](ObjectBatch* b) { b->set_text_at(0, 9); }, "objects.text_at: "},
      {[](ObjectBatch* b) { b->add_hash(1); }, "objects.hash: "},
      {[](ObjectBatch* b) { b->add_hash_at(4); }, "objects.hash_at: "},
      {[](ObjectBatch* b) { b->add_flags(1); }, "objects.flags: "},
      {[](ObjectBatch* b) { b->set_flags_at(0, 4); }, "objects.flags_at: "},
      {[](ObjectBatch* b) { b->add_line(1); }, "objects.line: "},
      {[](ObjectBatch* b) { b->add_line_at(7); }, "objects.line_at: "},
      {[](ObjectBatch* b) { b->add_beside_at(4); }, "objects.beside_at: "},
      {[](ObjectBatch* b) { b->add_beside_at(0); }, "objects.beside_bytes: "},
      {[](ObjectBatch* b) { b->add_beside_at(0), b->add_beside_bytes(1); },
       "objects.beside_step: "},
      {[](ObjectBatch* b) {
         b->add_beside_at(0), b->add_beside_step(1);
         b->add_beside_bytes(~uint64_t{0});
       },
       "objects.beside_bytes: "},
      {[](ObjectBatch* b) { b->add_late_edges(1); }, "objects.late_edges: "},
      {[](ObjectBatch* b) { b->add_late_node(1), b->add_late_edges(0); },
       "objects.late_node: "},
      {[](ObjectBatch* b) { b->mutable_edge_kind()->push_back(0); },
       "objects.edge_kind: "},
      {[](ObjectBatch* b) { b->set_target(3, 9); }, "objects.target: "},
      {[](ObjectBatch* b) { b->set_target(1, 1); }, "objects.first_node: "},
      {[](ObjectBatch* b) { b->set_edge_name(0, 3); }, "objects.edge_name: "},
      {[](ObjectBatch* b) { b->set_edge_name(0, 0); }, "objects.edge_name: "},
      {[](ObjectBatch* b) { b->set_edge_name_at(0, 4); },
       "objects.edge_name_at: "},
      {[](ObjectBatch* b) { b->set_first_new(2); }, "objects.first_new: "},
      {[](ObjectBatch* b) { b->set_first_node(1); }, "objects.first_node: "},
  };
  for (const auto& [spoil, message] : cases) {
    EXPECT_THAT(Fault(spoil), StartsWith(message));
  }
}

TEST(SpoiltObjectBatch, TypesDeriveFromEarlierOnes) {
  ObjectKeeper kept;
  RecordDecoder decoder(&kept);
  Define(&decoder);
  EXPECT_EQ(
      decoder.Decode(ObjectTypeRecord(5, "x", 5).SerializeAsString()).message(),
      "object_type.base: expected an id below 5, found 5");
}

TEST(SpoiltObjectBatch, AGapIsGoodAfterDamageOnly) {
  const std::vector<Record> batches = ObjectRunBatches(1);
  ObjectKeeper kept;
  RecordDecoder decoder(&kept);
  Define(&decoder);
  MustBeOk(decoder.Decode(batches[0].SerializeAsString()));
  // The third is lost: the fourth is damage, and is reported so.
  EXPECT_THAT(
      std::string(decoder.Decode(batches[3].SerializeAsString()).message()),
      StartsWith("objects.first_"));
  for (size_t i = 4; i < batches.size(); ++i) {
    MustBeOk(decoder.Decode(batches[i].SerializeAsString()));
  }
  EXPECT_THAT(kept.nodes.back(), StartsWith("4:8000 t3"));
  EXPECT_EQ(kept.edges.back(), "0>4 EDGE_WEAK 2");
  // A batch that comes again is damage in any case.
  EXPECT_TRUE(absl::IsDataLoss(decoder.Decode(batches[0].SerializeAsString())));
}

// Nodes and references as in `all`, some left out.
bool IsSubset(const std::vector<std::string>& some,
              const std::vector<std::string>& all) {
  size_t at = 0;
  for (const std::string& one : some) {
    while (at < all.size() && all[at] != one) ++at;
    if (at++ >= all.size()) return false;
  }
  return true;
}

TEST(ObjectDamage, EachFlippedBitAndEachCutGiveNothingWrong) {
  for (const int level : {StreamWriter::kStored, 1}) {
    const std::string file = Joined(ObjectRunFrames(level));
    Outcome whole;
    Read(file, &whole);
    for (size_t at = 0; at < file.size(); ++at) {
      Outcome cut;
      Read(file.substr(0, at), &cut);
      EXPECT_TRUE(IsSubset(cut.kept.nodes, whole.kept.nodes)) << at;
      EXPECT_TRUE(IsSubset(cut.kept.edges, whole.kept.edges)) << at;
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = file;
        flipped[at] ^= static_cast<char>(1 << bit);
        Outcome outcome;
        Read(flipped, &outcome);
        EXPECT_TRUE(IsSubset(outcome.kept.nodes, whole.kept.nodes)) << at;
        EXPECT_TRUE(IsSubset(outcome.kept.edges, whole.kept.edges)) << at;
      }
    }
  }
}

// What the checksum would find is let through: records themselves are flipped.
TEST(ObjectDamage, EachFlippedBitOfARecordKeepsThePromises) {
  const std::string bytes = ObjectRunBatches(1 << 20)[0].SerializeAsString();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[at] ^= static_cast<char>(1 << bit);
      ObjectKeeper kept;  // checks what comes
      RecordDecoder decoder(&kept);
      Define(&decoder);
      const absl::Status status = decoder.Decode(flipped);
      EXPECT_EQ(status.ok() || kept.nodes.empty(), true) << at;
      EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << at << status;
    }
  }
}

}  // namespace
}  // namespace pymemrun
