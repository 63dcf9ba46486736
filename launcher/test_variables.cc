#include "launcher/test_variables.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <string_view>

extern char** environ;

namespace pymemrun {
namespace {

constexpr std::string_view kCollector = "PYMEMRUN_COLLECTOR";
constexpr std::string_view kPrefix = "PYMEMRUN_TEST_";

// Whether the mark stands beside the program.
bool IsOfBuildTree(const std::string& program) {
  const size_t slash = program.rfind('/');
  if (slash == std::string::npos) return false;
  const std::string mark = program.substr(0, slash + 1) + kBuildTreeMark;
  return access(mark.c_str(), F_OK) == 0;
}

}  // namespace

bool ReadTestVariables(const std::string& program, TestVariables* variables,
                       std::string* error) {
  *variables = TestVariables{};
  if (getauxval(AT_SECURE) != 0) return true;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals + 1 == text.size()) continue;
    const std::string_view name = text.substr(0, equals);
    if (name != kCollector && name.substr(0, kPrefix.size()) != kPrefix) {
      continue;
    }
    if (!IsOfBuildTree(program)) {
      *error = std::string(name) + " is for pymemrun's own tests; unset it";
      return false;
    }
    const std::string_view value = text.substr(equals + 1);
    if (name == kCollector) variables->collector = value;
    if (name == "PYMEMRUN_TEST_SYS_EXECUTABLE") {
      variables->executable_is_ours = value == "launcher";
    }
  }
  return true;
}

}  // namespace pymemrun
