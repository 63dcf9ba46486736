#include "readers/output/html_page.h"

#include <string>

#include "format/stream/byte_io.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(HtmlPageTest, HoldsThePictureWithoutItsDeclaration) {
  StringSink sink;
  HtmlPageSink page("pymemreport flame", &sink);
  EXPECT_TRUE(page.Append("<?xml version=\"1.0\"?>\n<svg>").ok());
  EXPECT_TRUE(page.Append("<?xml?></svg>\n").ok());
  EXPECT_TRUE(page.End().ok());
  EXPECT_EQ(sink.contents(),
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "\n<title>pymemreport flame</title></head>\n"
            "<body style=\"margin: 0\">\n<svg><?xml?></svg>\n</body></html>\n");
  EXPECT_EQ(page.bytes_written(), sink.contents().size());
}

TEST(HtmlPageTest, OfNothingIsNothing) {
  StringSink sink;
  HtmlPageSink page("", &sink);
  EXPECT_TRUE(page.Append("").ok());
  EXPECT_TRUE(page.End().ok());
  EXPECT_EQ(sink.contents(), "");
}

TEST(HtmlPageTest, NamesTellPictures) {
  EXPECT_TRUE(IsHtmlName("a.html"));
  EXPECT_TRUE(IsHtmlName("A.HTM"));
  EXPECT_FALSE(IsHtmlName("a.svg"));
  EXPECT_TRUE(IsPictureName("a.svg"));
  EXPECT_TRUE(IsPictureName("a.html"));
  EXPECT_FALSE(IsPictureName("svg"));
  EXPECT_FALSE(IsPictureName("a.txt"));
  EXPECT_FALSE(IsPictureName("a.png"));
  EXPECT_TRUE(IsOtherPictureName("a.PNG"));
  EXPECT_FALSE(IsOtherPictureName("a.svg"));
  EXPECT_FALSE(IsOtherPictureName("png"));
}

}  // namespace
}  // namespace pymemrun
