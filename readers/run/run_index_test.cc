#include "readers/run/run_index.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

CodeDef Code(absl::string_view file, absl::string_view name) {
  CodeDef code;
  code.set_file(std::string(file));
  code.set_name(std::string(name));
  code.set_module("mod");
  code.set_first_line(7);
  return code;
}

SiteDef Site(What what, uint32_t code, uint32_t line, uint32_t function) {
  SiteDef site;
  site.set_what(what);
  site.set_code(code);
  site.set_line(line);
  site.set_function(function);
  return site;
}

TEST(RunIndexTest, ResolvesPythonSites) {
  RunIndex index;
  index.Add(Code("/a.py", "f"));
  index.Add(Site(RETURN, 1, 12, 0));
  const SourceLocation place = index.Resolve(1);
  EXPECT_EQ(place.file, "/a.py");
  EXPECT_EQ(place.line, 12u);
  EXPECT_EQ(place.function, "f");
  EXPECT_EQ(place.code_name, "f");
  EXPECT_EQ(place.first_line, 7u);
  EXPECT_EQ(place.module, "mod");
  EXPECT_EQ(place.what, "RETURN");
}

ThreadDef Thread(uint32_t id, absl::string_view name, uint64_t native_id,
                 uint32_t renamed = 0) {
  ThreadDef thread;
  thread.set_id(id);
  thread.set_name(std::string(name));
  thread.set_native_id(native_id);
  thread.set_renamed(renamed);
  return thread;
}

TEST(RunIndexTest, ARenamedThreadIsOne) {
  RunIndex index;
  index.Add(Thread(1, "MainThread", 7));
  index.Add(Thread(2, "pool", 8));
  index.Add(Thread(3, "worker", 8, 2));
  EXPECT_EQ(index.LatestThreadLabel(2), "worker#8");
  EXPECT_EQ(index.ThreadLabel(2), "pool#8");
  index.Add(Thread(4, "done", 8, 3));
  EXPECT_EQ(index.LatestThread(2), 4u);
  EXPECT_EQ(index.LatestThread(3), 4u);
  EXPECT_EQ(index.LatestThread(1), 1u);
  EXPECT_EQ(index.LatestThread(0), 0u);
  EXPECT_EQ(index.LatestThread(99), 99u);
}

// What a file says of it may be wrong, and the kernel uses numbers again.
TEST(RunIndexTest, AnotherThreadIsNotTheRenamedOne) {
  RunIndex index;
  index.Add(Thread(1, "pool", 8));
  index.Add(Thread(2, "worker", 8));      // a new thread
  index.Add(Thread(3, "worker", 9, 1));   // another number
  index.Add(Thread(4, "worker", 9, 4));   // itself
  index.Add(Thread(5, "worker", 9, 77));  // not defined
  for (uint32_t id = 1; id <= 5; ++id) EXPECT_EQ(index.LatestThread(id), id);
}

TEST(RunIndexTest, ThreadsOfAnEarlierReadingHaveTheirLastNames) {
  RunIndex earlier, index;
  const ThreadDef pool = Thread(1, "pool", 8);
  const ThreadDef worker = Thread(2, "worker", 8, 1);
  earlier.Add(pool);
  earlier.Add(worker);
  index.AddThreadsOf(earlier);
  index.Add(pool);
  EXPECT_EQ(index.LatestThreadLabel(1), "worker#8");
  index.Add(worker);
  EXPECT_EQ(index.threads(), 2u);
}

TEST(RunIndexTest, DeepStacksLoseTheirOuterFrames) {
  RunIndex index;
  const std::string name(1000, 'f');
  index.Add(Code("/a.py", name));
  for (uint32_t i = 1; i <= 5000; ++i) {
    StackDef node;
    node.set_parent(i - 1);
    node.set_code(1);
    node.set_line(i);
    index.Add(node);
  }
  FrameBudget budget;
  EXPECT_EQ(index.StackText(1, &budget), "/a.py:1:" + name);
  const std::string text = index.StackText(5000, &budget);
  EXPECT_LT(text.size(), 300000u);
  EXPECT_EQ(text.substr(0, 10), "...;/a.py:");
  EXPECT_TRUE(absl::EndsWith(text, "/a.py:5000:" + name));
  EXPECT_EQ(index.StackText(0, &budget), "");
}

