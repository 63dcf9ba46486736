// Indexes of dumps, as pymemobj makes and uses them.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/objects/index/index_layout.h"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A graph of all that an index has: names, values, weak references, circles
// that nothing reaches, large sizes, more nodes than a block.
class ObjectsIndexTest : public testing::Test {
 protected:
  ObjectsIndexTest() {
    const uint32_t modules = builder_.AddGroup("modules");
    const uint32_t sys_modules = builder_.Add("dict", 1000, std::nullopt, 1);
    const uint32_t module = builder_.Add("module", 72, "app");
    const uint32_t app = builder_.Add("dict", 500, std::nullopt, 1);
    cache_ = builder_.Add("app.Cache", 48);
    list_ = builder_.Add("list", uint64_t{5} << 32, std::nullopt, 1300);
    builder_.node(list_).beside = 0x777000;
    builder_.node(list_).beside_bytes = uint64_t{5} << 31;
    builder_.Refer(modules, sys_modules, EDGE_ROOT, "sys.modules");
    builder_.Put(sys_modules, builder_.AddText("app"), module);
    builder_.Refer(module, app, EDGE_DICT);
    builder_.Put(app, builder_.AddText("CACHE"), cache_);
    builder_.Refer(cache_, list_, EDGE_ATTRIBUTE, "entries");
    std::mt19937 random(5);
    for (int i = 0; i < 1300; ++i) {
      item_ = i % 3 == 0 ? builder_.Add("app.Item", 64)
                         : builder_.AddText(absl::StrCat("text ", i % 50));
      builder_.Refer(list_, item_, EDGE_INDEX);
      if (i % 7 == 0) builder_.Refer(cache_, item_, EDGE_WEAK);
      if (i % 5 == 0) builder_.Refer(item_, cache_, EDGE_OTHER);
    }
    const uint32_t lost = builder_.AddGroup("gc tracked, not reached");
    const uint32_t one = builder_.Add("app.Node", 64);
    const uint32_t other = builder_.Add("app.Node", 64);
    builder_.Refer(lost, one, EDGE_ROOT);
    builder_.Refer(one, other, EDGE_ATTRIBUTE, "next");
    builder_.Refer(other, one, EDGE_ATTRIBUTE, "next");
    builder_.begin().set_time_us(2500000);
    dump_ = folder_.Write("run.obj.pb", builder_.Write());
    index_ = dump_ + ".idx";
  }

  std::string At(uint32_t node) {
    return absl::StrCat("0x", absl::Hex(builder_.AddressOf(node)));
  }
  std::vector<std::vector<std::string>> Commands() {
    std::vector<std::vector<std::string>> commands = {
        {"summary"},
        {"summary", "--where", "value=text 1*"},
        {"suspects"},
        {"suspects", "--min-share", "1", "--json"},
        {"list", "--limit", "0"},
        {"list", "--sort", "length"},
        {"retained", "app.Item"},
        {"retained", "0x1"},
        {"dominators", "--min", "0"},
        {"treemap"},
        {"duplicates"},
        {"cycles"},
        {"collapse"},
        {"export"},
        {"query", "SELECT * FROM nodes", "--limit", "0"},
        {"query", "SELECT * FROM edges", "--limit", "0"},
        {"query", "SELECT * FROM dominators", "--limit", "0"},
        {"query", "SELECT * FROM types"},
        {"query",
         "SELECT count(*) FROM edges JOIN nodes ON target = id WHERE "
         "address = '0x1500'"}};
    for (const uint32_t node : {cache_, list_, item_}) {
      for (const char* command : {"show", "path", "parents", "children", "refs",
                                  "retained", "dominators"}) {
        commands.push_back({command, At(node)});
        commands.push_back({command, At(node), "--csv", "--limit", "0"});
      }
    }
    return commands;
  }
  Printed Run(std::vector<std::string> command,
              const std::vector<std::string>& more = {}) {
    command.insert(command.begin() + 1, dump_);
    command.insert(command.end(), more.begin(), more.end());
    return Objects(command);
  }
  // How a message about the index begins.
  std::string Said() const { return "pymemobj: " + index_ + ": "; }
  // The same arrays with this table behind them.
  static std::string WithTable(const std::string& whole,
                               const std::vector<IndexSection>& sections,
                               const DumpStamp& stamp) {
    const std::string table = EncodeTable(sections, stamp);
    return whole.substr(0, whole.size() - table.size()) + table;
  }
  // The index with an item of an array changed, and no checksum wrong.
  static std::string Forged(std::string whole, const DumpStamp& stamp,
                            size_t number, uint64_t item) {
    const auto table = *ReadTable(whole, stamp);
    std::vector<IndexSection> sections(table.begin(), table.end());
    IndexSection& section = sections[number];
    const std::string value = "\xfe\xff\xff\xff\xff\xff\xff\xff";
    whole.replace(section.offset + item * section.item_bytes,
                  section.item_bytes, value, 0, section.item_bytes);
    section.checksum = IndexChecksum(absl::string_view(whole).substr(
        section.offset, section.items * section.item_bytes));
    return WithTable(whole, sections, stamp);
  }
  void MakeIndex() { ASSERT_EQ(Run({"index"}).code, kExitOk); }

