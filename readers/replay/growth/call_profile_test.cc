#include "readers/replay/growth/call_profile.h"

#include <string>
#include <tuple>

#include "absl/strings/ascii.h"
#include "gtest/gtest.h"
#include "readers/replay/growth/profile_table.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

// The titles of the table's columns in the order of the text, one space apart.
std::string HeaderLine(const Table& table) {
  StringSink sink;
  OutputBuffer output(&sink);
  PrintTable(table, TableFormat::kText, &output);
  output.Flush().IgnoreError();
  const std::string& text = sink.contents();
  std::string line = text.substr(0, text.find('\n'));
  absl::RemoveExtraAsciiWhitespace(&line);
  return line;
}

// How such a line ends.
std::string LastTitle(GroupBy kind) {
  switch (kind) {
    case GroupBy::kFile:
      return "e file";
    case GroupBy::kThread:
      return "thread";
    default:
      return "nction";
  }
}

// A row of kind `what`.
Row RowOf(What what, uint64_t number, uint32_t site, uint64_t rss_bytes,
          int64_t drss_bytes, bool context = false) {
  Row row = MakeRow(number, 0, site, rss_bytes, drss_bytes, context);
  row.what = what;
  return row;
}

class CallProfileTest : public ::testing::Test {
 protected:
  CallProfileTest() { Fill(&index_); }
  static void Fill(RunIndex* index) {
    for (const char* name : {"f", "g"}) {
      CodeDef code;
      code.set_file("/a.py");
      code.set_name(name);
      code.set_first_line(1);
      index->Add(code);
    }
    FunctionDef function;
    function.set_qualname("bytearray.extend");
    index->Add(function);
    AddSite(1, 10, 0, index);
    AddSite(1, 10, 1, index);
    AddSite(1, 11, 0, index);
    AddSite(2, 20, 0, index);
    ThreadDef thread;
    thread.set_name("Main");
    thread.set_native_id(5);
    index->Add(thread);
  }
  static void AddSite(uint32_t code, uint32_t line, uint32_t function,
                      RunIndex* index) {
    SiteDef site;
    site.set_code(code);
    site.set_line(line);
    site.set_function(function);
    index->Add(site);
  }

  RunIndex index_;
  CallProfile profile_;
};

TEST_F(CallProfileTest, GrowthIsChargedToTheLineWhereItWasSeen) {
  profile_.Add(RowOf(C_RETURN, 1, 1, 0, 100), index_);
  profile_.Add(RowOf(C_RETURN, 2, 2, 0, 50),
               index_);  // the same line, in a C function
  profile_.Add(RowOf(C_RETURN, 3, 3, 0, 300), index_);
  profile_.Add(RowOf(C_RETURN, 4, 3, 0, -120), index_);
  ProfileTable table(GroupBy::kLine);
  table.Add(profile_, index_);
  const auto places = table.Sorted(0);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].place.line, 11u);
  EXPECT_EQ(places[0].totals.growth_bytes, 300u);
  EXPECT_EQ(places[0].totals.shrinkage_bytes, 120u);
  EXPECT_EQ(places[0].totals.net_bytes(), 180);
  EXPECT_EQ(places[0].totals.rows, 2u);
  EXPECT_EQ(places[1].place.line, 10u);
  EXPECT_EQ(places[1].place.function, "f");
  EXPECT_EQ(places[1].totals.growth_bytes, 150u);
  EXPECT_EQ(table.total().growth_bytes, 450u);
  ASSERT_EQ(table.Sorted(1).size(), 1u);
  EXPECT_EQ(table.Sorted(1)[0].place.line, 11u);
  EXPECT_EQ(table.Sorted(3).size(), 2u);
}

