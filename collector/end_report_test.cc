#include "collector/end_report.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

EndReportInput Example() {
  EndReportInput in;
  in.file_name = "run.pb";
  in.file_bytes = 56700;
  in.header.set_rss_source(FAULTS);
  in.header.set_rss_source_reason("best there is");
  in.header.set_own_bytes(9100000);
  Footer& footer = in.footer;
  footer.set_end(Footer::EXIT);
  footer.set_events(1234567);
  footer.set_rows(2345);
  footer.set_context_rows(1201);
  footer.set_max_rss_bytes(123400000);
  footer.set_seen_max_rss_bytes(123400000);
  footer.set_max_rss_us(1234000);
  footer.set_hwm_bytes(150000000);
  footer.mutable_peak()->set_after_number(1000);
  footer.mutable_peak()->set_before_number(1001);
  footer.mutable_peak()->set_time_us(1500000);
  in.highest = {CALL, "examples/x.py", 45, "foo", "MainThread", 123};
  return in;
}

TEST(EndReportTest, OneParagraphSaysItAll) {
  EXPECT_EQ(
      EndReportText(Example()),
      "pymemrun: run.pb: 1,234,567 events, 2,345 rows (1,201 as context), "
      "0 dropped, 56.7 KB. Highest RSS at a logged event 123.4 MB at "
      "1.234 s, examples/x.py:45 foo (CALL, MainThread#123). VmHWM 150.0 "
      "MB, reached between events 1000 and 1001 (by 1.500 s). Exit status "
      "0. Our own memory 9.1 MB. RSS source faults (best there is).\n");
}

TEST(EndReportTest, LossesAndOtherEndsAreSaid) {
  EndReportInput in = Example();
  in.footer.set_lost_on_write(5000);
  in.footer.set_untraced_children(2);
  in.footer.set_seen_max_rss_bytes(125000000);
  in.footer.set_end(Footer::SIGNAL);
  in.footer.set_exit_status(9);
  in.peak = {C_CALL, "n.py", 3, "sum", "T", 5};
  const std::string text = EndReportText(in);
  for (const char* part :
       {"5,000 lost because the file could not be written", "signal 9",
        "2 child processes were not traced", "Highest at any event 125.0 MB",
        "1001, after n.py:3 sum (C_CALL, T#5)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(EndReportTest, AnEmptyRunHasAReportToo) {
  const std::string text = EndReportText(EndReportInput());
  EXPECT_NE(text.find("0 events, 0 rows, 0 dropped, 0 B."), std::string::npos);
  EXPECT_NE(text.find("RSS source unknown."), std::string::npos);
}

TEST(EscapeForTerminalTest, NothingThatATerminalObeysIsLeft) {
  EXPECT_EQ(EscapeForTerminal("a\x1b]0;x\x07\n"), "a\\x1b]0;x\\x07\\x0a");
  EXPECT_EQ(EscapeForTerminal("\x7f\xc2\x9b"), "\\x7f\\xc2\\x9b");
  EXPECT_EQ(EscapeForTerminal("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(EscapeForTerminal("a\xe2\x80\xae"
                              "b"),
            "a\\u{202e}b");
  EXPECT_EQ(EscapeForTerminal("\xed\xb2\x80"), "\\xed\\xb2\\x80");  // surrogate
  EXPECT_EQ(EscapeForTerminal("\xc0\xaf\xe2\x82"), "\\xc0\\xaf\\xe2\\x82");
  EXPECT_EQ(EscapeForTerminal("na\xc3\xafve \xf0\x9f\x90\x8d \\"),
            "na\xc3\xafve \xf0\x9f\x90\x8d \\\\");
  EXPECT_EQ(EscapeForTerminal(absl::string_view("\0", 1)), "\\x00");
}

TEST(FormatTest, SizesAndCounts) {
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(999949), "999.9 KB");
  EXPECT_EQ(FormatBytes(999950), "1.0 MB");
  EXPECT_EQ(FormatBytes(1500000000), "1.5 GB");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
}

}  // namespace
}  // namespace pymemrun
