#include "readers/run/own_code.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/match.h"
#include "text/file_glob.h"

namespace pymemrun {
namespace {

// Never destroyed, so that other static objects may use it at exit.
std::vector<std::string>& Patterns() {
  static auto* const patterns = new std::vector<std::string>();
  return *patterns;
}

std::atomic<bool> any_matched{false};  // whether a file has matched one

// "3.11", or "3.13t" for a free-threaded interpreter.
bool IsVersion(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == 't';
  });
}

// The part after ".../lib/python3.11/", a folder of every Python installation;
// empty if the file is elsewhere.
absl::string_view InStandardLibrary(absl::string_view file) {
  static constexpr absl::string_view kPython = "/python";
  for (size_t at = file.find(kPython); at != absl::string_view::npos;
       at = file.find(kPython, at + 1)) {
    const absl::string_view parent = file.substr(0, at);
    const absl::string_view folder = file.substr(at + kPython.size());
    const size_t end = folder.find('/');
    if (end == absl::string_view::npos) break;
    if (end > 0 && IsVersion(folder.substr(0, end)) &&
        (absl::EndsWith(parent, "/lib") || absl::EndsWith(parent, "/lib64"))) {
      return folder.substr(end + 1);
    }
  }
  return "";
}

// The part after the folder of installed packages; empty if the file is
// elsewhere.
absl::string_view Installed(absl::string_view file) {
  for (const absl::string_view folder :
       {"/site-packages/", "/dist-packages/"}) {
    const size_t at = file.rfind(folder);
    if (at != absl::string_view::npos) return file.substr(at + folder.size());
  }
  return "";
}

// Whether it is the script of a command, "#!python" and a single call, which
// pip writes into a "bin" folder without a suffix.
bool IsConsoleScript(absl::string_view file, absl::string_view function) {
  const size_t slash = file.rfind('/');
  return function == "<module>" && slash != absl::string_view::npos &&
         absl::EndsWith(file.substr(0, slash), "/bin") &&
         !absl::StrContains(file.substr(slash), '.');
}

// Names that CPython, numpy and generators of wrappers give generated code.
bool IsGenerated(absl::string_view file) {
  return absl::StartsWith(file, "<frozen ") ||
         absl::StartsWith(file, "<attrs generated ") ||
         absl::StartsWith(file, "<decorator-gen-") ||
         absl::StartsWith(file, "<makefun-gen-") ||
         absl::EndsWith(file, " internals>");
}

}  // namespace

void OwnCode::SetPatterns(std::vector<std::string> patterns) {
  Patterns() = std::move(patterns);
  any_matched = false;
}

bool OwnCode::HasPatterns() { return !Patterns().empty(); }

bool OwnCode::NoneMatched() { return !Patterns().empty() && !any_matched; }

OwnCode::Kind OwnCode::KindOf(absl::string_view file,
                              absl::string_view function) {
  if (file.empty()) return kLibrary;
  if (!Patterns().empty()) {
    if (!FileMatchesAny(Patterns(), std::string(file))) return kLibrary;
    any_matched.store(true, std::memory_order_relaxed);
    return kOwn;
  }
  if (file.front() == '<') return IsGenerated(file) ? kLibrary : kText;
  if (IsConsoleScript(file, function)) return kLibrary;
  return PackageOf(file).empty() ? kOwn : kLibrary;
}

bool OwnCode::IsImportMachinery(absl::string_view file) {
  return absl::StartsWith(file, "<frozen importlib");
}

absl::string_view OwnCode::PackageOf(absl::string_view file) {
  absl::string_view rest = Installed(file);
  if (rest.empty()) rest = InStandardLibrary(file);
  return rest.substr(0, rest.find_first_of("/."));
}

OwnCode::Kind CodeKinds::KindOf(absl::string_view file,
                                absl::string_view function,
                                absl::string_view module) {
  const OwnCode::Kind kind = OwnCode::KindOf(file, function);
  // collections.namedtuple gives modules of its generated code such names.
  if (absl::StartsWith(module, "namedtuple_")) return OwnCode::kLibrary;
  if (module.empty() || module == "__main__") return kind;
  if (kind == OwnCode::kLibrary) library_modules_.insert(module);
  return kind == OwnCode::kText && library_modules_.contains(module)
             ? OwnCode::kLibrary
             : kind;
}

// Methods that dataclasses generate, such as __init__, begin with two
// underscores: the code that calls them is the better answer.
bool CodeKinds::IsOwn(OwnCode::Kind kind, absl::string_view function,
                      OwnCode::Kind outer) {
  if (kind != OwnCode::kText) return kind == OwnCode::kOwn;
  return outer == OwnCode::kLibrary ||
         (outer == OwnCode::kText && !absl::StartsWith(function, "__"));
}

}  // namespace pymemrun
