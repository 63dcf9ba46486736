#include "format/summary/end_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

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
  footer.set_own_bytes(9100000);
  footer.set_events(1234567);
  footer.set_rows(2345);
  footer.set_context_rows(1201);
  footer.set_max_rss_bytes(123400000);
  footer.set_seen_max_rss_bytes(123400000);
  footer.set_max_rss_site(1);
  footer.set_max_rss_us(1234000);
  footer.set_hwm_bytes(150000000);
  footer.mutable_peak()->set_after_number(1000);
  footer.mutable_peak()->set_before_number(1001);
  footer.mutable_peak()->set_time_us(1500000);
  return in;
}

std::vector<std::string> LinesOf(const EndReportInput& in) {
  std::vector<std::string> lines = absl::StrSplit(EndReportText(in), '\n');
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  for (const std::string& line : lines) {
    EXPECT_EQ(line.compare(0, 10, "pymemrun: "), 0) << line;
    EXPECT_NE(line.back(), ' ') << line;
  }
  return lines;
}

TEST(EndReportTest, AShortParagraphSaysItAll) {
  EXPECT_EQ(
      EndReportText(Example()),
      "pymemrun: run.pb: 1,234,567 events, 2,345 rows (1,201 as context), 0 "
      "dropped,\n"
      "pymemrun:   55.4 KiB.\n"
      "pymemrun: Highest RSS at an event: 117.7 MiB at 1.234 s.\n"
      "pymemrun: VmHWM: 143.1 MiB, reached between events 1000 and 1001 (by "
      "1.500 s).\n"
      "pymemrun: Exit status 0. pymemrun's own memory: 8.7 MiB.\n"
      "pymemrun: RSS source: faults (best there is).\n");
}

TEST(EndReportTest, HeapEventsAreOneSentence) {
  EndReportInput in = Example();
  EXPECT_EQ(EndReportText(in).find("allocation"), std::string::npos);
  in.header.set_heap(HEAP_ALL);
  in.footer.set_heap_allocations(12345);
  in.footer.set_heap_frees(1);
  EXPECT_NE(EndReportText(in).find("12,345 allocations, 1 free, 0 lost."),
            std::string::npos);
  in.header.set_heap(HEAP_SAMPLED);
  in.footer.set_heap_events_lost(7);
  EXPECT_NE(EndReportText(in).find("12,345 allocations sampled, 1 free, 7 "),
            std::string::npos);
}

TEST(EndReportTest, PageEventsAreOneSentence) {
  EndReportInput in = Example();
  EXPECT_EQ(EndReportText(in).find("page event"), std::string::npos);
  in.header.set_page_period(1);
  in.footer.set_page_events(12345);
  in.footer.set_pages_inferred(67);
  std::string text = absl::StrJoin(LinesOf(in), " ");
  EXPECT_NE(text.find("12,345 page events, 67 with an inferred stack, 0 lost."),
            std::string::npos)
      << text;
  in.footer.set_page_samples_lost(1000);
  in.footer.set_page_stacks_lost(1);
  text = absl::StrReplaceAll(EndReportText(in), {{"\npymemrun:  ", ""}});
  EXPECT_NE(text.find("67 with an inferred stack, 1,000 lost, 1 stack lost."),
            std::string::npos)
      << text;
  // Without calls there is no count of theirs, nor RSS at each.
  EXPECT_NE(text.find("RSS source"), std::string::npos) << text;
  in.header.set_calls_off(true);
  in.footer.set_events(0);
  text = EndReportText(in);
  EXPECT_EQ(text.find("pymemrun: run.pb: 55.4 KiB."), 0u);
  EXPECT_EQ(text.find("RSS source"), std::string::npos) << text;
}

