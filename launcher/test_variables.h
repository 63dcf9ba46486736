// Environment variables that are for the project's own tests alone:
// PYMEMRUN_COLLECTOR and PYMEMRUN_TEST_*. They can have another program run in
// the collector's place, so only the pymemrun of a build tree heeds them.
#ifndef PYMEMRUN_LAUNCHER_TEST_VARIABLES_H_
#define PYMEMRUN_LAUNCHER_TEST_VARIABLES_H_

#include <string>

namespace pymemrun {

struct TestVariables {
  std::string collector;            // to be run instead of our own, or empty
  bool executable_is_ours = false;  // sys.executable is to be pymemrun
};

// The file that stands beside the pymemrun of a build tree, and is installed
// nowhere.
inline constexpr char kBuildTreeMark[] = "pymemrun-of-build-tree";

// Reads the variables; one that is empty is not set. `program` is the path of
// the running executable. Returns false with the reason where one is set and no
// mark stands beside it. In a set-user-ID program none counts as set.
bool ReadTestVariables(const std::string& program, TestVariables* variables,
                       std::string* error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_TEST_VARIABLES_H_
