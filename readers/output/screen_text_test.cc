#include "readers/output/screen_text.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(ScreenTextTest, LinesFitAndDoNotEndInSpaces) {
  Terminal terminal;
  terminal.columns = 40;
  ScreenText text(&terminal);
  text.Line("a  ");
  text.Line();
  text.Paragraph("Peak 60 MiB at 3.000 s. job.py:3 holds 40 MiB of it.");
  text.Paragraph("in " + std::string(50, 'x') + " ones");
  EXPECT_EQ(text.Take(),
            "a\n\nPeak 60 MiB at 3.000 s. job.py:3 holds\n40 MiB of it.\n"
            "in\n" +
                std::string(38, 'x') + "..\nones\n");
}

TEST(ScreenTextTest, NumbersStayWithTheirUnits) {
  Terminal terminal;
  terminal.columns = 40;
  ScreenText text(&terminal);
  text.Paragraph("job.py of mine now holds (as told) 286 MiB (89 %), surely.");
  EXPECT_EQ(text.Take(),
            "job.py of mine now holds (as told)\n286 MiB (89 %), surely.\n");
}

TEST(ScreenTextTest, TheWidthIsThatOfTheTerminalWithinReason) {
  const auto columns = [](size_t given) {
    Terminal terminal;
    terminal.columns = given;
    return ScreenText(&terminal).columns();
  };
  EXPECT_EQ(columns(0), 80u);
  EXPECT_EQ(columns(10), 40u);
  EXPECT_EQ(columns(100), 100u);
  EXPECT_EQ(columns(200), 120u);
}

TEST(ScreenTextTest, HeadlinesAreBoldWhereThereAreColors) {
  Terminal terminal;
  terminal.colors = true;
  ScreenText text(&terminal);
  text.Heading("RSS");
  text.Paragraph("Peak 60 MiB. It fell.", "Peak 60 MiB.");
  text.Paragraph("Another.", "Peak");
  EXPECT_EQ(text.Take(),
            "\x1b[1mRSS\x1b[0m\n\x1b[1mPeak 60 MiB.\x1b[0m It fell.\n"
            "Another.\n");
}

TEST(ScreenTextTest, CommandsGoOnInTheNextLine) {
  Terminal terminal;
  terminal.columns = 40;
  ScreenText text(&terminal);
  text.Command({"pymemreport", "top", "run.pb"}, "growth");
  text.Command({"pymemreport", "timeline", "run.pb", "-o", "rss.svg"},
               "a picture");
  text.Command({"pymemreport", "heap", "'rather long/my run.pb'", "--stacks"},
               "callers");
  EXPECT_EQ(text.Take(),
            "pymemreport top run.pb   # growth\n"
            "pymemreport timeline run.pb -o rss.svg\n"
            "pymemreport heap \\\n  'rather long/my run.pb' --stacks\n");
}

}  // namespace
}  // namespace pymemrun