// Line 10 of /a.py calls a library, whose line 20 calls its line 30.
TEST_F(CallProfileTest, ALineOfTheUsersOwnHasWhatLibrariesDoForIt) {
  CodeDef code;
  code.set_file("/usr/lib/python3.11/json/encoder.py");
  code.set_name("encode");
  index_.Add(code);
  AddSite(3, 30, 0, &index_);  // 5
  StackDef node;
  for (const auto& [parent, of, line] :
       {std::tuple{0u, 1u, 10u}, {1u, 3u, 20u}, {2u, 3u, 30u}, {0u, 3u, 30u}}) {
    node.set_parent(parent);
    node.set_code(of);
    node.set_line(line);
    index_.Add(node);
  }
  Row deep = RowOf(C_RETURN, 1, 5, 0, 100);
  deep.stack = 3;
  profile_.Add(deep, index_);
  // At the call of line 30's function its caller has grown.
  Row call = RowOf(CALL, 2, 5, 0, 10);
  call.stack = 3;
  profile_.Add(call, index_);
  // No code of the user is there.
  deep.number = 3;
  deep.stack = 4;
  deep.drss_bytes = 1;
  profile_.Add(deep, index_);
  ProfileTable lines(GroupBy::kLine), library(GroupBy::kLibraryLine);
  lines.Add(profile_, index_);
  library.Add(profile_, index_);
  const auto own = lines.Sorted(0);
  ASSERT_EQ(own.size(), 2u);
  EXPECT_EQ(own[0].place.file, "/a.py");
  EXPECT_EQ(own[0].place.line, 10u);
  EXPECT_EQ(own[0].totals.growth_bytes, 110u);
  EXPECT_EQ(own[1].place.line, 30u);
  EXPECT_EQ(own[1].totals.growth_bytes, 1u);
  ASSERT_EQ(library.Sorted(0).size(), 1u);
  EXPECT_EQ(library.Sorted(0)[0].totals.growth_bytes, 111u);
}

TEST_F(CallProfileTest, TheSamePlaceInSeveralRunsIsOne) {
  profile_.Add(RowOf(C_RETURN, 1, 1, 0, 100), index_);
  ProfileTable table(GroupBy::kLine);
  {
    RunIndex same;  // names of its own, gone afterwards
    Fill(&same);
    table.Add(profile_, same);
  }
  table.Add(profile_, index_);
  ASSERT_EQ(table.Sorted(0).size(), 1u);
  EXPECT_EQ(table.Sorted(0)[0].place.file, "/a.py");
  EXPECT_EQ(table.Sorted(0)[0].totals.growth_bytes, 200u);
}

TEST_F(CallProfileTest, PlacesAreFunctionsFilesOrThreads) {
  profile_.Add(RowOf(C_RETURN, 1, 1, 0, 100), index_);
  profile_.Add(RowOf(C_RETURN, 2, 3, 0, 100), index_);
  profile_.Add(RowOf(C_RETURN, 3, 4, 0, 1), index_);
  ProfileTable functions(GroupBy::kFunction), files(GroupBy::kFile),
      threads(GroupBy::kThread);
  for (ProfileTable* table : {&functions, &files, &threads}) {
    table->Add(profile_, index_);
  }
  ASSERT_EQ(functions.Sorted(0).size(), 2u);
  EXPECT_EQ(functions.Sorted(0)[0].place.function, "f");
  EXPECT_EQ(functions.Sorted(0)[0].place.line, 1u);
  ASSERT_EQ(files.Sorted(0).size(), 1u);
  EXPECT_EQ(files.Sorted(0)[0].totals.growth_bytes, 201u);
  ASSERT_EQ(threads.Sorted(0).size(), 1u);
  EXPECT_EQ(threads.Sorted(0)[0].place.file, "Main#5");
}

TEST_F(CallProfileTest, ContextIsNotCounted) {
  profile_.Add(RowOf(C_RETURN, 1, 1, 0, 100, /*context=*/true), index_);
  ProfileTable table(GroupBy::kLine);
  table.Add(profile_, index_);
  EXPECT_TRUE(table.Sorted(0).empty());
}

TEST_F(CallProfileTest, OfEventZeroOnlyWhatCameSinceTheStartIsGrowth) {
  Header header;
  header.set_first_rss_bytes(1000);
  profile_.SetHeader(header);
  profile_.Add(RowOf(C_RETURN, 0, 1, 1500, 1500), index_);
  EXPECT_EQ(profile_.sites()[1].growth_bytes, 500u);
  CallProfile unknown_start;
  unknown_start.Add(RowOf(C_RETURN, 0, 1, 1500, 1500), index_);
  EXPECT_EQ(unknown_start.sites()[1].growth_bytes, 0u);
  EXPECT_EQ(unknown_start.sites()[1].rows, 1u);
}

