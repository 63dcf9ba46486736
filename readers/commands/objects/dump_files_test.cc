// Which files pymemobj takes, and which rows it gives of them.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

using testing::HasSubstr;

// A list of 30 strings.
class DumpFilesTest : public testing::Test {
 protected:
  DumpFilesTest() {
    list_ = builder_.Add("list", 56, std::nullopt, 30);
    builder_.Refer(builder_.AddGroup("modules"), list_, EDGE_ROOT, "CACHE");
    for (int i = 0; i < 30; ++i) {
      builder_.Refer(list_, builder_.AddText(std::string(951, 'x')),
                     EDGE_INDEX);
    }
    list_address_ = absl::StrCat("0x", absl::Hex(builder_.AddressOf(list_)));
  }
  // With FILE in front.
  Printed Run(std::vector<std::string> arguments) {
    const TempFile file(builder_.Write());
    arguments.insert(arguments.begin(), file.path());
    return Objects(arguments);
  }

  ObjectRunBuilder builder_;
  uint32_t list_;
  std::string list_address_;
};

TEST_F(DumpFilesTest, CsvHasAllRowsUnlessALimitIsGiven) {
  for (int i = 0; i < 25; ++i) {
    const uint32_t one = builder_.Add(absl::StrCat("app.Kind", i), 48);
    builder_.Refer(list_, one, EDGE_INDEX);
  }
  EXPECT_THAT(CsvLines(Run({"--csv"})), testing::SizeIs(1 + 2 + 25));
  EXPECT_THAT(CsvLines(Run({"list", "--csv"})), testing::SizeIs(1 + 31 + 25));
  EXPECT_THAT(CsvLines(Run({"list", "--csv", "--limit", "4"})),
              testing::SizeIs(5));
}

TEST_F(DumpFilesTest, ListSortsInBothOrders) {
  for (int i = 0; i < 3; ++i) {
    const uint32_t one = builder_.Add("app.Item", 48 + 16 * i);
    builder_.Refer(list_, one, EDGE_INDEX);
  }
  const auto sizes = [this](const std::string& sort) {
    const auto rows = nlohmann::json::parse(
        Run({"list", "--where", "type=app.Item", "--json", "--sort", sort})
            .out);
    std::vector<int> all;
    for (const auto& row : rows) all.push_back(row["bytes"].get<int>());
    return all;
  };
  EXPECT_EQ(sizes("size"), (std::vector<int>{80, 64, 48}));
  EXPECT_EQ(sizes("size:desc"), sizes("size"));
  EXPECT_EQ(sizes("size:asc"), (std::vector<int>{48, 64, 80}));
  const Printed wrong = Run({"list", "--sort", "age:asc"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err,
              testing::HasSubstr(
                  "--sort: expected retained, size, length, or one with :asc "
                  "or :desc, found 'age:asc'"));
}

TEST_F(DumpFilesTest, ObjectsWithoutALengthComeLastInBothOrders) {
  builder_.Refer(list_, builder_.Add("app.Item", 48), EDGE_INDEX);
  for (const char* const sort : {"length", "length:asc"}) {
    const auto rows =
        nlohmann::json::parse(Run({"list", "--json", "--sort", sort}).out);
    EXPECT_FALSE(rows.front()["length"].is_null()) << sort;
    EXPECT_TRUE(rows.back()["length"].is_null()) << sort;
  }
}

// Rows come in parts; what is printed is one table.
TEST_F(DumpFilesTest, AListOfManyRowsIsOneTable) {
  for (int i = 0; i < 10000; ++i) {
    builder_.Refer(list_, builder_.Add("app.Item", 48), EDGE_INDEX);
  }
  const std::vector<std::string> lines = CsvLines(Run({"list", "--csv"}));
  EXPECT_THAT(lines, testing::SizeIs(1 + 31 + 10000));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), lines[0]), 1);
  const auto json = nlohmann::json::parse(Run({"list", "--json"}).out);
  ASSERT_EQ(json.size(), 31u + 10000);
  EXPECT_EQ(json[0]["type"], "list");
  EXPECT_EQ(nlohmann::json::parse(
                Run({"list", "--where", "type=none", "--json"}).out),
            nlohmann::json::array());
}

