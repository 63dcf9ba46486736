#include "format/summary/gauge_text.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

RssVerification Found(uint64_t events, uint64_t agreeing) {
  RssVerification found;
  found.set_events(events);
  found.set_agreeing(agreeing);
  return found;
}

Header From(RssSource source, uint64_t step_bytes) {
  Header header;
  header.set_page_bytes(4096);
  header.set_rss_source(source);
  header.set_statm_step_bytes(step_bytes);
  return header;
}

TEST(GaugeTextTest, TheSourceIsSaidWithWhyAndHowExact) {
  EXPECT_EQ(RssSourceText(Header(), Footer(), 99), "unknown");
  Header header = From(FAULTS, 4096);
  EXPECT_EQ(RssSourceText(header, Footer(), 99),
            "faults; statm is exact to the page");
  header.set_rss_source_reason("because\x1b of this");
  EXPECT_EQ(RssSourceText(header, Footer(), 16),
            "faults (because\\x1b o...); statm is exact to the page");
}

TEST(GaugeTextTest, ACoarseFigureIsRefinedWhereFaultsAreCounted) {
  EXPECT_EQ(
      RssSourceText(From(FAULTS, 64 * 4096), Footer(), 99),
      "faults; statm moves in steps of 256.0 KiB; RSS between steps is estimated");
  EXPECT_EQ(RssSourceText(From(STATM, 64 * 4096), Footer(), 99),
            "statm; statm moves in steps of 256.0 KiB");
}

TEST(GaugeTextTest, AChangeOfTheSourceIsSaidFromWhenOn) {
  Footer footer;
  footer.set_gauge_changes(1);
  footer.mutable_gauge_change()->set_number(12345);
  footer.mutable_gauge_change()->set_rss_source(HINTS);
  footer.mutable_gauge_change()->set_reason("gone");
  EXPECT_EQ(RssSourceText(From(FAULTS, 0), footer, 99),
            "faults; hints from event 12,345 on (gone)");
  footer.set_gauge_changes(3);
  footer.mutable_gauge_change()->set_rss_source(RSS_SOURCE_UNKNOWN);
  EXPECT_EQ(RssSourceText(From(FAULTS, 0), footer, 99),
            "faults; unknown from event 12,345 on (gone), the last of 3 "
            "changes");
}

TEST(GaugeTextTest, AVerifiedRunSaysHowWrongItsRssWas) {
  RssVerification found = Found(1234567, 1234566);
  found.set_worst_staleness_ns(49960);
  found.set_worst_error_bytes(8192);
  EXPECT_EQ(
      RssVerificationText(found),
      "equal to statm at 99.999 % of 1,234,567 events, otherwise wrong for "
      "at most 50.0 us and by at most 8.0 KiB");
  found.set_changing(1);
  const std::string text = RssVerificationText(found);
  EXPECT_NE(text.find("(another thread had just changed it at 0.000 %)"),
            std::string::npos)
      << text;
}

TEST(GaugeTextTest, OnlyARunThatWasAlwaysRightSays100Percent) {
  EXPECT_EQ(RssVerificationText(Found(10, 10)),
            "equal to statm at 100 % of 10 events");
  EXPECT_EQ(RssVerificationText(Found(1u << 30, (1u << 30) - 1)).substr(0, 27),
            "equal to statm at 99.999 % ");
}

TEST(GaugeTextTest, ReadsAreAShareOfTheEvents) {
  Footer footer;
  footer.set_rss_reads(1235);
  EXPECT_EQ(RssReadsText(footer), "1,235 times");
  footer.set_events(1234567);
  EXPECT_EQ(RssReadsText(footer), "1,235 times (0.10 % of the events)");
}

TEST(GaugeTextTest, SourcesThatAreNotKnownAreSaidToBe) {
  EXPECT_EQ(RssSourceName(FAULTS), "faults");
  EXPECT_EQ(RssSourceName(STATM), "statm");
  EXPECT_EQ(RssSourceName(static_cast<RssSource>(77)), "unknown");
}

}  // namespace
}  // namespace pymemrun
