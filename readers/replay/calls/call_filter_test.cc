// Which calls the reports about calls know of a run with filters, and which of
// them they choose.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/run/own_code.h"
#include "readers/testing/call_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What --include or --thread left out is missing on both sides.
TEST(CallPairingTest, FiltersOfPlacesLeaveOutWholeCalls) {
  Filters filters;
  filters.add_include("/src/main.py");
  CallRun run(0, filters);
  run.Call('a', 1000).Skip(2).Call('b', 1100).Skip(5);
  run.Return('b', 1600).Skip(1).Return('a', 1500);
  EXPECT_EQ(run.Report({"peaks", "--min-time", "0"}).out,
            "1: MainThread>/src/main.py:25:b=>512000\n"
            "2: MainThread>/src/main.py:15:a=>512000\n");
  const Printed flow = run.Report({"flow", "--csv"});
  EXPECT_THAT(flow.err,
              HasSubstr("not counted: calls that --include left out"));
  EXPECT_THAT(flow.out, HasSubstr("/src/main.py,10,a,512000,0,1,"));
  const Printed calls = run.Report({"calls", "--peak", "2", "--min-time", "0"});
  EXPECT_EQ(calls.code, 0);
  EXPECT_EQ(calls.err,
            "pymemreport: run.pb: not in the tree: calls that --include left "
            "out\n");
  EXPECT_THAT(calls.out, HasSubstr("\n b@/src/main.py:20-25"));
}

TEST(CallPairingTest, EventsOfContextAndLossesAreNoCalls) {
  Filters filters;
  filters.add_kinds(CALL);
  filters.add_kinds(RETURN);
  CallRun run(0, filters);
  Record loss;
  loss.mutable_loss()->set_rows(3);
  run.Call('a', 1000).Context('b', 1000).Return('a', 2000).Call('b', 1000);
  run.builder().AddRecord(loss);
  run.Return('b', 3000);
  EXPECT_EQ(run.Report({"peaks"}).out,
            "1: MainThread>/src/main.py:15:a=>1024000\n");
}

TEST(CallFilterTest, ThreadFileAndOwnChooseAmongCalls) {
  CallRun run;
  Busy(&run);
  const auto peaks = [&run](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"peaks", "--min", "299K", "--min-time", "0"});
    return run.Report(options);
  };
  EXPECT_EQ(peaks({"--thread", "Thread-6"}).out,
            "1: Thread-6>/src/main.py:35:c=>614400\n");
  EXPECT_EQ(peaks({"--file", "lib.py"}).out,
            "1: MainThread>/src/lib.py:45:d=>307200\n"
            "2: MainThread>/src/lib.py:45:d=>307200\n");
  EXPECT_EQ(peaks({"--exclude", "lib.py", "--thread", "4711"}).out,
            "1: MainThread>/src/main.py:25:b=>768000\n"
            "2: MainThread>/src/main.py:15:a=>512000\n");
  EXPECT_EQ(peaks({"--own", "lib.py", "--limit", "1"}).out,
            "1: MainThread>/src/lib.py:45:d=>307200\n");
  OwnCode::SetPatterns({});
  const Printed none = peaks({"--thread", "nobody"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("found 'nobody'"));
  // What a left-out call has within stays, one level up.
  const Printed calls =
      run.Report({"calls", "--event", "9", "--exclude", "main.py"});
  EXPECT_EQ(calls.out.substr(0, calls.out.find('@')), "a");
  EXPECT_THAT(calls.out, HasSubstr("\n d@/src/lib.py:40-45"));
  const Printed flow = run.Report({"flow", "--csv", "--thread", "Thread-6"});
  EXPECT_THAT(flow.out, HasSubstr(",c,614400,"));
  EXPECT_THAT(flow.out, Not(HasSubstr(",a,")));
}

TEST(PeaksOfAPartTest, KeepTheirNumbers) {
  CallRun run;
  Busy(&run);
  EXPECT_EQ(
      run.Report({"peaks", "--min", "299K", "--from", "7", "--to", "8"}).out,
      "3: MainThread>/src/lib.py:45:d=>307200\n"
      "4: MainThread>/src/main.py:25:b=>768000\n");
  EXPECT_THAT(run.Report({"peaks", "--min", "299K", "--to", "1"}).err,
              HasSubstr(": the range has no calls that changed RSS by more "
                        "than 299.0 KiB; the run has them from "));
}

TEST(CallFilterTest, FunctionsChooseAmongCalls) {
  CallRun run;
  EXPECT_EQ(
      Busy(&run).Report({"calls", "--min", "299K", "--function", "[ab]"}).out,
      "1: MainThread>/src/main.py:25:b=>768000\n"
      "2: MainThread>/src/main.py:15:a=>512000\n");
}

TEST(CallsListTest, SortsAndSaysWhatIsNotShown) {
  CallRun run;
  Busy(&run);
  const Printed calls = run.Report(
      {"calls", "--min", "299K", "--sort", "growth", "--limit", "1"});
  EXPECT_EQ(calls.out, "4: MainThread>/src/main.py:25:b=>768000\n");
  EXPECT_THAT(calls.err, HasSubstr("4 more calls not shown (--limit)"));
  const Printed functions =
      run.Report({"calls", "--by", "function", "--limit", "1"});
  EXPECT_THAT(functions.out,
              HasSubstr("\n3 more places not shown (--limit)\n"));
  EXPECT_THAT(run.Report({"calls", "--sort", "weight"}).err,
              HasSubstr("--sort: expected peak, clock_s, thread, file, line,"));
}

TEST(CallsListTest, FilesAndPackagesHaveWhatIsTheirOwn) {
  CallRun run;
  Busy(&run);
  EXPECT_THAT(run.Report({"calls", "--by", "file", "--csv"}).out,
              HasSubstr("file,own_bytes,calls,thread_own_bytes\r\n/src/"));
  EXPECT_THAT(run.Report({"calls", "--by", "package", "--csv"}).out,
              HasSubstr("\r\n<your code>,"));
  const std::string part =
      run.Report({"calls", "--by", "function", "--csv", "--to", "5"}).out;
  EXPECT_THAT(part, HasSubstr(",d,"));
  EXPECT_THAT(part, Not(HasSubstr(",a,")));
}

TEST(CallsListTest, OneCallIsChosenByItsNumberAlone) {
  CallRun run;
  const Printed wrong =
      Busy(&run).Report({"calls", "--event", "9", "--thread", "x"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--event 9 does not go with --thread x"));
}

}  // namespace
}  // namespace pymemrun
