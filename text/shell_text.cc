#include "text/shell_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Characters that need no quotes in bash, nor in zsh except = at the start,
// which stands for a command's path there. All others are quoted, also those
// that matter only in some places, such as ~ and #.
bool IsPlain(char c) {
  return absl::ascii_isalnum(c) ||
         absl::string_view("_./-+:=@%,").find(c) != absl::string_view::npos;
}

// $'...': bytes that a terminal must not get are written as \xHH, so that a
// name that is not UTF-8 stays the same file. bash and zsh read it; other
// shells may not.
std::string Escaped(absl::string_view name) {
  std::string word = "$'";
  while (!name.empty()) {
    const Rune rune = FirstRune(name);
    const absl::string_view bytes = name.substr(0, rune.size);
    name.remove_prefix(rune.size);
    if (bytes == "'" || bytes == "\\") {
      absl::StrAppend(&word, "\\", bytes);
    } else if (rune.IsHarmless()) {
      absl::StrAppend(&word, bytes);
    } else {
      for (const char byte : bytes) {
        absl::StrAppendFormat(&word, "\\x%02x", static_cast<uint8_t>(byte));
      }
    }
  }
  return word + "'";
}

}  // namespace

// Three forms, the plainest that will do: as it is, in single quotes, or with
// escapes. Within single quotes only a single quote ends them. So one is
// written as '\'': the end, a quoted quote, a new begin.
std::string ShellArgument(absl::string_view argument) {
  bool is_plain = !argument.empty() && argument.front() != '=';
  bool is_harmless = true;
  for (absl::string_view rest = argument; !rest.empty();) {
    const Rune rune = FirstRune(rest);
    is_plain &= IsPlain(rest.front());
    is_harmless &= rune.IsHarmless();
    rest.remove_prefix(rune.size);
  }
  if (!is_harmless) return Escaped(argument);
  if (is_plain) return std::string(argument);
  return absl::StrCat("'", absl::StrReplaceAll(argument, {{"'", "'\\''"}}),
                      "'");
}

// The same file, but no longer like an option. A lone "-" stays: commands take
// it as a name for their input.
std::string ShellWord(absl::string_view name) {
  const bool is_option = name.size() > 1 && name.front() == '-';
  return is_option ? ShellArgument(absl::StrCat("./", name))
                   : ShellArgument(name);
}

}  // namespace pymemrun
