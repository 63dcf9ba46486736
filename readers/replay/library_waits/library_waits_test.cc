// Work that libraries do in threads of their own.
#include "readers/replay/library_waits/library_waits.h"

#include <memory>
#include <string>
#include <vector>

#include "format/records/stack_depths.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

constexpr uint32_t kMain = 1, kWorker = 2, kOther = 3;

// The stacks of a program /src/job.py that calls the packages fast and slow.
class LibraryWaitsTest : public testing::Test {
 protected:
  LibraryWaitsTest() {
    for (const char* const name : {"MainThread", "worker", "other"}) {
      ThreadDef thread;
      thread.set_id(++threads_);
      thread.set_name(name);
      thread.set_native_id(threads_);
      index_.Add(thread);
    }
    job_ = Stack(0, "/src/job.py");
    fast_ = Stack(job_, "/env/lib/python3.11/site-packages/fast/read.py");
    waits_ = Stack(fast_, "/usr/lib/python3.11/threading.py");
    slow_ = Stack(job_, "/usr/lib/python3/dist-packages/slow.py");
    pool_ = Stack(0, "/usr/lib/python3.11/threading.py");
    works_ = Stack(pool_, "/env/lib/python3.11/site-packages/fast/part.py");
    MappingDef mapping;
    mapping.set_id(1);
    mapping.set_name("/env/lib/python3.11/site-packages/fast/_fast.abi3.so");
    index_.Add(mapping);
    mapping.set_id(2);
    mapping.set_name("/usr/lib/libc.so.6");
    index_.Add(mapping);
  }
  uint32_t Stack(uint32_t parent, const std::string& file) {
    CodeDef code;
    code.set_id(++codes_);
    code.set_file(file);
    code.set_name("f");
    index_.Add(code);
    StackDef node;
    node.set_id(codes_);
    node.set_parent(parent);
    node.set_code(codes_);
    node.set_line(codes_);
    index_.Add(node);
    return codes_;
  }
  static Row RowOf(uint64_t time_us, What what, uint32_t stack,
                   uint64_t call_us = 0) {
    Row row = {};
    row.time_us = time_us;
    row.thread = kMain;
    row.stack = stack;
    row.what = what;
    row.call_us = call_us;
    return row;
  }

  RunIndex index_;
  uint32_t threads_ = 0, codes_ = 0;
  uint32_t job_, fast_, waits_, slow_, pool_, works_;
};

TEST_F(LibraryWaitsTest, TheCallUnderWayIsFound) {
  WaitFinder finder(&index_);
  finder.OnMemory(10, kMain, job_, 0);
  finder.OnMemory(20, kMain, waits_, 0);
  finder.OnMemory(30, kWorker, works_, 0);
  finder.OnMemory(40, kMain, job_, 0);
  finder.OnMemory(50, kWorker, works_, 0);
  finder.OnMemory(60, kMain, slow_, 0);
  finder.OnMemory(70, kWorker, works_, 0);
  WaitCursor cursor(finder.Take());
  // The frame that the own line called, whatever that called.
  EXPECT_EQ(cursor.At(30, kWorker, works_, 0), fast_);
  EXPECT_EQ(cursor.At(31, kMain, waits_, 0), 0u);    // it has a line
  EXPECT_EQ(cursor.At(35, kWorker, pool_, 0), 0u);   // of no package
  EXPECT_EQ(cursor.At(50, kWorker, works_, 0), 0u);  // no thread waits
  EXPECT_EQ(cursor.At(70, kWorker, works_, 0), 0u);  // for another library
}

TEST_F(LibraryWaitsTest, AFunctionInCHasNoFrame) {
  constexpr uint32_t kFast = 1, kLibc = 2;
  WaitFinder finder(&index_);
  const uint32_t other_line = Stack(0, "/src/job.py");
  finder.OnMemory(10, kMain, other_line, kLibc);
  finder.OnMemory(30, kOther, 0, kFast);
  finder.OnMemory(40, kMain, job_, kFast);
  finder.OnMemory(50, kMain, job_, kLibc);
  finder.OnMemory(55, kMain, job_, 0);  // an object
  finder.OnMemory(80, kMain, other_line, 0);
  finder.OnMemory(90, kOther, 0, kFast);
  WaitCursor cursor(finder.Take());
  // It was seen in other code before, and there later.
  EXPECT_EQ(cursor.At(30, kOther, 0, kFast), job_);
  EXPECT_EQ(cursor.At(60, kOther, 0, kFast), job_);
  EXPECT_EQ(cursor.At(60, kOther, 0, kLibc), job_);
  EXPECT_EQ(cursor.At(90, kOther, 0, kFast), 0u);
}

// Objects made on the line tell neither that it is in C nor that it is not.
TEST_F(LibraryWaitsTest, AFunctionInCMayMakeObjects) {
  constexpr uint32_t kFast = 1;
  WaitFinder finder(&index_);
  finder.OnMemory(10, kMain, Stack(0, "/src/job.py"), 0);
  finder.OnMemory(500, kOther, 0, kFast);
  finder.OnMemory(20, kMain, job_, 0);
  finder.OnMemory(880, kMain, job_, 0);
  finder.OnMemory(890, kMain, job_, kFast);
  finder.OnRow(RowOf(900, CALL, job_));
  WaitCursor cursor(finder.Take());
  EXPECT_EQ(cursor.At(9, kOther, 0, kFast), 0u);
  EXPECT_EQ(cursor.At(500, kOther, 0, kFast), job_);
  EXPECT_EQ(cursor.At(901, kOther, 0, kFast), 0u);
}

