// `pymemobj FILE what-if`.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kArena = 0x7f0000000000, kLarge = 0x7e0000000010,
                   kHeap = 0x55550000;
constexpr uint64_t kPool = 1 << 14;
constexpr uint64_t kBytes = kArena + kPool + 48,
                   kText = kArena + 2 * kPool + 48;

// sys.modules['app'].CACHE is a list of a bytearray and two strings in an
// arena. The bytearray's bytes have a mapping of their own, the list's items
// are in malloc's heap. app.KEPT has a second such list of nothing.
class WhatIfTest : public testing::Test {
 protected:
  WhatIfTest() {
    const uint32_t modules = builder_.AddGroup("modules");
    const uint32_t sys_modules = builder_.Add("dict", 1000);
    const uint32_t module = builder_.Add("module", 72, "app");
    const uint32_t app = builder_.Add("dict", 500);
    builder_.Refer(modules, sys_modules, EDGE_ROOT, "sys.modules");
    builder_.Put(sys_modules, builder_.AddText("app"), module);
    builder_.Refer(module, app, EDGE_DICT);
    cache_ = AddAt("list", 56 + 8000, kArena + 48 + 16, kHeap + 8116, 8000);
    builder_.SetHead("list", 16);
    builder_.Put(app, builder_.AddText("CACHE"), cache_);
    first_ = AddAt("bytearray", 56 + 200000, kBytes, kLarge, 200000);
    for (const uint32_t one :
         {first_, AddAt("str", 100, kText), AddAt("str", 100, kText + 112)}) {
      builder_.Refer(cache_, one, EDGE_INDEX);
    }
    kept_ = AddAt("list", 56 + 8000, kHeap + 20000 + 16, kHeap + 100, 8000);
    builder_.Put(app, builder_.AddText("KEPT"), kept_);
    builder_.begin().set_time_us(4000);
    builder_.end();
  }
  uint32_t AddAt(const std::string& type, uint64_t bytes, uint64_t address,
                 uint64_t beside = 0, uint64_t beside_bytes = 0) {
    const uint32_t node = builder_.Add(type, bytes);
    builder_.node(node).address = address;
    builder_.node(node).beside = beside;
    builder_.node(node).beside_bytes = beside_bytes;
    return node;
  }
  std::string Run(HeapMode mode = HEAP_ALL, uint32_t page_period = 1) {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(mode);
    header.set_page_period(page_period);
    header.set_first_rss_bytes(0);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
    builder.AddMapping("/usr/bin/python3.11");
    if (page_period > 0) {
      builder.AddPages(CamePages(100, kArena / kPage, 10, 1));
      builder.AddPages(CamePages(300, kLarge / kPage, 50, 1));
      builder.AddPages(CamePages(900, kHeap / kPage, 10, 1));
    }
    if (mode != HEAP_OFF) builder.AddHeap(Blocks());
    // After the dump.
    if (mode != HEAP_OFF) builder.AddHeap({FreeEvent(5000, kLarge)});
    builder.Flush();
    return sink.contents();
  }
  static std::vector<HeapEvent> Blocks() {
    return {AllocEvent(2000, kHeap + 20000, 56, 1),
            AllocEvent(2001, kHeap + 100, 8000, 1),
            AllocEvent(2002, kArena + 48, 56, 1),
            AllocEvent(2003, kHeap + 8116, 8000, 1),
            AllocEvent(2004, kBytes, 56, 1),
            AllocEvent(2005, kLarge, 200000, 1),
            AllocEvent(2006, kText, 101, 1),
            AllocEvent(2007, kText + 112, 100, 1)};
  }
  Printed WhatIf(const std::vector<std::string>& options,
                 const std::string& object = "list") {
    std::vector<std::string> arguments = {
        folder_.Write("run.obj.pb", builder_.Write()), "what-if", object};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Objects(arguments);
  }
  std::string Cache() const {
    return absl::StrCat("0x", absl::Hex(builder_.AddressOf(cache_)));
  }
  nlohmann::json Row(const std::string& object) {
    const Printed printed = WhatIf({"--json"}, object);
    EXPECT_EQ(printed.code, kExitOk) << printed.err;
    return nlohmann::json::parse(printed.out)[0];
  }

