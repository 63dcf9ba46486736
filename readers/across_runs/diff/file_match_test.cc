#include "gtest/gtest.h"
#include "readers/across_runs/diff/place_match.h"

namespace pymemrun {
namespace {

using Matches = absl::flat_hash_map<absl::string_view, absl::string_view>;

TEST(MatchFilesTest, OnePathIsOneFile) {
  EXPECT_EQ(MatchFiles({"/a/x.py", "<string>"}, {"<string>", "/a/x.py"}),
            (Matches{{"/a/x.py", "/a/x.py"}, {"<string>", "<string>"}}));
}

TEST(MatchFilesTest, AnotherCheckoutHasTheSameEnds) {
  EXPECT_EQ(MatchFiles(
                {"/a/v1/job.py", "/a/v1/p/__init__.py", "/a/v1/q/__init__.py"},
                {"/b/v2/q/__init__.py", "/b/v2/job.py", "/b/v2/p/__init__.py"}),
            (Matches{{"/a/v1/job.py", "/b/v2/job.py"},
                     {"/a/v1/p/__init__.py", "/b/v2/p/__init__.py"},
                     {"/a/v1/q/__init__.py", "/b/v2/q/__init__.py"}}));
}

TEST(MatchFilesTest, LongerEndsComeFirst) {
  EXPECT_EQ(MatchFiles({"/a/p/x.py", "/a/x.py"}, {"/b/x.py", "/b/p/x.py"}),
            (Matches{{"/a/p/x.py", "/b/p/x.py"}, {"/a/x.py", "/b/x.py"}}));
}

TEST(MatchFilesTest, WhatSeveralMayBeIsNone) {
  EXPECT_EQ(MatchFiles({"/a/x.py"}, {"/b/1/x.py", "/b/2/x.py"}), Matches());
  EXPECT_EQ(MatchFiles({"/a/1/x.py", "/a/2/x.py"}, {"/b/x.py"}), Matches());
  EXPECT_EQ(MatchFiles({"<frozen a>", "", "x.py"}, {"<frozen b>", "y.py"}),
            Matches());
}

}  // namespace
}  // namespace pymemrun
