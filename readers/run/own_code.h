// Which Python code is the user's own. Library code is: the standard library,
// system-wide packages, scripts that start installed commands, and the import
// machinery.
#ifndef PYMEMRUN_READERS_RUN_OWN_CODE_H_
#define PYMEMRUN_READERS_RUN_OWN_CODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// Thread safe except for SetPatterns().
class OwnCode {
 public:
  enum Kind : uint8_t {
    kLibrary,
    kText,  // code of a string: belongs to the file that runs it, if any
    kOwn,
  };

  // For all runs read from now on: files that match one of these shell
  // patterns, with their path or its end, are own; all others are library code.
  // Empty: the usual rule.
  static void SetPatterns(std::vector<std::string> patterns);
  static bool HasPatterns();
  // Whether there are patterns, and no file has matched any so far.
  static bool NoneMatched();
  // `file` and `function` are those of the code object.
  static Kind KindOf(absl::string_view file, absl::string_view function = "");
  // Whether the file is part of CPython's code that finds and loads modules.
  static bool IsImportMachinery(absl::string_view file);
  // "pandas" for ".../site-packages/pandas/io/parsers.py", "json" for a file of
  // the standard library; empty for other files.
  static absl::string_view PackageOf(absl::string_view file);
};

// The kinds of one run's code. Not thread safe.
class CodeKinds {
 public:
  // Code of a string that runs as part of a library's module is library code.
  // `module` must outlive the object.
  OwnCode::Kind KindOf(absl::string_view file, absl::string_view function,
                       absl::string_view module);
  // Whether a frame is the own frame of its stack. `outer`: the kind of the own
  // frame found so far, outside this one; kLibrary: none. A file's frame is
  // preferred to a string's. Among strings the innermost counts, except for
  // methods that dataclasses generate.
  static bool IsOwn(OwnCode::Kind kind, absl::string_view function,
                    OwnCode::Kind outer);

 private:
  absl::flat_hash_set<absl::string_view> library_modules_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_OWN_CODE_H_
