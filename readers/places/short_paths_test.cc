#include "readers/places/short_paths.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(ShortPathsTest, AFolderIsShownWhereFilesHaveOneName) {
  const ShortPaths paths({"/src/app/api/job.py", "/src/app/web/job.py",
                          "/src/app/main.py", "/src/app/main.py", "<stdin>"});
  EXPECT_EQ(paths.Of("/src/app/api/job.py"), "api/job.py");
  EXPECT_EQ(paths.Of("/src/app/web/job.py"), "web/job.py");
  EXPECT_EQ(paths.Of("/src/app/main.py"), "main.py");
  EXPECT_EQ(paths.Of("<stdin>"), "<stdin>");
  EXPECT_EQ(paths.Of("/another.py"), "/another.py");
}

TEST(ShortPathsTest, AnyPathsStayApart) {
  std::string same = "/x.py";
  for (int i = 0; i < 30; ++i) same = absl::StrCat("/same", same);
  const std::string left = "/a" + same, right = "/b" + same;
  const std::vector<absl::string_view> names = {
      left, right, "a.py", "/a.py", "x/a.py", "/", "//", "", "a/", "b/"};
  const ShortPaths paths(names);
  for (const absl::string_view one : names) {
    for (const absl::string_view other : names) {
      EXPECT_EQ(paths.Of(one) == paths.Of(other), one == other)
          << one << " " << other;
    }
  }
}

}  // namespace
}  // namespace pymemrun
