// Reads options as the launcher does. For tests only.
#ifndef PYMEMRUN_LAUNCHER_OPTIONS_OPTIONS_FOR_TESTS_H_
#define PYMEMRUN_LAUNCHER_OPTIONS_OPTIONS_FOR_TESTS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launcher/options/options.h"

namespace pymemrun {

struct ReadResult {
  bool ok;
  Options options;
  std::string error;
};

inline ReadResult Read(std::vector<const char*> words,
            std::map<std::string, std::string> variables = {}) {
  words.insert(words.begin(), "pymemrun");
  ReadResult result;
  CommandLine line;
  auto environment = [&variables](const char* name) -> const char* {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  result.ok = ReadOptions(static_cast<int>(words.size()), words.data(),
                          environment, &result.options, &line, &result.error);
  return result;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_OPTIONS_FOR_TESTS_H_
