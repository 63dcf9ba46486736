// Runs that have calls of C functions alone, and what else --events leaves out.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/call_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

Filters Kinds(const std::vector<What>& kinds) {
  Filters filters;
  for (const What kind : kinds) filters.add_kinds(kind);
  return filters;
}

// sort calls a key function in C; append raises; a second append does not.
CallRun& Sorts(CallRun* run) {
  return run->InC(C_CALL, "list.sort", 1000)
      .InC(C_CALL, "len", 1000)
      .InC(C_RETURN, "len", 1300)
      .InC(C_CALL, "list.append", 1300)
      .InC(C_EXCEPT, "list.append", 1400)
      .InC(C_RETURN, "list.sort", 2000)
      .InC(C_CALL, "list.append", 2000, 'd')
      .InC(C_RETURN, "list.append", 2500, 'd');
}

TEST(CCallsTest, ArePeaksWithTheLineThatCalls) {
  CallRun run(0, Kinds({C_CALL, C_RETURN, C_EXCEPT}));
  EXPECT_EQ(Sorts(&run).Report({"peaks", "--min", "299K"}).out,
            "1: MainThread>/src/main.py:7:len=>307200\n"
            "2: MainThread>/src/main.py:7:list.sort=>1024000\n"
            "3: MainThread>/src/lib.py:7:list.append=>512000\n");
}

TEST(CCallsTest, AreATree) {
  CallRun run(0, Kinds({C_CALL, C_RETURN, C_EXCEPT}));
  const std::string tree =
      "list.sort@/src/main.py:7-7, Time: 5.00 s, Memory: 1024000 B\n"
      " len@/src/main.py:7-7, Time: 1.00 s, Memory: 307200 B\n"
      " list.append@/src/main.py:7-7, Time: 1.00 s, Memory: 102400 B\n";
  EXPECT_EQ(Sorts(&run).Report({"calls", "--event", "5"}).out, tree);
  EXPECT_EQ(run.Report({"calls", "--peak", "2", "--min", "299K"}).out, tree);
  EXPECT_THAT(run.Report({"calls", "--event", "3"}).err,
              HasSubstr("as event 3, found C_CALL"));
}

TEST(CCallsTest, AreAddedUpByFunction) {
  CallRun run(0, Kinds({C_CALL, C_RETURN, C_EXCEPT}));
  EXPECT_EQ(Sorts(&run).Report({"flow", "--csv"}).out,
            "file,line,function,growth_bytes,own_bytes,calls,call_s,"
            "thread_growth_bytes,thread_own_bytes\r\n"
            ",,list.sort,1024000,614400,1,5.000000,,\r\n"
            ",,list.append,614400,614400,2,2.000000,,\r\n"
            ",,len,307200,307200,1,1.000000,,\r\n");
}

// What raised has no end then.
TEST(CCallsTest, WithoutExceptionsTheOuterCallIsStillKnown) {
  CallRun run(0, Kinds({C_CALL, C_RETURN}));
  EXPECT_EQ(run.InC(C_CALL, "list.sort", 1000)
                .InC(C_CALL, "list.append", 1300)
                .InC(C_RETURN, "list.sort", 2000)
                .Report({"peaks"})
                .out,
            "1: MainThread>/src/main.py:7:list.sort=>1024000\n");
}

TEST(CCallsTest, OfPythonsAreNoCalls) {
  CallRun run;
  EXPECT_EQ(run.Call('a', 0)
                .InC(C_CALL, "len", 0)
                .InC(C_RETURN, "len", 500)
                .Return('a', 1000)
                .Report({"peaks"})
                .out,
            "1: MainThread>/src/main.py:15:a=>1024000\n");
}

TEST(CCallsTest, WhatHasNoEndsIsSaid) {
  for (const char* command : {"peaks", "flow"}) {
    for (const What kind : {CALL, C_RETURN}) {
      CallRun run(0, Kinds({kind}));
      const Printed printed = run.Call('a', 0).Report({command});
      EXPECT_EQ(printed.code, 2);
      EXPECT_EQ(printed.err,
                "pymemreport: run.pb: --events left out calls or returns; "
                "record the run with --events call,return or without "
                "--events\n");
    }
  }
}

}  // namespace
}  // namespace pymemrun