TEST_F(CallProfileTest, HugeIdsAndChangesAreBounded) {
  profile_.Add(RowOf(C_RETURN, 1, UINT32_MAX, 0, INT64_MIN), index_);
  EXPECT_LT(profile_.sites().size(), 100u);
  EXPECT_EQ(profile_.sites()[0].shrinkage_bytes, uint64_t{1} << 63);
}

TEST_F(CallProfileTest, GrowthAtACallIsTheCallers) {
  profile_.Add(RowOf(C_RETURN, 1, 3, 0, 0, /*context=*/true), index_);
  profile_.Add(RowOf(CALL, 2, 4, 100, 100), index_);
  profile_.Add(RowOf(CALL, 3, 4, 60, -40),
               index_);  // its caller was called just now
  EXPECT_EQ(profile_.sites()[3].growth_bytes, 100u);
  EXPECT_EQ(profile_.sites()[3].rows, 1u);
  EXPECT_EQ(profile_.sites()[4].shrinkage_bytes, 40u);
  EXPECT_EQ(profile_.sites()[4].growth_bytes, 0u);
  EXPECT_EQ(profile_.RowsSeenAt(3), 0u);
  EXPECT_EQ(profile_.RowsSeenAt(4), 2u);
  EXPECT_EQ(profile_.RowsSeenAt(1000), 0u);
}

TEST_F(CallProfileTest, ACallKeepsItsGrowthWhereItsCallerIsNotKnown) {
  const auto first_is = [this](What what, uint64_t number, uint32_t thread) {
    CallProfile profile;
    Row first = RowOf(what, number, 3, 0, 0, /*context=*/true);
    first.thread = thread;
    profile.Add(first, index_);
    profile.Add(RowOf(CALL, 9, 4, 100, 100), index_);
    return profile.sites()[4].growth_bytes == 0;
  };
  EXPECT_TRUE(first_is(C_CALL, 8, 1));
  EXPECT_FALSE(first_is(RETURN, 8, 1));
  EXPECT_FALSE(first_is(C_CALL, 7, 1));
  EXPECT_FALSE(first_is(C_CALL, 8, 2));
}

// g calls f at line 20 and, after it has allocated, at line 22.
TEST_F(CallProfileTest, WhatComesBetweenTwoCallsIsTheCallers) {
  StackDef node;
  for (const auto& [parent, code, line] :
       {std::tuple{0u, 2u, 20u}, {1u, 1u, 10u}, {0u, 2u, 22u}, {3u, 1u, 10u}}) {
    node.set_parent(parent);
    node.set_code(code);
    node.set_line(line);
    index_.Add(node);
  }
  Row returned = RowOf(RETURN, 1, 3, 0, 0, /*context=*/true);
  returned.stack = 2;
  profile_.Add(returned, index_);
  Row call = RowOf(CALL, 2, 1, 500, 500);
  call.stack = 4;
  profile_.Add(call, index_);
  for (const GroupBy by :
       {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction}) {
    ProfileTable table(by);
    table.Add(profile_, index_);
    ASSERT_EQ(table.Sorted(0).size(), 1u);
    const ProfiledPlace row = table.Sorted(0)[0];
    EXPECT_EQ(row.place.function, "g");
    EXPECT_EQ(row.place.line, by == GroupBy::kFunction ? 1u : 22u);
    EXPECT_EQ(row.totals.growth_bytes, 500u);
  }
  EXPECT_EQ(profile_.RowsSeenAt(1), 1u);
  EXPECT_EQ(profile_.UnseenBytes(0), 0);
}