  ObjectRunBuilder builder_;
  uint32_t cache_, list_, item_;
  TempFolder folder_;
  std::string dump_, index_;
};

TEST_F(ObjectsIndexTest, IndexSaysWhatItWrote) {
  const Printed printed = Run({"index"});
  EXPECT_EQ(printed.code, kExitOk) << printed.err;
  EXPECT_THAT(printed.out, StartsWith(index_ + ": an index of 1,30"));
  EXPECT_THAT(printed.out, HasSubstr(" KiB, written in "));
  struct stat info;
  ASSERT_EQ(stat(index_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(ObjectsIndexTest, AnswersAreTheSame) {
  MakeIndex();
  for (const auto& command : Commands()) {
    const Printed without = Run(command, {"--index", "none"});
    const Printed with = Run(command);
    EXPECT_EQ(with.code, without.code);
    EXPECT_EQ(with.out, without.out) << testing::PrintToString(command);
    EXPECT_EQ(with.err, without.err) << testing::PrintToString(command);
  }
}

// Damage is one line, and the answer is as without an index.
TEST_F(ObjectsIndexTest, OfADamagedIndexNothingIsRead) {
  MakeIndex();
  const std::string whole = ReadWhole(index_);
  std::vector<std::vector<std::string>> commands = {
      {"show", At(item_)}, {"path", At(list_)}, {"list", "--limit", "0"}};
  std::vector<Printed> expected;
  for (const auto& command : commands) expected.push_back(Run(command));
  constexpr size_t kStep = 103;
  size_t found = 0;
  for (size_t at = 0; at < whole.size(); at += kStep) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    folder_.Write("run.obj.pb.idx", damaged);
    const size_t i = at / kStep % commands.size();
    const Printed printed = Run(commands[i]);
    ASSERT_EQ(printed.code, expected[i].code) << at << printed.err;
    ASSERT_EQ(printed.out, expected[i].out) << at;
    if (printed.err == expected[i].err) continue;
    ++found;
    EXPECT_THAT(printed.err, HasSubstr(index_ + ": ")) << at;
    EXPECT_THAT(printed.err, HasSubstr(": the dump is read without it\n"));
  }
  EXPECT_GT(found, whole.size() / kStep * 9 / 10);
}

TEST_F(ObjectsIndexTest, EachLengthIsCutOff) {
  MakeIndex();
  const std::string whole = ReadWhole(index_);
  const std::string expected = Run({"show", At(item_)}).out;
  for (size_t size = 0; size < whole.size(); size += 97) {
    folder_.Write("run.obj.pb.idx", whole.substr(0, size));
    const Printed printed = Run({"show", At(item_)});
    ASSERT_EQ(printed.code, kExitOk);
    ASSERT_EQ(printed.out, expected);
    ASSERT_THAT(printed.err, HasSubstr(index_ + ": byte "));
    ASSERT_THAT(printed.err, HasSubstr(": the dump is read without it\n"));
  }
}

TEST_F(ObjectsIndexTest, TheIndexOfAnotherDumpIsNotUsed) {
  MakeIndex();
  builder_.begin().set_time_us(2500001);
  folder_.Write("run.obj.pb", builder_.Write());
  const Printed printed = Run({"summary"});
  EXPECT_EQ(printed.code, kExitOk);
  EXPECT_THAT(printed.err, HasSubstr(index_ + ": is the index of another dump: "
                                              "the dump is read without it\n"));
  MakeIndex();
  EXPECT_EQ(Run({"summary"}).err, "");
}

TEST_F(ObjectsIndexTest, AnIndexMayBeElsewhere) {
  const std::string other = folder_.path() + "/other.idx";
  EXPECT_THAT(Run({"index", "-o", other}).out, StartsWith(other + ": "));
  EXPECT_FALSE(std::filesystem::exists(index_));
  const Printed printed = Run({"summary"}, {"--index", other});
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(printed.out, Run({"summary"}).out);
  const Printed missing = Run({"summary"}, {"--index", "/nowhere.idx"});
  EXPECT_EQ(missing.code, kExitOk);
  EXPECT_THAT(missing.err, HasSubstr("/nowhere.idx: No such file or directory: "
                                     "the dump is read without it\n"));
}

TEST_F(ObjectsIndexTest, WhatIsNoIndexIsNotReplaced) {
  folder_.Write("run.obj.pb.idx", "precious");
  const Printed printed = Run({"index"});
  EXPECT_EQ(printed.code, kExitUsage);
  EXPECT_THAT(printed.err, HasSubstr("exists and is not an index"));
  EXPECT_EQ(ReadWhole(index_), "precious");
  EXPECT_EQ(Objects({"index", dump_, "-o", dump_}).code, kExitUsage);
}

// Who may write the index may say what the dump holds.
TEST_F(ObjectsIndexTest, WhatOthersCouldHaveWrittenIsNotRead) {
  MakeIndex();
  ASSERT_EQ(chmod(index_.c_str(), 0666), 0);
  const Printed open_to_all = Run({"summary"});
  EXPECT_EQ(open_to_all.code, kExitOk);
  EXPECT_EQ(open_to_all.out, Run({"summary"}, {"--index", "none"}).out);
  EXPECT_EQ(open_to_all.err, Said() +
                                 "other users may write to it: the dump "
                                 "is read without it\n");
  ASSERT_EQ(chmod(index_.c_str(), 0600), 0);
  EXPECT_EQ(Run({"summary"}).err, "");
  constexpr uid_t kStranger = 65534;
  if (chown(index_.c_str(), kStranger, kStranger) != 0) return;  // needs root
  EXPECT_EQ(Run({"summary"}).err, Said() +
                                      "belongs to another user: the dump "
                                      "is read without it\n");
  // Who owns the dump might have forged that.
  ASSERT_EQ(chown(dump_.c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(Run({"summary"}).err, "");
}

TEST_F(ObjectsIndexTest, AFifoIsNeitherReadNorReplaced) {
  ASSERT_EQ(mkfifo(index_.c_str(), 0600), 0);
  const Printed made = Run({"index"});
  EXPECT_EQ(made.code, kExitUsage);
  EXPECT_THAT(made.err, HasSubstr("exists and is not an index"));
  const Printed read = Run({"summary"});
  EXPECT_EQ(read.code, kExitOk);
  EXPECT_EQ(read.err, Said() +
                          "expected a plain file: the dump is read "
                          "without it\n");
}

// Numbers that would lead out of the arrays, in an index that is whole.
TEST_F(ObjectsIndexTest, ArraysThatDoNotFitAreRefused) {
  MakeIndex();
  const std::string whole = ReadWhole(index_);
  const DumpStamp stamp = *StampOf(dump_);
  const auto sections = *ReadTable(whole, stamp);
  const std::string expected = Run({"suspects"}, {"--index", "none"}).out;
  // What has no limits: addresses, flags, kinds, and the bytes of names. The
  // root's size and details may be any that fit.
  const std::set<uint32_t> free = {1, 4, 7, 12, 16}, free_for_root = {2, 14};
  size_t forged = 0;
  for (size_t i = 0; i < sections.size(); ++i) {
    if (free.count(sections[i].number) > 0) continue;
    for (const uint64_t item : {uint64_t{0}, sections[i].items - 1}) {
      if (item == 0 && free_for_root.count(sections[i].number) > 0) continue;
      folder_.Write("run.obj.pb.idx", Forged(whole, stamp, i, item));
      const Printed printed = Run({"suspects"});
      EXPECT_EQ(printed.code, kExitOk);
      EXPECT_EQ(printed.out, expected);
      EXPECT_THAT(printed.err, HasSubstr(Said() + "expected "))
          << sections[i].number;
      ++forged;
    }
  }
  EXPECT_EQ(forged, 2 * (sections.size() - free.size() - 1));
}

TEST_F(ObjectsIndexTest, ArraysOfOtherLengthsAreRefused) {
  MakeIndex();
  const std::string whole = ReadWhole(index_);
  const DumpStamp stamp = *StampOf(dump_);
  const auto table = *ReadTable(whole, stamp);
  for (size_t i = 0; i < table.size(); ++i) {
    std::vector<IndexSection> sections(table.begin(), table.end());
    for (const uint64_t items : {uint64_t{0}, sections[i].items - 1}) {
      sections[i].items = items;
      sections[i].checksum = IndexChecksum(
          whole.substr(sections[i].offset, items * sections[i].item_bytes));
      folder_.Write("run.obj.pb.idx", WithTable(whole, sections, stamp));
      const Printed printed = Run({"summary"});
      EXPECT_EQ(printed.code, kExitOk);
      EXPECT_THAT(printed.err, HasSubstr(Said() + "expected "))
          << sections[i].number;
    }
  }
}

// Bytes of whole arrays: all but those that fill up to the next array.
TEST_F(ObjectsIndexTest, EachFlippedByteIsFound) {
  MakeIndex();
  std::string bytes = ReadWhole(index_);
  const DumpStamp stamp = *StampOf(dump_);
  ASSERT_TRUE(ReadTable(bytes, stamp).ok());
  size_t missed = 0;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x80);
    missed += ReadTable(bytes, stamp).ok();
    bytes[at] = static_cast<char>(bytes[at] ^ 0x80);
  }
  EXPECT_LT(missed, 24u * 7 / 3);
}

TEST_F(ObjectsIndexTest, AnIndexOfAnotherVersionIsWrittenAnew) {
  MakeIndex();
  const std::string whole = ReadWhole(index_);
  std::string older = whole;
  older[7] = '1';
  folder_.Write("run.obj.pb.idx", older);
  const Printed printed = Run({"summary"});
  EXPECT_EQ(printed.code, kExitOk);
  EXPECT_EQ(printed.err, Said() +
                             "is an index of another version: the dump is "
                             "read without it\n");
  EXPECT_EQ(Run({"index"}).err, "");
  EXPECT_EQ(ReadWhole(index_), whole);
}

TEST_F(ObjectsIndexTest, ADamagedDumpGetsNoIndex) {
  std::string bytes = ReadWhole(dump_);
  bytes[bytes.size() / 2] ^= 1;
  folder_.Write("run.obj.pb", bytes);
  EXPECT_EQ(Run({"index"}).code, kExitFailed);
  EXPECT_FALSE(std::filesystem::exists(index_));
  EXPECT_EQ(Objects({"index", "-"}).code, kExitFailed);
}

// Each byte of a small file counts, and its size.
TEST(DumpStampTest, ChangesWithTheFile) {
  const TempFolder folder;
  std::string bytes(20000, 'a');
  const std::string path = folder.Write("a", bytes);
  const DumpStamp stamp = *StampOf(path);
  EXPECT_EQ(stamp, *StampOf(folder.Write("b", bytes)));
  for (const size_t at : {0, 1, 4095, 4096, 9999, 19999}) {
    std::string changed = bytes;
    changed[at] = 'b';
    EXPECT_FALSE(stamp == *StampOf(folder.Write("b", changed))) << at;
  }
  EXPECT_FALSE(stamp == *StampOf(folder.Write("b", bytes + "a")));
  EXPECT_FALSE(StampOf(folder.path()).ok());
}

}  // namespace
}  // namespace pymemrun
