#include "launcher/options/help_text.h"

#include <algorithm>
#include <string_view>

#include "launcher/options/option_table.h"

namespace pymemrun {
namespace {

constexpr size_t kColumns = 80;
constexpr size_t kIndent = 22;

constexpr char kUsage[] =
    "pymemrun runs a Python program as python3 does and records its memory "
    "use.\n\n"
    "Usage: pymemrun [options] [--] script.py [args...] | -m module | -c code "
    "| -\n";

std::string Wrapped(std::string_view text) {
  std::string out;
  size_t column = kIndent;
  while (!text.empty()) {
    size_t space = text.find(' ');
    std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size()
                                                       : space + 1);
    if (column != kIndent && column + 1 + word.size() > kColumns) {
      out += '\n' + std::string(kIndent, ' ');
      column = kIndent;
    } else if (column != kIndent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string OptionText(const OptionRow& row, std::string_view value,
                       std::string_view help) {
  std::string line = "  ";
  if (row.Is(kHasLetter)) line += std::string("-") + row.name[0] + ", ";
  line += std::string("--") + row.name;
  if (!value.empty()) line.append(" ").append(value);
  if (line.size() >= kIndent - 1) {
    line += '\n';
    line.append(kIndent, ' ');
  } else {
    line.resize(kIndent, ' ');
  }
  return line + Wrapped(help);
}

}  // namespace

std::string_view ShortValue(const OptionRow& row) {
  const std::string_view value = row.value ? row.value : "";
  return value.find('|') == std::string_view::npos ? value : "MODE";
}

std::string HelpText() {
  std::string text = std::string(kUsage) + "\nThe usual options:\n";
  for (const OptionRow& row : OptionTable()) {
    if (!row.Is(kUsual)) continue;
    const std::string_view help = row.help;
    const size_t stop = std::min(help.find(". "), help.size() - 1);
    text += OptionText(row, ShortValue(row), help.substr(0, stop + 1));
  }
  return text +
         "\nExamples:\n"
         "  pymemrun script.py      trace a script; `pymemreport summary "
         "run.pb` shows it\n"
         "  pymemrun --heap all -o heap.pb -m module\n"
         "                          record every allocation of a module\n"
         "  eval \"$(pymemrun env)\"  trace each Python that this shell "
         "starts\n"
         "\nThe other short options are the interpreter's: -h shows its own "
         "help.\n`pymemrun --help-all` and `man pymemrun` describe every "
         "option.\n";
}

std::string AllHelpText() {
  std::string text = std::string(kUsage) +
                     "\n"
                     "Every short option except -o is the interpreter's. All "
                     "arguments from the\nscript, -m, -c or - on belong to the "
                     "program. Parentheses hold the defaults.\n";
  std::string_view group;
  for (const OptionRow& row : OptionTable()) {
    if (group != row.group) text += std::string("\n") + row.group + ":\n";
    group = row.group;
    text += OptionText(
        row, row.value ? row.value : "",
        std::string(row.help) +
            (row.needs ? std::string(" Needs ") + row.needs->option + "."
                       : ""));
  }
  return text +
         "\n"
         "The variable PYMEMRUN_NAME sets an option that the command line "
         "omits, as in\nPYMEMRUN_MIN_DRSS=1M or PYMEMRUN_QUIET=1. There, "
         "separate several patterns with\n`:`, and lists with commas. A "
         "set-user-ID program ignores these variables.\n"
         "\n"
         "`pymemrun env [options]` prints shell commands after which each "
         "Python "
         "that is\nstarted is traced. `pymemrun kernel install` adds a kernel "
         "that runs traced\nto Jupyter; `pymemrun kernel install --help` has "
         "its options.\n"
         "\n"
         "The exit status is the program's; 2 means wrong usage of pymemrun.\n";
}

}  // namespace pymemrun
