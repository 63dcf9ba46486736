#include "readers/places/place_tree.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

// The user's main.py, line 1, imports a library; its module calls its line 9.
// Line 2 imports the user's other.py, which imports it too. Line 3 calls line
// 30 of the library.
class PlaceTreeTest : public ::testing::Test {
 protected:
  PlaceTreeTest() {
    main_ = AddCode("/home/u/main.py", "<module>");
    other_ = AddCode("/home/u/other.py", "<module>");
    library_ =
        AddCode("/usr/lib/python3/dist-packages/lib/__init__.py", "<module>");
    inner_ = AddCode("/usr/lib/python3/dist-packages/lib/inner.py", "work");
    machinery_ = AddCode("<frozen importlib._bootstrap>", "_find_and_load");
  }
  uint32_t AddCode(const std::string& file, const std::string& name) {
    CodeDef code;
    code.set_file(file);
    code.set_name(name);
    code.set_first_line(1);
    index_.Add(code);
    return ++codes_;
  }
  // A stack of (code, line), outermost first.
  uint32_t Stack(const std::vector<std::pair<uint32_t, uint32_t>>& frames) {
    uint32_t parent = 0;
    for (const auto& [code, line] : frames) {
      StackDef node;
      node.set_parent(parent);
      node.set_code(code);
      node.set_line(line);
      index_.Add(node);
      parent = ++stacks_;
    }
    return parent;
  }
  std::string Collapsed(bool folds) {
    PlaceTree tree(GroupBy::kLine, &index_);
    if (folds) tree.FoldImports();
    double bytes = 1;
    for (const uint32_t stack :
         {Stack({{main_, 1}, {machinery_, 5}, {machinery_, 6}}),
          Stack({{main_, 1}, {machinery_, 5}, {library_, 7}, {inner_, 9}}),
          Stack({{main_, 1},
                 {machinery_, 5},
                 {library_, 8},
                 {machinery_, 5},
                 {inner_, 1}}),
          Stack({{main_, 2}, {machinery_, 5}, {other_, 4}}),
          Stack({{main_, 2},
                 {machinery_, 5},
                 {other_, 5},
                 {machinery_, 5},
                 {library_, 7}}),
          Stack({{main_, 3}, {inner_, 30}}), Stack({{machinery_, 5}})}) {
      tree.Add(tree.NodeOf({.stack = stack}), bytes, 1);
      bytes *= 10;
    }
    tree.SumUp();
    StringSink sink;
    OutputBuffer output(&sink);
    tree.PrintCollapsed(&output);
    output.Flush().IgnoreError();
    return sink.contents();
  }

  RunIndex index_;
  uint32_t codes_ = 0, stacks_ = 0;
  uint32_t main_, other_, library_, inner_, machinery_;
};

TEST_F(PlaceTreeTest, FramesAreTheirOwnLines) {
  const std::string text = Collapsed(false);
  EXPECT_NE(text.find("<module> (/home/u/main.py:3);work "
                      "(/usr/lib/python3/dist-packages/lib/inner.py:30) "
                      "100000\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("_find_and_load (<frozen importlib._bootstrap>:5);"),
            std::string::npos);
}

TEST_F(PlaceTreeTest, AnImportIsOneFrame) {
  EXPECT_EQ(Collapsed(true),
            "_find_and_load (<frozen importlib._bootstrap>:5) 1000000\n"
            "<module> (/home/u/main.py:3);work "
            "(/usr/lib/python3/dist-packages/lib/inner.py:30) 100000\n"
            "<module> (/home/u/main.py:2);<module> (/home/u/other.py:5);"
            "import lib 10000\n"
            "<module> (/home/u/main.py:2);<module> (/home/u/other.py:4) 1000\n"
            "<module> (/home/u/main.py:1) 1\n"
            "<module> (/home/u/main.py:1);import lib 110\n");
}

}  // namespace
}  // namespace pymemrun