TEST_F(LibraryWaitsTest, PagesMayBeToldAfterLaterCalls) {
  constexpr uint32_t kFast = 1;
  const uint32_t next_line = Stack(0, "/src/job.py");
  WaitFinder finder(&index_);
  finder.OnRow(RowOf(10, CALL, next_line));
  finder.OnRow(RowOf(900, CALL, next_line));
  finder.OnMemory(40, kMain, job_, kFast);
  finder.OnMemory(500, kOther, 0, kFast);
  WaitCursor cursor(finder.Take());
  EXPECT_EQ(cursor.At(500, kOther, 0, kFast), job_);
  EXPECT_EQ(cursor.At(901, kOther, 0, kFast), 0u);
}

TEST_F(LibraryWaitsTest, ACallThatReturnsWasUnderWayBefore) {
  WaitFinder finder(&index_);
  finder.OnMemory(10, kMain, job_, 0);
  finder.OnMemory(500, kWorker, works_, 0);
  finder.OnMemory(600, kWorker, works_, 0);
  finder.OnRow(RowOf(900, RETURN, fast_, 350));
  WaitCursor cursor(finder.Take());
  EXPECT_EQ(cursor.At(500, kWorker, works_, 0), 0u);
  EXPECT_EQ(cursor.At(600, kWorker, works_, 0), fast_);
  // Also where it was seen since.
  WaitFinder third(&index_);
  third.OnMemory(10, kMain, job_, 0);
  third.OnMemory(500, kWorker, works_, 0);
  third.OnMemory(700, kMain, waits_, 0);
  third.OnRow(RowOf(900, RETURN, fast_, 600));
  third.OnRow(RowOf(950, RETURN, job_, 950));
  cursor = WaitCursor(third.Take());
  EXPECT_EQ(cursor.At(500, kWorker, works_, 0), fast_);
  EXPECT_EQ(cursor.At(940, kWorker, works_, 0), fast_);
  EXPECT_EQ(cursor.At(951, kWorker, works_, 0), 0u);
  // Without its begin it is there since the thread was seen before.
  WaitFinder second(&index_);
  second.OnMemory(10, kMain, job_, 0);
  second.OnMemory(500, kWorker, works_, 0);
  second.OnRow(RowOf(900, C_RETURN, fast_));
  cursor = WaitCursor(second.Take());
  EXPECT_EQ(cursor.At(500, kWorker, works_, 0), fast_);
}

TEST_F(LibraryWaitsTest, NativeThreadsWorkForTheLibraryWhoseCodeTheyRun) {
  WaitFinder finder(&index_);
  finder.OnMemory(10, kMain, fast_, 0);
  finder.OnMemory(20, kOther, slow_, 0);
  finder.OnMemory(30, kWorker, 0, 0);
  WaitCursor cursor(finder.Take());
  EXPECT_EQ(cursor.At(30, kWorker, 0, 1), fast_);
  // By libc's code for whoever waits in a library last.
  EXPECT_EQ(cursor.At(30, kWorker, 0, 2), slow_);
  // Their frame has a name.
  CodeDef code;
  code.set_id(++codes_);
  code.set_name(std::string(kNativeThreadName));
  index_.Add(code);
  StackDef node;
  node.set_id(codes_);
  node.set_code(codes_);
  index_.Add(node);
  WaitFinder second(&index_);
  second.OnMemory(10, kMain, fast_, 0);
  second.OnMemory(30, kWorker, codes_, 0);
  WaitCursor named(second.Take());
  EXPECT_EQ(named.At(30, kWorker, codes_, 1), fast_);
  EXPECT_EQ(named.At(30, kWorker, codes_, 2), fast_);
  // A thread that runs Python code has no frame then, too.
  EXPECT_EQ(cursor.At(30, kMain, 0, 1), 0u);
}

TEST_F(LibraryWaitsTest, WithoutThreadsOfLibrariesThereIsNothing) {
  WaitFinder finder(&index_);
  for (uint64_t i = 0; i < 1000; ++i) {
    finder.OnMemory(10 * i, kMain, i % 2 == 0 ? job_ : fast_, 0);
  }
  EXPECT_EQ(finder.Take(), nullptr);
  EXPECT_EQ(WaitCursor(nullptr).At(1, kWorker, works_, 0), 0u);
}

TEST_F(LibraryWaitsTest, OfManyThatWaitTheLastAreAsked) {
  constexpr uint32_t kFirst = 1000;
  const auto ask = [&](uint32_t others) {
    WaitFinder finder(&index_);
    finder.OnMemory(10, kMain, fast_, 0);
    for (uint32_t i = 0; i < others; ++i) {
      finder.OnMemory(20 + i, kFirst + i, slow_, 0);
    }
    finder.OnMemory(5000, kWorker, works_, 0);
    return WaitCursor(finder.Take()).At(5000, kWorker, works_, 0);
  };
  EXPECT_EQ(ask(63), fast_);
  EXPECT_EQ(ask(64), 0u);
}

// In the file, other threads' events may come late.
TEST_F(LibraryWaitsTest, ACallThatHasReturnedIsRemembered) {
  WaitFinder finder(&index_);
  finder.OnMemory(10, kMain, job_, 0);
  finder.OnRow(RowOf(900, RETURN, fast_, 600));
  finder.OnMemory(950, kMain, job_, 0);
  finder.OnMemory(500, kWorker, works_, 0);
  WaitCursor cursor(finder.Take());
  EXPECT_EQ(cursor.At(500, kWorker, works_, 0), fast_);
}

}  // namespace
}  // namespace pymemrun
