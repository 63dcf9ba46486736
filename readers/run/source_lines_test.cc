#include "readers/run/source_lines.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

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
