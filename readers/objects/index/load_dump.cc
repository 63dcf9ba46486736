#include "readers/objects/index/load_dump.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/objects/index/index_layout.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Returns null if no index can be used, and has printed why if that matters.
std::unique_ptr<ObjectAnalysis> ByIndex(const std::string& path,
                                        const std::string& index, bool is_named,
                                        const Console& console) {
  const auto stamp = StampOf(path);
  if (!stamp.ok()) return nullptr;  // the loader prints it
  auto opened = OpenIndex(index, *stamp);
  if (opened.ok()) return *std::move(opened);
  if (is_named || !absl::IsNotFound(opened.status())) {
    console.Say(absl::StrCat(TerminalText(index), ": ",
                             TerminalText(opened.status().message()),
                             ": the dump is read without it"));
  }
  return nullptr;
}

}  // namespace

// Numbers are compared as numbers: "run.obj-2.pb" precedes "run.obj-10.pb".
std::vector<std::string> DumpsOf(const std::string& path) {
  std::error_code error;
  std::vector<std::tuple<std::string, uint64_t, std::string>> found;
  for (std::filesystem::directory_iterator entries(path, error), end;
       !error && entries != end; entries.increment(error)) {
    // "run.obj.pb", "run.obj-12.pb".
    const std::string name = entries->path().filename().string();
    absl::string_view rest = name;
    const size_t at = name.rfind(".obj");
    if (at == std::string::npos || !absl::ConsumeSuffix(&rest, ".pb")) continue;
    rest = rest.substr(std::min(rest.size(), at + 4));
    uint64_t number = 0;
    if (!rest.empty() &&
        (!absl::ConsumePrefix(&rest, "-") || absl::StrContains(rest, "."))) {
      continue;
    }
    if (!absl::SimpleAtoi(rest, &number)) number = 0;
    found.push_back({name.substr(0, at), number, entries->path().string()});
  }
  if (found.empty()) return {path};
  std::sort(found.begin(), found.end());
  std::vector<std::string> dumps;
  for (auto& [run, number, file] : found) dumps.push_back(std::move(file));
  return dumps;
}

std::string IndexPath(const std::string& dump) {
  return absl::StrCat(dump, ".idx");
}

// An index is only a cache: whatever is wrong with it, the dump is read
// instead.
std::unique_ptr<ObjectAnalysis> LoadDump(const std::string& path,
                                         const std::string& index,
                                         bool is_named, bool details,
                                         const Console& console, int* code) {
  if (!index.empty() && path != "-") {
    auto analysis = ByIndex(path, index, is_named, console);
    if (analysis != nullptr) {
      SayDumpEnd(TerminalText(path), analysis->graph(), console);
      return analysis;
    }
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    console.Say(absl::StrCat(TerminalText(path), ": ", kNoDumps));
    *code = kExitFailed;
    return nullptr;
  }
  auto graph = LoadObjects(path, console, code, details);
  if (graph == nullptr) return nullptr;
  return std::make_unique<ObjectAnalysis>(std::move(graph));
}

}  // namespace pymemrun