  ObjectRunBuilder builder_;
  TempFolder folder_;
  uint32_t cache_, kept_, first_;
};

TEST_F(WhatIfTest, BlocksAndPagesThatWouldGo) {
  folder_.Write("run.pb", Run());
  const nlohmann::json row = Row(Cache());
  EXPECT_EQ(row["objects"], 4);
  EXPECT_EQ(row["object_bytes"], 56 + 8000 + 56 + 200000 + 100 + 100);
  // As they were asked for.
  EXPECT_EQ(row["heap_bytes"], 56 + 8000 + 56 + 200000 + 101 + 100);
  EXPECT_EQ(row["rss_mapped_bytes"], 49 * kPage);
  // CPython keeps the only arena that becomes empty.
  EXPECT_EQ(row["rss_arena_bytes"], 0);
  EXPECT_EQ(row["arenas"], 0);
  EXPECT_EQ(row["rss_kept_arena_bytes"], 3 * kPage);
  EXPECT_EQ(row["rss_at_once_bytes"], 49 * kPage);
  EXPECT_EQ(row["heap_not_known"], nullptr);
}

TEST_F(WhatIfTest, WhatLiesBesideAnObjectGoesWithIt) {
  folder_.Write("run.pb", Run());
  const nlohmann::json cache = Row(Cache());
  // kHeap + 8116 to 16116: two pages alone, one shared.
  EXPECT_EQ(cache["rss_malloc_bytes"], 2 * kPage);
  EXPECT_EQ(cache["rss_shared_bytes"], kPage);
  EXPECT_EQ(cache["heap_unplaced_bytes"], 0);
  const nlohmann::json both = Row("list");
  EXPECT_EQ(both["named_objects"], 2);
  EXPECT_EQ(both["rss_malloc_bytes"], 5 * kPage);
  EXPECT_EQ(both["rss_shared_bytes"], 0);
}

// CPython keeps blocks of lists for the next ones.
TEST_F(WhatIfTest, AnObjectOfAnOlderBlockHasWhatLiesBesideIt) {
  builder_.node(cache_).address = 0x7f1000000000;
  folder_.Write("run.pb", Run());
  const nlohmann::json row = Row(Cache());
  EXPECT_EQ(row["heap_bytes"], 56 + 8000 + 56 + 200000 + 101 + 100);
  EXPECT_EQ(row["heap_unplaced_bytes"], 0);
  EXPECT_EQ(row["rss_malloc_bytes"], 2 * kPage);
}

// Older dumps do not tell where that is.
TEST_F(WhatIfTest, WhatLiesNobodyKnowsWhereIsSaid) {
  for (const uint32_t node : {cache_, first_}) {
    builder_.node(node).beside_bytes = 0;
  }
  folder_.Write("run.pb", Run());
  const nlohmann::json row = Row(Cache());
  EXPECT_EQ(row["heap_bytes"], 56 + 8000 + 56 + 200000 + 101 + 100);
  EXPECT_EQ(row["heap_unplaced_bytes"], 8000 + 200000);
  EXPECT_EQ(row["rss_malloc_bytes"], 0);
  EXPECT_EQ(row["rss_mapped_bytes"], 0);
}

// A block from before tracing is in no heap event.
TEST_F(WhatIfTest, OfAnOlderBlockTheDumpSaysWhereItLies) {
  builder_.node(first_).beside = kHeap + 5 * kPage;
  builder_.node(first_).beside_bytes = 2 * kPage;
  builder_.node(first_).size_bytes = 56 + 2 * kPage;
  folder_.Write("run.pb", Run());
  const nlohmann::json row = Row(Cache());
  EXPECT_EQ(row["heap_bytes"], 56 + 8000 + 56 + 2 * kPage + 101 + 100);
  EXPECT_EQ(row["heap_unplaced_bytes"], 0);
  EXPECT_EQ(row["rss_malloc_bytes"], 4 * kPage);
}