// A few kilobytes that would fill hundreds of megabytes.
TEST_F(DumpFilesTest, WhatUnfoldsToFarTooMuchIsRefused) {
  const uint32_t item = builder_.Add("app.Item", 48);
  for (int i = 0; i < 8'000'000; ++i) builder_.Refer(list_, item, EDGE_INDEX);
  const TempFile file(builder_.Write());
  EXPECT_LT(std::filesystem::file_size(file.path()), 24'000u);
  const Printed printed = Objects({"summary", file.path()});
  EXPECT_EQ(printed.code, kExitFailed);
  EXPECT_THAT(printed.err,
              HasSubstr(" objects and references in a dump of this "
                        "size, found more\n"));
}

TEST_F(DumpFilesTest, AFolderStandsForItsDumps) {
  const TempFolder folder;
  for (const char* name : {"run.obj.pb", "run.obj-10.pb", "run.obj-2.pb"}) {
    folder.Write(name, builder_.Write());
  }
  folder.Write("run.pb", "no dump");
  const Printed printed = Objects({folder.path(), "show", list_address_});
  EXPECT_EQ(printed.code, kExitOk) << printed.err;
  const size_t first = printed.out.find("/run.obj.pb\n");
  const size_t second = printed.out.find("/run.obj-2.pb\n");
  const size_t third = printed.out.find("/run.obj-10.pb\n");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
  const Printed csv = Objects({folder.path(), "--csv", "--limit", "1"});
  EXPECT_THAT(CsvLines(csv), testing::SizeIs(4));
  EXPECT_THAT(csv.out, HasSubstr(",run\r\n"));
  const TempFolder empty;
  const Printed none = Objects({empty.path()});
  EXPECT_EQ(none.code, kExitFailed);
  EXPECT_THAT(none.err, HasSubstr("expected dumps (*.obj.pb) in this folder, "
                                  "found none"));
}

// As a shell unfolds "run.*.obj.pb" of several children.
TEST_F(DumpFilesTest, TheCommandMayStandBehindSeveralFiles) {
  const TempFile one(builder_.Write()), other(builder_.Write());
  const std::vector<std::string> behind = {one.path(), other.path(), "show",
                                           list_address_};
  const Printed printed = Objects(behind);
  EXPECT_EQ(printed.code, kExitOk) << printed.err;
  EXPECT_THAT(printed.out,
              testing::AllOf(HasSubstr(one.path()), HasSubstr(other.path())));
  EXPECT_THAT(Objects({one.path(), other.path(), "treemap", "-o", "x.svg"}).err,
              HasSubstr("takes one FILE, found 2"));
  EXPECT_THAT(Objects({one.path(), other.path()}).err,
              HasSubstr("unknown command"));
}

TEST_F(DumpFilesTest, OfAFolderWhatIsNoDumpIsLeftOut) {
  const TempFolder folder;
  folder.Write("run.obj.pb", builder_.Write());
  folder.Write("run.pb", "no dump");
  const TempFile other(builder_.Write());
  EXPECT_EQ(Objects({folder.path(), "diff", other.path()}).code, kExitOk);
  EXPECT_EQ(Objects({folder.path(), "index"}).code, kExitOk);
  folder.Write("run.obj-1.pb", builder_.Write());
  const Printed both = Objects({folder.path(), "index"});
  EXPECT_EQ(both.code, kExitOk) << both.err;
  EXPECT_THAT(both.out, HasSubstr("/run.obj-1.pb.idx: an index of"));
  EXPECT_THAT(Objects({folder.path(), "diff", other.path()}).err,
              HasSubstr("takes two files, OLD and NEW, found 3"));
  const TempFolder runs;
  runs.Write("run.pb", "no dump");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"index"}, {"summary"}}) {
    const Printed none = Objects({runs.path(), command[0]});
    EXPECT_EQ(none.code, kExitFailed);
    EXPECT_THAT(none.err, HasSubstr("expected dumps (*.obj.pb) in this"));
  }
}