TEST(RunIndexTest, StacksAreCutOnceTheirSumIsLarge) {
  RunIndex index;
  const std::string name(90, 'f');
  index.Add(Code("/a.py", name));
  for (uint32_t i = 1; i <= 1000; ++i) {
    StackDef node;
    node.set_parent(i - 1);
    node.set_code(1);
    node.set_line(5);
    index.Add(node);
  }
  FrameBudget budget(150'000);
  EXPECT_EQ(index.StackText(1000, &budget).substr(0, 6), "/a.py:");
  EXPECT_EQ(index.StackText(1000, &budget).substr(0, 5), "...;/");
  // The innermost frames stay, and short stacks are whole.
  const std::string cut = index.StackText(1000, &budget);
  EXPECT_GT(cut.size(), 4096u);
  EXPECT_LT(cut.size(), 4300u);
  EXPECT_EQ(index.StackText(20, &budget).substr(0, 6), "/a.py:");
}

TEST(RunIndexTest, AStackWhoseParentIsNotThereEndsThere) {
  RunIndex index;
  index.Add(Code("/a.py", "f"));
  StackDef node;
  node.set_parent(1);  // itself
  node.set_code(1);
  node.set_line(3);
  index.Add(node);
  FrameBudget budget;
  EXPECT_EQ(index.StackText(1, &budget), "/a.py:3:f");
}

TEST(RunIndexTest, CSitesHaveTheCallersLineAndTheirOwnName) {
  RunIndex index;
  index.Add(Code("/a.py", "f"));
  FunctionDef function;
  function.set_qualname("list.append");
  function.set_module("builtins");
  index.Add(function);
  index.Add(Site(C_CALL, 1, 12, 1));
  const SourceLocation place = index.Resolve(1);
  EXPECT_EQ(place.file, "/a.py");
  EXPECT_EQ(place.function, "list.append");
  EXPECT_EQ(place.code_name, "f");
  EXPECT_EQ(place.module, "builtins");
}

TEST(RunIndexTest, UndefinedIdsAreNoPlaces) {
  RunIndex index;
  EXPECT_EQ(index.Resolve(0).file, NamePool::kNoRoom);
  EXPECT_EQ(index.Resolve(99).what, "?");
  EXPECT_EQ(index.ThreadLabel(0), NamePool::kNoRoom);
  EXPECT_EQ(index.ThreadNativeId(3), 0u);
  index.Add(Site(CALL, 0, 0, 0));
  EXPECT_EQ(index.Resolve(1).file, "?");
}

TEST(RunIndexTest, ThreadsAreNameAndId) {
  RunIndex index;
  ThreadDef thread;
  thread.set_name("Main#1");
  thread.set_native_id(42);
  index.Add(thread);
  EXPECT_EQ(index.ThreadLabel(1), "Main#1#42");
  EXPECT_EQ(index.ThreadName(1), "Main#1");
  EXPECT_EQ(index.ThreadNativeId(1), 42u);
}

TEST(RunIndexTest, BeyondTheLimitsDefinitionsAreCounted) {
  RunIndex index({/*codes=*/2, /*sites=*/1, /*threads=*/1, 1 << 20});
  for (int i = 0; i < 3; ++i) index.Add(Code("/a.py", "f"));
  index.Add(Site(CALL, 3, 1, 0));
  index.Add(Site(CALL, 1, 1, 0));
  EXPECT_EQ(index.not_kept(), 2u);
  EXPECT_EQ(index.Resolve(1).file, NamePool::kNoRoom);
  EXPECT_EQ(index.Resolve(2).file, NamePool::kNoRoom);
}

TEST(NamePoolTest, KeepsEachNameOnce) {
  NamePool pool(1 << 20);
  const std::string name = "name";
  const absl::string_view kept = pool.Keep(name);
  EXPECT_NE(kept.data(), name.data());
  EXPECT_EQ(pool.Keep("name").data(), kept.data());
  EXPECT_EQ(pool.Keep(""), "");
}

TEST(NamePoolTest, StaysWithinItsBudget) {
  NamePool pool(1000);
  int kept = 0;
  for (int i = 0; i < 100; ++i) {
    kept += pool.Keep(absl::StrCat("some name ", i)) != NamePool::kNoRoom;
  }
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 40);
  EXPECT_EQ(pool.Keep("some name 0"), "some name 0");
}

TEST(NamePoolTest, CutsHugeNames) {
  NamePool pool(1 << 20);
  const absl::string_view kept = pool.Keep(std::string(1 << 20, 'x'));
  EXPECT_LT(kept.size(), NamePool::kMaxNameBytes + 40);
  EXPECT_EQ(kept.substr(NamePool::kMaxNameBytes), "... (1048576 bytes)");
}

TEST(SourceLinesTest, KnowsLinesUpToItsLimit) {
  SourceLines lines(2);
  SourceFile source;
  source.set_file("/a.py");
  for (const uint32_t line : {3, 5, 9}) source.add_line(line);
  for (const uint32_t hash : {30, 50}) source.add_hash(hash);
  source.add_text("third");
  lines.Add(source);
  ASSERT_NE(lines.Find("/a.py", 3), nullptr);
  EXPECT_EQ(lines.Find("/a.py", 3)->hash, 30u);
  EXPECT_EQ(lines.Find("/a.py", 3)->text, "third");
  ASSERT_NE(lines.Find("/a.py", 5), nullptr);
  EXPECT_EQ(lines.Find("/a.py", 5)->hash, 50u);
  EXPECT_EQ(lines.Find("/a.py", 5)->text, "");
  EXPECT_EQ(lines.Find("/a.py", 9), nullptr);  // it has no hash
  source.set_file("/b.py");
  lines.Add(source);
  EXPECT_EQ(lines.Find("/b.py", 3), nullptr);
}

}  // namespace
}  // namespace pymemrun
