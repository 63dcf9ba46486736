#include "readers/replay/rows/row_writer.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

constexpr char kHostile[] = "=cmd\x1b]0;x\x07\xe2\x80\xae\xff\"";

class RowWriterTest : public ::testing::Test {
 protected:
  RowWriterTest() : output_(&sink_) {
    AddCode("/lib/os.py", "walk");
    AddCode(kHostile, kHostile);
    FunctionDef next;
    next.set_qualname("next");
    next.set_module("builtins");
    index_.Add(next);
    AddSite(CALL, 1, 238, 0);
    AddSite(C_RETURN, 1, 1362, 1);
    AddSite(CALL, 2, 3, 0);
    for (int i = 1; i <= 2; ++i) {
      ThreadDef thread;
      thread.set_name(i == 1 ? "MainThread" : "a,b");
      thread.set_native_id(100 + i);
      index_.Add(thread);
    }
    view_.index = &index_;
    view_.pid = 4711;
    view_.with_context = true;
  }

  void AddCode(absl::string_view file, absl::string_view name) {
    CodeDef code;
    code.set_file(std::string(file));
    code.set_name(std::string(name));
    code.set_module("mod");
    index_.Add(code);
  }
  void AddSite(What what, uint32_t code, uint32_t line, uint32_t function) {
    SiteDef site;
    site.set_what(what);
    site.set_code(code);
    site.set_line(line);
    site.set_function(function);
    index_.Add(site);
  }
  Mark SomeMark() {
    Mark mark;
    mark.set_time_us(700000);
    mark.set_next_number(432);
    mark.set_thread(1);
    mark.set_label("loaded");
    mark.set_rss_bytes(41156608);
    return mark;
  }
  std::string Printed() {
    EXPECT_TRUE(output_.Flush().ok());
    return sink_.contents();
  }

  StringSink sink_;
  OutputBuffer output_;
  RunIndex index_;
  RunView view_;
};

// 80 columns of a file's name.
std::string File80(absl::string_view name) {
  return absl::StrCat(name, std::string(80 - name.size(), ' '));
}

TEST_F(RowWriterTest, TextIsAsTheOlderToolsReadersKnowIt) {
  auto writer = NewTextWriter({}, &output_);
  writer->WriteHeader();
  writer->WriteRow(view_, MakeRow(0, 684542, 1, 41070592, 41070592), 0);
  writer->WriteRow(view_, MakeRow(430, 689213, 2, 41152512, 0, true), 430);
  writer->WriteRow(view_, MakeRow(431, 689223, 2, 41156608, -4096), 431);
  EXPECT_EQ(
      Printed(),
      absl::StrCat(
          "      Event        dEvent  Clock        What     ", File80("File"),
          "#line Function                                  RSS         dRSS\n"
          "NEXT: 0            +0      0.684542     CALL     ",
          File80("/lib/os.py"),
          "# 238 walk                                 41070592     41070592\n"
          "PREV: 430          +430    0.689213     C_RETURN ",
          File80("/lib/os.py"),
          "#1362 next                                 41152512            0\n"
          "NEXT: 431          +431    0.689223     C_RETURN ",
          File80("/lib/os.py"),
          "#1362 next                                 41156608        "
          "-4096\n"));
}

TEST_F(RowWriterTest, TextOfARunLoggedWholeHasNoPrefix) {
  RowWriter::Options options;
  options.with_context = false;
  view_.with_context = false;
  auto writer = NewTextWriter(options, &output_);
  writer->WriteRow(view_, MakeRow(7, 1, 1, 10, 0), 1);
  writer->WriteMark(view_, SomeMark());
  const std::string text = Printed();
  EXPECT_EQ(text.substr(0, 35), "7            +1      0.000001     C");
  EXPECT_NE(text.find("\n432                  0.700000     MARK     loaded "),
            std::string::npos);
}