TEST_F(DumpFilesTest, OneDocumentIsOfOneDump) {
  const TempFolder folder;
  folder.Write("run.obj.pb", builder_.Write());
  folder.Write("run.obj-1.pb", builder_.Write());
  const std::string output = folder.path() + "/out";
  for (const std::string command : {"treemap", "export", "index"}) {
    const Printed printed = Objects({folder.path(), command, "-o", output});
    EXPECT_EQ(printed.code, kExitUsage) << command;
    EXPECT_THAT(printed.err, HasSubstr("takes one FILE, found 2"));
    EXPECT_FALSE(std::filesystem::exists(output));
  }
}

TEST_F(DumpFilesTest, NothingIsWrittenOverWhatIsRead) {
  const TempFolder folder;
  const std::string dump = folder.Write("w.obj.pb", builder_.Write());
  const std::string run = folder.Write("w.pb", "a run");
  const std::string other = folder.Write("other.pb", "another");
  for (const std::string& output : {dump, run}) {
    const Printed printed = Objects({dump, "suspects", "-o", output});
    EXPECT_EQ(printed.code, kExitUsage);
    EXPECT_THAT(printed.err, HasSubstr("is also a file to read"));
  }
  EXPECT_EQ(
      Objects({dump, "what-if", list_address_, "--run", other, "-o", other})
          .code,
      kExitUsage);
  EXPECT_EQ(Report({"heap", run, "--objects", "-o", dump}).code, kExitUsage);
  EXPECT_EQ(Objects({dump, "suspects", "-o", folder.path() + "/new"}).code,
            kExitOk);
}

TEST_F(DumpFilesTest, ThatNoRowIsLeftIsSaid) {
  EXPECT_THAT(Run({"list", "--where", "type=app.Nothing"}).out,
              testing::EndsWith("\n\nnone: --where leaves no row\n"));
}

TEST_F(DumpFilesTest, DiffSaysHowManyRowsAreLeftOut) {
  const TempFile older(builder_.Write());
  for (int i = 0; i < 3; ++i) {
    builder_.Refer(list_, builder_.Add(absl::StrCat("app.Kind", i), 48),
                   EDGE_INDEX);
  }
  const TempFile newer(builder_.Write());
  EXPECT_THAT(Objects({older.path(), "diff", newer.path(), "--limit", "1"}).out,
              HasSubstr("app.Kind0\n\n2 more rows; --limit 0 lists all.\n"));
}

TEST_F(DumpFilesTest, WhatIsNoDumpIsCalledSo) {
  const TempFile noise("\x01\x02\x03\x04 no dump");
  const Printed printed = Objects({noise.path()});
  EXPECT_EQ(printed.code, kExitFailed);
  EXPECT_THAT(printed.err, HasSubstr("not a dump of objects: found a file that "
                                     "begins with 01 02 03 04"));
}

// As an older tool, Meliae, dumped them.
TEST_F(DumpFilesTest, LinesOfJsonAreNoDump) {
  const TempFile file(
      "{\"address\": 1, \"type\": \"dict\", \"size\": 64, \"refs\": []}\n");
  const Printed printed = Objects({file.path(), "--csv"});
  EXPECT_EQ(printed.code, kExitFailed);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr(": not a dump of objects: "));
}

TEST_F(DumpFilesTest, TheFileStandsBeforeTheCommandInHelp) {
  const std::string all = Objects({"--help-all"}).out;
  for (const char* const usage :
       {"FILE suspects [options]", "OLD diff NEW [options]",
        "FILE show ADDR [options]", "FILE index [options]"}) {
    EXPECT_THAT(all, HasSubstr(absl::StrCat("\nUsage: pymemobj ", usage)));
  }
}

TEST_F(DumpFilesTest, AnIndexIsAFile) {
  const Printed printed = Run({"index", "-o", "-"});
  EXPECT_EQ(printed.code, kExitUsage);
  EXPECT_THAT(printed.err, HasSubstr("-o -: an index needs a file name"));
  EXPECT_FALSE(std::filesystem::exists("-"));
}

}  // namespace
}  // namespace pymemrun