TEST_F(CallProfileTest, GrowthMayCountFromTheLastLoggedRow) {
  Header header;
  header.set_first_rss_bytes(1000);
  header.mutable_filters()->set_drss_since_logged(true);
  profile_.SetHeader(header);
  profile_.Add(RowOf(C_RETURN, 5, 1, 1600, 10), index_);
  profile_.Add(RowOf(C_RETURN, 8, 3, 2000, 50, /*context=*/true), index_);
  profile_.Add(RowOf(C_RETURN, 9, 3, 2100, 100), index_);
  EXPECT_EQ(profile_.sites()[1].growth_bytes, 600u);
  EXPECT_EQ(profile_.sites()[3].growth_bytes, 500u);
  EXPECT_EQ(profile_.UnseenBytes(2150), 50);
  Pause pause;
  pause.set_next_number(10);
  pause.set_from_rss_bytes(2150);
  pause.set_to_rss_bytes(3000);
  profile_.Add(pause);
  profile_.Add(RowOf(C_RETURN, 12, 4, 3060, 60), index_);
  EXPECT_EQ(profile_.sites()[4].growth_bytes, 110u);
  EXPECT_EQ(profile_.UnseenBytes(0), 850);
}

TEST_F(CallProfileTest, WhatNoRowHasIsToldApart) {
  Header header;
  header.set_first_rss_bytes(1000);
  profile_.SetHeader(header);
  EXPECT_EQ(profile_.UnseenBytes(0), 0);
  profile_.Add(RowOf(C_RETURN, 5, 1, 1600, 100), index_);
  profile_.Add(RowOf(C_RETURN, 9, 1, 1300, -50), index_);
  EXPECT_EQ(profile_.UnseenBytes(0), 250);
  EXPECT_EQ(profile_.UnseenBytes(1020), -30);
  CallProfile unknown_start;
  unknown_start.Add(RowOf(C_RETURN, 5, 1, 1600, 100), index_);
  EXPECT_EQ(unknown_start.UnseenBytes(0), 0);
}

TEST_F(CallProfileTest, WhatNoRowHasIsARowOfTheTable) {
  profile_.Add(RowOf(C_RETURN, 1, 1, 0, 300), index_);
  ProfileTable profile(GroupBy::kFile);
  profile.Add(profile_, index_);
  EXPECT_EQ(TopTable(profile, 0, {}).rows.size(), 2u);
  profile.AddUnseen(100);
  profile.AddUnseen(-170);
  const Table table = TopTable(profile, 0, {});
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[1],
            (std::vector<Cell>{"in no logged row", uint64_t{0}, uint64_t{70},
                               int64_t{-70}, uint64_t{0}, Cell()}));
}

TEST_F(CallProfileTest, TheTableEndsWithTracingItself) {
  profile_.Add(RowOf(C_RETURN, 1, 1, 0, 300), index_);
  profile_.Add(RowOf(C_RETURN, 2, 3, 0, 100), index_);
  ProfileTable profile(GroupBy::kLine);
  profile.Add(profile_, index_);
  const Table table = TopTable(profile, /*limit=*/1, {77, 1234, 56});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(std::get<double>(table.rows[0][7]), 0.75);
  EXPECT_EQ(std::get<std::string>(table.rows[1][0]), "tracing itself");
  EXPECT_EQ(std::get<std::string>(table.rows[1][2]),
            "made 1,234 frame objects, 56 bound objects");
  EXPECT_EQ(std::get<uint64_t>(table.rows[1][3]), 77u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[1][7]));
}

TEST_F(CallProfileTest, AnEmptyTableHasTheSameColumns) {
  profile_.Add(RowOf(C_RETURN, 1, 1, 0, 300), index_);
  for (const GroupBy kind :
       {GroupBy::kLine, GroupBy::kFunction, GroupBy::kFile, GroupBy::kThread}) {
    ProfileTable empty(kind), filled(kind);
    filled.Add(profile_, index_);
    const std::string header = HeaderLine(TopTable(empty, 0, {}));
    EXPECT_EQ(header, HeaderLine(TopTable(filled, 0, {})));
    EXPECT_EQ(header.substr(header.size() - 6), LastTitle(kind)) << header;
  }
}

}  // namespace
}  // namespace pymemrun