TEST(EndReportTest, FiltersThatNothingPassedAreNamed) {
  EndReportInput in = Example();
  in.header.mutable_filters()->add_include("*/x.py");
  in.header.mutable_filters()->add_thread("T*");
  in.header.mutable_filters()->set_min_drss_bytes(4096);
  constexpr char kSaid[] = "No event passed --include, --thread, --min-drss.";
  EXPECT_EQ(EndReportText(in).find("No event passed"), std::string::npos);
  in.footer.set_rows(0);
  const std::string text = absl::StrJoin(LinesOf(in), " ");
  EXPECT_NE(text.find(kSaid), std::string::npos) << text;
  // Filters of sizes and kinds alone say nothing of a mistyped pattern.
  in.header.mutable_filters()->clear_include();
  in.header.mutable_filters()->clear_thread();
  EXPECT_EQ(EndReportText(in).find("No event passed"), std::string::npos);
}

TEST(EndReportTest, LossesAndOtherEndsAreSaid) {
  EndReportInput in = Example();
  in.footer.set_lost_on_write(5000);
  in.footer.set_untraced_children(2);
  in.footer.set_seen_max_rss_bytes(125000000);
  in.footer.set_end(Footer::SIGNAL);
  in.footer.set_exit_status(9);
  in.footer.set_own_bytes(0);  // it could not say
  const std::string text = absl::StrJoin(LinesOf(in), "\n");
  for (const char* part : {"5,000 lost because the file could", "signal 9.",
                           "2 child processes were not traced.",
                           "Highest RSS at an event: 119.2 MiB.",
                           "VmHWM: 143.1 MiB as last sampled, reached"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(EndReportTest, TracedChildrenAreCountedAndTheirFilesNamed) {
  EndReportInput in = Example();
  in.traced_children = 3;
  in.children_name = "run.*.pb";
  EXPECT_NE(EndReportText(in).find("3 child processes were traced: run.*.pb."),
            std::string::npos);
  EXPECT_EQ(EndReportText(in).find("not traced"), std::string::npos);
  in.started_children = 4;
  EXPECT_NE(absl::StrJoin(LinesOf(in), " ")
                .find("4 child processes were started; run files"),
            std::string::npos);
  in.footer.set_untraced_children(2);
  EXPECT_NE(absl::StrJoin(LinesOf(in), " ")
                .find("2 child processes were not traced: their environment"),
            std::string::npos);
  in.started_children = 0;
  in.traced_children = 1;
  in.footer.set_untraced_children(2);
  const std::string text = absl::StrJoin(LinesOf(in), " ");
  EXPECT_NE(
      text.find("1 child process was traced: run.*.pb. 2 child processes"),
      std::string::npos)
      << text;
}

TEST(EndReportTest, AVerifiedRunSaysHowRightItsRssWas) {
  EndReportInput in = Example();
  in.footer.set_rss_reads(1235);
  EXPECT_EQ(EndReportText(in).find("verified"), std::string::npos);
  in.footer.mutable_rss_verification()->set_events(1234567);
  in.footer.mutable_rss_verification()->set_agreeing(1234567);
  EXPECT_NE(EndReportText(in).find("RSS verified: equal to statm at 100 % of "),
            std::string::npos);
  EXPECT_EQ(LinesOf(in).back(),
            "pymemrun:   itself read RSS 1,235 times (0.10 % of the events).");
}

TEST(EndReportTest, OneIsNotManyAndNothingIsAReportToo) {
  EndReportInput in;
  in.file_name = "run.pb";
  EXPECT_EQ(LinesOf(in)[0],
            "pymemrun: run.pb: 0 events, 0 rows, 0 dropped, 0 bytes.");
  EXPECT_EQ(LinesOf(in)[1],
            "pymemrun: The program was killed or ended without clean-up. RSS "
            "source: unknown.");
  in.footer.set_events(1);
  in.footer.set_rows(1);
  in.footer.set_untraced_children(1);
  in.file_bytes = 1;
  EXPECT_EQ(LinesOf(in)[0],
            "pymemrun: run.pb: 1 event, 1 row, 0 dropped, 1 byte.");
  EXPECT_NE(EndReportText(in).find("1 child process was not"),
            std::string::npos);
}

EndReportInput Answered() {
  EndReportInput in = Example();
  in.answer = "Peak 307 MiB at 7.27 s.\n\n  102 MiB  33 %  etl.py:26\n";
  in.names_next = true;
  return in;
}

TEST(EndReportTest, WithAnAnswerItIsThatAndHowToReadOn) {
  EXPECT_EQ(EndReportText(Answered()),
            "pymemrun: Peak 307 MiB at 7.27 s.\n"
            "pymemrun:   102 MiB  33 %  etl.py:26\n"
            "pymemrun: More: pymemreport run.pb\n");
}

TEST(EndReportTest, BesideAnAnswerOnlyTheUnusualIsSaid) {
  EndReportInput in = Answered();
  in.footer.set_dropped(2);
  in.footer.set_lost_on_write(5000);
  in.footer.set_page_samples_lost(1);
  in.footer.set_untraced_children(1);
  in.footer.set_exit_status(3);
  in.header.set_rss_source(HINTS);
  const std::vector<std::string> lines = LinesOf(in);
  EXPECT_EQ(
      std::vector<std::string>(lines.begin() + 3, lines.end()),
      (std::vector<std::string>{
          "pymemrun: 2 rows were lost.", "pymemrun: 1 page event was lost.",
          "pymemrun: 5,000 rows lost because the file could not be "
          "written.",
          "pymemrun: Exit status 3.",
          "pymemrun: 1 child process was not traced. --follow all traces "
          "Pythons that are",
          "pymemrun:   started."}));
}

TEST(EndReportTest, WhyAFileIsNotCompleteIsSaidInALineOfItsOwn) {
  EndReportInput in = Example();
  in.file_name = "/full/run.pb";
  in.write_error = "No space left on device";
  in.footer.set_heap_events_lost(4449);
  const std::string line =
      "pymemrun: /full/run.pb: could not be written in full: No space left on "
      "device.\n";
  EXPECT_NE(EndReportText(in).find("\n" + line), std::string::npos)
      << EndReportText(in);
  in.answer = "Memory peaked.";
  EXPECT_NE(EndReportText(in).find("4,449 heap events were lost.\n" + line),
            std::string::npos)
      << EndReportText(in);
}

TEST(EndReportTest, HowToReadOnCanBePasted) {
  EndReportInput in = Answered();
  in.file_name = "my runs/a$b.pb";
  EXPECT_EQ(LinesOf(in).back(), "pymemrun: More: pymemreport 'my runs/a$b.pb'");
}

TEST(EndReportTest, DumpsAreNamedWithWhatReadsThem) {
  EndReportInput in = Answered();
  in.dumps = 1;
  in.last_dump = "my runs/run.obj.pb";
  EXPECT_EQ(LinesOf(in).back(),
            "pymemrun: Objects: pymemobj 'my runs/run.obj.pb' suspects");
  in.dumps = 3;
  in.last_dump = "run.obj-2.pb";
  in.answer.clear();
  EXPECT_EQ(LinesOf(in).back(),
            "pymemrun: Objects, the last of 3 dumps: pymemobj run.obj-2.pb "
            "suspects");
}

TEST(EndReportTest, ADeletedFileIsNotNamedToBeRead) {
  EndReportInput in = Answered();
  in.footer.set_output_name(Footer::OUTPUT_DELETED);
  EXPECT_EQ(EndReportText(in).find("More:"), std::string::npos);
  in.answer.clear();
  in.footer.set_output_name(Footer::OUTPUT_KEPT);
  EXPECT_EQ(LinesOf(in).back(), "pymemrun: More: pymemreport run.pb");
}

TEST(EndReportTest, AMissingFooterIsSaid) {
  EndReportInput in = Example();
  in.has_footer = false;
  const std::string text = EndReportText(in);
  EXPECT_EQ(text.find("Exit status"), std::string::npos) << text;
  EXPECT_NE(text.find("The file has no footer: "), std::string::npos) << text;
  EXPECT_NE(text.find("VmHWM: 143.1 MiB as last sampled"), std::string::npos)
      << text;
  EXPECT_NE(text.find("losses unknown,"), std::string::npos) << text;
  in.footer.set_dropped(5);
  EXPECT_NE(EndReportText(in).find("at least 5 dropped,"), std::string::npos);
}

TEST(EndReportTest, NamesAreNeverBrokenAndNothingATerminalObeysIsLeft) {
  EndReportInput in = Example();
  in.file_name =
      "/a b/c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f.pb";
  EXPECT_NE(EndReportText(in).find(in.file_name + ":"), std::string::npos);
  in.file_name = "\x1b]0;x\x07\xff \xed\xb3\xbf\xe2\x80\xae";
  EXPECT_NE(EndReportText(in).find("\\x1b]0;x\\x07\\xff \\udcff\\u202e"),
            std::string::npos);
}

EndReportInput Longest() {
  EndReportInput in = Example();
  const std::string wide = "\xe6\xbc\xa2";
  std::string name;
  while (name.size() < 100000) name += wide;
  in.file_name = name + ".pb";
  in.header.set_rss_source_reason(name);
  const auto most = std::numeric_limits<uint64_t>::max();
  in.header.set_own_bytes(most);
  in.footer.set_rss_reads(most);
  in.footer.mutable_gauge_change()->set_reason(name);
  in.footer.mutable_gauge_change()->set_number(most);
  in.header.set_statm_step_bytes(most);
  RssVerification* found = in.footer.mutable_rss_verification();
  found->set_events(most);
  found->set_worst_staleness_ns(most);
  found->set_worst_error_bytes(most);
  found->set_changing(most - 1);
  in.file_bytes = most;
  for (auto set : {&Footer::set_events, &Footer::set_rows,
                   &Footer::set_context_rows, &Footer::set_dropped,
                   &Footer::set_lost_on_write, &Footer::set_max_rss_us,
                   &Footer::set_seen_max_rss_bytes, &Footer::set_hwm_bytes}) {
    (in.footer.*set)(most);
  }
  in.footer.set_untraced_children(std::numeric_limits<uint32_t>::max());
  in.footer.mutable_peak()->set_after_number(most);
  in.footer.mutable_peak()->set_before_number(most);
  in.has_footer = false;
  return in;
}

TEST(EndReportTest, LongNamesAreShortenedSoThatTheReportFits) {
  EndReportInput in = Longest();
  in.write_error = "No space left on device";
  EXPECT_LE(EndReportText(in).size(), kMaxEndReportBytes);
  in.names_next = true;
  EXPECT_LE(EndReportText(in).size(), kMaxEndReportBytes);
  EXPECT_EQ(EndReportText(in).find("More:"), std::string::npos);
  EXPECT_GT(EndReportText(in).size(), kMaxEndReportBytes / 2);
  // Paths keep their end, other names their start; no character is cut.
  const std::string text = EndReportText(in);
  EXPECT_NE(text.find("...\xe6\xbc\xa2"), std::string::npos);
  EXPECT_NE(text.find("\xa2.pb:\n"), std::string::npos);
  EXPECT_NE(text.find("\xe6\xbc\xa2..."), std::string::npos);
  std::string words;
  for (int i = 0; i < 10000; ++i) words += "a ";
  in.header.set_rss_source_reason(words);
  EXPECT_LE(EndReportText(in).size(), kMaxEndReportBytes);
  for (int i = 0; i < 1000; ++i) in.answer += "an answer's line\n";
  EXPECT_LE(EndReportText(in).size(), kMaxEndReportBytes);
}

}  // namespace
}  // namespace pymemrun
