// Which Python code is the user's own. The rest is a library's: the standard
// library's, what is installed for all programs, and the import machinery.
#ifndef PYMEMRUN_READERS_RUN_OWN_CODE_H_
#define PYMEMRUN_READERS_RUN_OWN_CODE_H_

#include <cstdint>
#include <string>
#include <vector>

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
  // Whether there are patterns, and no file has matched one since.
  static bool NoneMatched();
  // `file`: as the code object names it.
  static Kind KindOf(absl::string_view file);
  // Whether the file is code of CPython's that finds and loads modules.
  static bool IsImportMachinery(absl::string_view file);
  // "pandas" of ".../site-packages/pandas/io/parsers.py", "json" of a file of
  // the standard library; empty for others.
  static absl::string_view PackageOf(absl::string_view file);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_OWN_CODE_H_