TEST_F(RowWriterTest, LongNamesPushTheRest) {
  AddCode(std::string(90, 'f'), "walk");
  AddSite(CALL, 3, 12345, 0);
  auto writer = NewTextWriter({}, &output_);
  writer->WriteRow(view_, MakeRow(1, 1, 4, 10, 0), 1);
  EXPECT_NE(Printed().find(std::string(90, 'f') + "#12345 walk  "),
            std::string::npos);
}

TEST_F(RowWriterTest, ASecondThreadBringsItsColumn) {
  auto writer = NewTextWriter({}, &output_);
  writer->WriteHeader();
  writer->WriteRow(view_, MakeRow(0, 1, 1, 10, 0), 0);
  Row row = MakeRow(1, 2, 1, 10, 0);
  row.thread = 2;
  writer->WriteRow(view_, row, 1);
  row.thread = 1;
  writer->WriteRow(view_, row, 1);
  const std::vector<std::string> lines = absl::StrSplit(Printed(), '\n');
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0].find("Thread"), std::string::npos);
  EXPECT_EQ(lines[2].substr(27, 33), "Clock        Thread              ");
  EXPECT_EQ(lines[3].substr(27, 33), "0.000002     a,b#102             ");
  EXPECT_EQ(lines[4].substr(40, 14), "MainThread#101");
}

TEST_F(RowWriterTest, SeveralFilesHaveAPidColumn) {
  RowWriter::Options options;
  options.with_pid = true;
  auto writer = NewTextWriter(options, &output_);
  writer->WriteHeader();
  writer->WriteRow(view_, MakeRow(0, 1, 1, 10, 0), 0);
  const std::vector<std::string> lines = absl::StrSplit(Printed(), '\n');
  EXPECT_EQ(lines[0].substr(40, 8), "Pid     ");
  EXPECT_EQ(lines[1].substr(40, 8), "4711    ");
}

TEST_F(RowWriterTest, CsvHasAllColumns) {
  auto writer = NewCsvWriter({}, &output_);
  writer->WriteHeader();
  writer->WriteRow(view_, MakeRow(431, 689223, 2, 41156608, -4096), 9);
  Row row = MakeRow(432, 689224, 1, 41156608, 0, true);
  row.thread = 2;
  row.exact = false;
  writer->WriteRow(view_, row, 1);
  writer->WriteMark(view_, SomeMark());
  EXPECT_EQ(
      Printed(),
      "event,devent,clock_s,what,file,line,function,rss_bytes,"
      "drss_bytes,thread,pid,context,module,rss_exact,"
      "thread_drss_bytes\r\n"
      "431,9,0.689223,C_RETURN,/lib/os.py,1362,next,41156608,-4096,"
      "MainThread#101,4711,NEXT,builtins,true,\r\n"
      "432,1,0.689224,CALL,/lib/os.py,238,walk,41156608,0,"
      "\"a,b#102\",4711,PREV,mod,false,\r\n"
      "432,,0.700000,MARK,,,loaded,41156608,,MainThread#101,4711,,,,\r\n");
}

TEST_F(RowWriterTest, AStackIsAColumnOfItsOwnForWhoAsks) {
  for (const auto& [parent, code, line] :
       {std::array{0u, 1u, 5u}, {1u, 2u, 6u}}) {
    StackDef node;
    node.set_parent(parent);
    node.set_code(code);
    node.set_line(line);
    index_.Add(node);
  }
  RowWriter::Options options;
  options.columns = {Column::kEvent, Column::kStack};
  auto writer = NewJsonlWriter(options, &output_);
  Row row = MakeRow(7, 0, 1, 0, 0);
  for (const uint32_t stack : {2u, 0u}) {
    row.stack = stack;
    writer->WriteRow(view_, row, 1);
  }
  writer->WriteMark(view_, SomeMark());
  const std::vector<std::string> lines = absl::StrSplit(Printed(), '\n');
  EXPECT_EQ(lines[0].substr(0, 44),
            R"({"event":7,"stack":"/lib/os.py:5:walk;=cmd\u)");
  EXPECT_EQ(lines[1], R"({"event":7,"stack":""})");
  EXPECT_EQ(lines[2], R"({"event":432,"stack":null})");
}

