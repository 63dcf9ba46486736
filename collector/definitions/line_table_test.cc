#include "collector/definitions/line_table.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"

namespace pymemrun {
namespace {

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

std::vector<uint32_t> Lines(const LineTable& table, uint32_t count) {
  std::vector<uint32_t> lines;
  for (uint32_t i = 0; i < count; ++i) lines.push_back(table.LineAt(i));
  return lines;
}

using Expected = std::vector<uint32_t>;

TEST(LineTableTest, NoTableHasNoLines) {
  EXPECT_EQ(LineTable().LineAt(0), 0u);
  EXPECT_EQ(LineTable().LineAt(7), 0u);
}

TEST(LineTableTest, LnotabStepsHoldFromTheirOffsetOn) {
  // Offset 4: +1; 6: +3; the same offset: +127 in two pairs; 10: -2.
  const auto table = LineTable::Decode(
      LineTableKind::kLnotab, 10, Bytes({4, 1, 2, 3, 2, 100, 0, 27, 2, 0xfe}));
  EXPECT_EQ(Lines(table, 7), (Expected{10, 10, 11, 14, 141, 139, 139}));
}

TEST(LineTableTest, Pep626RangesMayHaveNoLine) {
  // The example of CPython's description of the format, in small.
  const auto table =
      LineTable::Decode(LineTableKind::kPep626, 0,
                        Bytes({6, 1, 4, 1, 2, 0x80, 2, 1, 0, 127, 4, 73}));
  EXPECT_EQ(Lines(table, 10), (Expected{1, 1, 1, 2, 2, 0, 3, 203, 203, 0}));
}

TEST(LineTableTest, LocationEntriesOfEveryKind) {
  const auto entry = [](int kind, int length) {
    return 0x80 | kind << 3 | (length - 1);
  };
  std::string bytes;
  bytes += Bytes({entry(15, 1)});                         // no location
  bytes += Bytes({entry(11, 2), 4, 9});                   // one line, +1
  bytes += Bytes({entry(3, 1), 0x11});                    // short: same line
  bytes += Bytes({entry(13, 1), 0x07});                   // -3, no columns
  bytes += Bytes({entry(14, 2), 0x40 | 16, 3, 1, 2, 3});  // +104, long form
  const auto table = LineTable::Decode(LineTableKind::kLocations, 20, bytes);
  EXPECT_EQ(Lines(table, 8), (Expected{0, 21, 21, 21, 18, 122, 122, 0}));
}

TEST(LineTableTest, AFrameThatHasNotBegunIsAtTheFirstLine) {
  const auto table =
      LineTable::Decode(LineTableKind::kPep626, 5, Bytes({2, 1}));
  EXPECT_EQ(table.LineAt(~0u), 5u);
}

TEST(LineTableTest, DamagedTablesAreHarmless) {
  std::string bytes;
  uint32_t seed = 1;
  for (int i = 0; i < 5000; ++i) {
    bytes += static_cast<char>((seed = seed * 1103515245 + 12345) >> 16);
    for (const auto kind : {LineTableKind::kLnotab, LineTableKind::kPep626,
                            LineTableKind::kLocations, LineTableKind(77)}) {
      if (i % 97 == 0) LineTable::Decode(kind, ~0u, bytes).LineAt(i);
    }
  }
}

// Prints a line for each code object of some modules: kind, first line, the
// table in hex, then the line of each code unit as CPython says.
constexpr char kDumpProgram[] = R"(
import sys, types, argparse, decimal, typing, tokenize, difflib
def codes(c):
    yield c
    for k in c.co_consts:
        if isinstance(k, types.CodeType): yield from codes(k)
def show(c):
    n = len(c.co_code) // 2
    if sys.version_info < (3, 10):
        import dis
        kind, table, at = 1, c.co_lnotab, dict(dis.findlinestarts(c))
        lines, line = [], c.co_firstlineno
        starts = {}
        addr = 0
        for d, l in zip(table[::2], table[1::2]):
            addr += d
            line += l - 256 if l > 127 else l
            starts[addr] = line
        line = c.co_firstlineno
        for i in range(n):
            line = starts.get(2 * i, line)
            lines.append(line)
            if 2 * i in at: assert at[2 * i] == line
    else:
        kind, table = (2 if sys.version_info < (3, 11) else 3), c.co_linetable
        lines = [0] * n
        for a, b, l in c.co_lines():
            for i in range(a // 2, b // 2): lines[i] = l or 0
    print(kind, c.co_firstlineno, table.hex() or '-', n, *lines)
for m in (argparse, typing, tokenize, difflib):
    with open(m.__file__, encoding='utf-8') as f: s = f.read()
    for c in codes(compile(s, m.__file__, 'exec')): show(c)
)";

class RealCodeTest : public testing::TestWithParam<const char*> {};

TEST_P(RealCodeTest, LinesAreThoseOfTheInterpreter) {
  if (access(GetParam(), X_OK) != 0) {
    GTEST_SKIP() << GetParam() << " is not there";
  }
  char program[] = "/tmp/line_table_test_XXXXXX";
  const int fd = mkstemp(program);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, kDumpProgram, sizeof(kDumpProgram) - 1),
            static_cast<ssize_t>(sizeof(kDumpProgram) - 1));
  close(fd);
  const std::string command = std::string(GetParam()) + " -I " + program;
  FILE* dump = popen(command.c_str(), "r");
  ASSERT_NE(dump, nullptr);
  char* line = nullptr;
  size_t capacity = 0;
  int codes = 0, units = 0;
  while (getline(&line, &capacity, dump) > 0) {
    std::istringstream in(line);
    uint32_t kind, first_line, count, expected;
    std::string hex;
    in >> kind >> first_line >> hex >> count;
    const auto table =
        LineTable::Decode(LineTableKind(kind), first_line,
                          hex == "-" ? "" : absl::HexStringToBytes(hex));
    for (uint32_t i = 0; i < count && in >> expected; ++i, ++units) {
      ASSERT_EQ(table.LineAt(i), expected)
          << "code " << codes << " first line " << first_line << " unit " << i;
    }
    ++codes;
  }
  free(line);
  EXPECT_EQ(pclose(dump), 0);
  unlink(program);
  EXPECT_GT(codes, 200);
  EXPECT_GT(units, 20000);
}

INSTANTIATE_TEST_SUITE_P(
    Interpreters, RealCodeTest,
    testing::Values("/usr/bin/python3",
                    "/root/.pyenv/versions/3.9.18/bin/python",
                    "/root/.pyenv/versions/3.10.13/bin/python",
                    "/root/.pyenv/versions/3.12.1/bin/python",
                    "/root/.pyenv/versions/3.13.0/bin/python"));

}  // namespace
}  // namespace pymemrun
