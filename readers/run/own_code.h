// Which Python code is the user's own. The rest is a library's: the standard
// library's, what is installed for all programs, the scripts that start
// installed commands, and the import machinery.
#ifndef PYMEMRUN_READERS_RUN_OWN_CODE_H_
#define PYMEMRUN_READERS_RUN_OWN_CODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// Thread safe, except for SetPatterns().
class OwnCode {
 public:
  enum Kind : uint8_t {
    kLibrary,
    kText,  // code of a string: its author called it from a file, if any did
    kOwn,
  };

  // Of all runs that are read from here on: files that match one of these shell
  // patterns, or whose last parts do, are own, all others a library's. Empty:
  // the usual rule.
  static void SetPatterns(std::vector<std::string> patterns);
  static bool HasPatterns();
  // Whether there are patterns, and no file has matched one since.
  static bool NoneMatched();
  // `file`, `function`: as the code object names them.
  static Kind KindOf(absl::string_view file, absl::string_view function = "");
  // Whether the file is code of CPython's that finds and loads modules.
  static bool IsImportMachinery(absl::string_view file);
  // "pandas" of ".../site-packages/pandas/io/parsers.py", "json" of a file of
  // the standard library; empty for others.
  static absl::string_view PackageOf(absl::string_view file);
};

// The kinds of one run's code. Not thread safe.
class CodeKinds {
 public:
  // Text that runs as part of a library's module is the library's. `module`
  // must outlive it.
  OwnCode::Kind KindOf(absl::string_view file, absl::string_view function,
                       absl::string_view module);
  // Whether a frame is the own one on its stack. `outer`: of the frame that was
  // so without it; kLibrary: none was. Text gives way to files. Among texts the
  // innermost counts, but not the methods that dataclasses generate.
  static bool IsOwn(OwnCode::Kind kind, absl::string_view function,
                    OwnCode::Kind outer);

 private:
  absl::flat_hash_set<absl::string_view> library_modules_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_OWN_CODE_H_