TEST_F(RowWriterTest, UnixTimeIsThatOfTheStartAndTheClock) {
  RowWriter::Options options;
  options.columns = {Column::kEvent, Column::kUnixTime, Column::kClock};
  view_.start_unix_us = 1764218256000001;
  for (const auto make : {NewCsvWriter, NewJsonlWriter, NewTextWriter}) {
    auto writer = make(options, &output_);
    writer->WriteRow(view_, MakeRow(7, 2500000, 1, 0, 0), 1);
    writer->WriteMark(view_, SomeMark());
  }
  EXPECT_EQ(Printed(),
            "7,1764218258.500001,2.500000\r\n"
            "432,1764218256.700001,0.700000\r\n"
            R"({"event":7,"unix_s":1764218258.500001,"clock_s":2.500000})"
            "\n"
            R"({"event":432,"unix_s":1764218256.700001,"clock_s":0.700000})"
            "\n"
            "7            1764218258.500001 2.500000    \n"
            "432          1764218256.700001 0.700000    \n");
}

TEST_F(RowWriterTest, ColumnsOfCallsAreEmptyWhereNoCallIsKnown) {
  RowWriter::Options options;
  options.columns = {Column::kCallEvent, Column::kCallTime, Column::kCallDrss,
                     Column::kEvent};
  Row row = MakeRow(7, 2500000, 1, 0, 0);
  const auto print = [&](auto make) {
    auto writer = make(options, &output_);
    row.call_events = 0;
    writer->WriteRow(view_, row, 1);
    row.call_events = 3;
    row.call_us = 1500000;
    row.call_drss = -4096;
    writer->WriteRow(view_, row, 1);
  };
  print(NewCsvWriter);
  print(NewJsonlWriter);
  print(NewTextWriter);
  EXPECT_EQ(Printed(),
            ",,,7\r\n"
            "4,1.500000,-4096,7\r\n"
            "{\"call_event\":null,\"call_s\":null,\"call_drss_bytes\":null,"
            "\"event\":7}\n"
            "{\"call_event\":4,\"call_s\":1.500000,\"call_drss_bytes\":-4096,"
            "\"event\":7}\n" +
                std::string(39, ' ') + "7           \n" +
                "4            1.500000            -4096 7           \n");
}

TEST_F(RowWriterTest, JsonLinesHaveTheSameKeys) {
  auto writer = NewJsonlWriter({}, &output_);
  writer->WriteHeader();
  writer->WriteRow(view_, MakeRow(UINT64_MAX, 689223, 2, UINT64_MAX, INT64_MIN),
                   9);
  writer->WriteMark(view_, SomeMark());
  const std::vector<std::string> lines = absl::StrSplit(Printed(), '\n');
  EXPECT_EQ(lines[0],
            "{\"event\":18446744073709551615,\"devent\":9,"
            "\"clock_s\":0.689223,\"what\":\"C_RETURN\",\"file\":"
            "\"/lib/os.py\",\"line\":1362,\"function\":\"next\",\"rss_bytes\":"
            "18446744073709551615,\"drss_bytes\":-9223372036854775808,"
            "\"thread\":\"MainThread#101\",\"pid\":4711,\"context\":\"NEXT\","
            "\"module\":\"builtins\",\"rss_exact\":true,"
            "\"thread_drss_bytes\":null}");
  const auto mark = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(mark["what"], "MARK");
  EXPECT_EQ(mark["function"], "loaded");
  EXPECT_TRUE(mark["line"].is_null());
  EXPECT_EQ(mark.size(), 15u);
}