TEST_F(WhatIfTest, TextBeginsWithASentence) {
  folder_.Write("run.pb", Run());
  const Printed printed = WhatIf({}, Cache());
  EXPECT_THAT(
      printed.out,
      HasSubstr("Without sys.modules['app'].CACHE, 203.4 KiB of the heap would "
                "be freed;\nRSS would fall by 196.0 KiB at once.\n"));
  EXPECT_THAT(
      printed.out,
      HasSubstr("stay: in arenas with other blocks, and in one kept empty\n"));
  EXPECT_THAT(printed.out, HasSubstr("malloc_trim(0)"));
  for (const absl::string_view line : absl::StrSplit(printed.out, '\n')) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST_F(WhatIfTest, OfATypeAllObjectsGo) {
  folder_.Write("run.pb", Run());
  EXPECT_THAT(WhatIf({}, "bytearr*").out,
              HasSubstr("Without the 1 object of bytearr*, "));
  const Printed none = WhatIf({}, "app.Nothing");
  EXPECT_EQ(none.code, kExitFailed);
  EXPECT_THAT(none.err, HasSubstr("no object and no type 'app.Nothing'"));
}

TEST_F(WhatIfTest, WhatIsNotKnownIsSaidWithTheReason) {
  EXPECT_THAT(
      WhatIf({}, Cache()).out,
      HasSubstr("of objects would be freed.\n"
                "How much heap and RSS would shrink is unknown: there is "
                "no "));
  folder_.Write("run.pb", Run(HEAP_OFF));
  EXPECT_THAT(Row(Cache())["heap_not_known"].get<std::string>(),
              HasSubstr("has no heap events"));
  folder_.Write("run.pb", Run(HEAP_SAMPLED));
  EXPECT_THAT(WhatIf({}, Cache()).out,
              HasSubstr("samples of the heap: --heap all"));
  folder_.Write("run.pb", Run(HEAP_ALL, /*page_period=*/0));
  const nlohmann::json row = Row(Cache());
  EXPECT_EQ(row["heap_bytes"], 56 + 8000 + 56 + 200000 + 101 + 100);
  EXPECT_EQ(row["rss_at_once_bytes"], nullptr);
  EXPECT_THAT(row["rss_not_known"].get<std::string>(),
              HasSubstr("has no page events"));
  builder_.header().set_pid(5);
  EXPECT_THAT(Row(Cache())["heap_not_known"].get<std::string>(),
              HasSubstr("is of another process"));
}

TEST_F(WhatIfTest, OfARunThatEndsBeforeTheDumpNothingIsKnown) {
  builder_.begin().set_time_us(6000);
  folder_.Write("run.pb", Run());
  const nlohmann::json row = Row(Cache());
  EXPECT_EQ(row["rss_at_once_bytes"], nullptr);
  EXPECT_THAT(row["rss_not_known"].get<std::string>(),
              HasSubstr("run.pb ends before the dump"));
  EXPECT_THAT(WhatIf({}, Cache()).out,
              HasSubstr("How much heap and RSS would shrink is unknown: "));
}

// For a dump with a name of its own.
TEST_F(WhatIfTest, TheRunFileCanBeNamed) {
  const std::string run = folder_.Write("other.pb", Run());
  EXPECT_THAT(WhatIf({"--run", run}, Cache()).out,
              HasSubstr("RSS would fall by "));
  EXPECT_THAT(WhatIf({}, Cache()).out, Not(HasSubstr("RSS would fall")));
}

}  // namespace
}  // namespace pymemrun
