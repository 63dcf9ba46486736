#include "format/gauge_text.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

RssVerification Found(uint64_t events, uint64_t agreeing) {
  RssVerification found;
  found.set_events(events);
  found.set_agreeing(agreeing);
  return found;
}

TEST(GaugeTextTest, AVerifiedRunSaysHowWrongItsRssWas) {
  RssVerification found = Found(1234567, 1234566);
  found.set_worst_staleness_ns(49960);
  found.set_worst_error_bytes(8192);
  EXPECT_EQ(
      RssVerificationText(found),
      "statm's value at 99.999 % of 1,234,567 events, elsewhere wrong for "
      "at most 50.0 us and by at most 8.0 KiB");
  found.set_changing(1);
  const std::string text = RssVerificationText(found);
  EXPECT_NE(text.find("(0.000 %: just changed by another thread)"),
            std::string::npos)
      << text;
}

TEST(GaugeTextTest, OnlyARunThatWasAlwaysRightSays100Percent) {
  EXPECT_EQ(RssVerificationText(Found(10, 10)),
            "statm's value at 100 % of 10 events");
  EXPECT_EQ(RssVerificationText(Found(1u << 30, (1u << 30) - 1)).substr(0, 26),
            "statm's value at 99.999 % ");
}

TEST(GaugeTextTest, ReadsAreAShareOfTheEvents) {
  Footer footer;
  footer.set_rss_reads(1235);
  EXPECT_EQ(RssReadsText(footer), "1,235 times");
  footer.set_events(1234567);
  EXPECT_EQ(RssReadsText(footer), "1,235 times (0.10 % of the events)");
}

}  // namespace
}  // namespace pymemrun