TEST_F(RowWriterTest, HostileNamesAreHarmlessInEveryFormat) {
  const Row row = MakeRow(1, 1, 3, 10, 0);
  Mark mark = SomeMark();
  mark.set_label(kHostile);
  for (int format = 0; format < 3; ++format) {
    auto writer = format == 0   ? NewTextWriter({}, &output_)
                  : format == 1 ? NewCsvWriter({}, &output_)
                                : NewJsonlWriter({}, &output_);
    writer->WriteRow(view_, row, 1);
    writer->WriteMark(view_, mark);
  }
  const std::string text = Printed();
  for (const char c : text) {
    const uint8_t byte = static_cast<uint8_t>(c);
    EXPECT_TRUE((byte >= 0x20 && byte < 0x7f) || c == '\n' || c == '\r')
        << int{byte};
  }
  EXPECT_NE(text.find("=cmd\\x1b]0;x\\x07\\u202e\\xff\""), std::string::npos);
  EXPECT_NE(text.find("\"'=cmd\\x1b]0;x\\x07\\u202e\\xff\"\"\""),
            std::string::npos);
  EXPECT_NE(text.find("\"=cmd\\u001b]0;x\\u0007\\u202e\\udcff\\\"\""),
            std::string::npos);
}

TEST_F(RowWriterTest, ColumnsAreThoseAskedForInTheirOrder) {
  RowWriter::Options options;
  options.columns = {Column::kFile,   Column::kLine,  Column::kContext,
                     Column::kModule, Column::kExact, Column::kEvent};
  NewTextWriter(options, &output_)->WriteRow(view_, MakeRow(5, 1, 1, 10, 0), 0);
  NewCsvWriter(options, &output_)->WriteRow(view_, MakeRow(5, 1, 1, 10, 0), 0);
  NewJsonlWriter(options, &output_)
      ->WriteRow(view_, MakeRow(5, 1, 1, 10, 0), 0);
  EXPECT_EQ(Printed(),
            absl::StrCat(File80("/lib/os.py"), "# 238 NEXT: mod",
                         std::string(21, ' '), " yes   5           \n",
                         "/lib/os.py,238,NEXT,mod,true,5\r\n",
                         "{\"file\":\"/lib/os.py\",\"line\":238,\"context\":"
                         "\"NEXT\",\"module\":\"mod\",\"rss_exact\":true,"
                         "\"event\":5}\n"));
}

TEST_F(RowWriterTest, NetSubtractsOurOwnBytes) {
  RowWriter::Options options;
  options.columns = {Column::kRss, Column::kDrss};
  view_.own_bytes = 1000;
  auto writer = NewCsvWriter(options, &output_);
  writer->WriteRow(view_, MakeRow(0, 1, 1, 5000, 5000), 0);
  writer->WriteRow(view_, MakeRow(1, 1, 1, 6000, 1000), 0);
  writer->WriteRow(view_, MakeRow(2, 1, 1, 900, -5100), 0);
  EXPECT_EQ(Printed(), "4000,4000\r\n5000,1000\r\n0,-5100\r\n");
}

TEST_F(RowWriterTest, TheCacheForgetsAndGoesOn) {
  // Names of 60 KB: a few hundred exceed the cache.
  for (int i = 0; i < 400; ++i) {
    AddCode(absl::StrCat(std::string(60000, 'n'), i), "f");
    AddSite(CALL, 3 + i, 1, 0);
  }
  RowWriter::Options options;
  options.columns = {Column::kFile};
  auto writer = NewCsvWriter(options, &output_);
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < 400; ++i) {
      writer->WriteRow(view_, MakeRow(1, 1, 4 + i, 1, 0), 0);
    }
  }
  const std::vector<std::string> lines = absl::StrSplit(Printed(), "\r\n");
  ASSERT_EQ(lines.size(), 801u);
  EXPECT_EQ(lines[0].substr(59999), "n0");
  EXPECT_EQ(lines[400].substr(59999), "n0");
  EXPECT_EQ(lines[799].substr(59999), "n399");
}

}  // namespace
}  // namespace pymemrun
