#include "launcher/options.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "launcher/option_table.h"

namespace pymemrun {
namespace {

std::string VariableName(const OptionRow& row) {
  std::string name = std::string("PYMEMRUN_") + row.name;
  for (char& c : name) c = c == '-' ? '_' : std::toupper(c);
  return name;
}

bool Read(const OptionRow& row, const std::string& origin,
          const std::string& value, Options* options, std::string* error) {
  if (row.read(value, options)) return true;
  *error = origin + ": '" + value + "' is not " + row.expected;
  return false;
}

bool ReadFlagVariable(const OptionRow& row, const std::string& name,
                      std::string value, Options* options, std::string* error) {
  if (value.empty() || value == "0" || value == "no" || value == "false") {
    return true;
  }
  if (value == "1" || value == "yes" || value == "true") {
    return row.read("", options);
  }
  *error = name + ": '" + value + "' is not 0 or 1";
  return false;
}

bool ReadVariable(const OptionRow& row, const Environment& environment,
                  Options* options, std::string* error) {
  std::string name = VariableName(row);
  const char* text = environment(name.c_str());
  if (text == nullptr) return true;
  if (row.value == nullptr) {
    return ReadFlagVariable(row, name, text, options, error);
  }
  std::string_view rest = text;
  if (rest.empty()) return true;  // as if it were not set
  if (!row.repeatable) return Read(row, name, text, options, error);
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    std::string piece(rest.substr(0, colon));
    if (!piece.empty() && !Read(row, name, piece, options, error)) return false;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return true;
}

// An option is known from the first day; a value whose part is missing must
// not look as if it had been obeyed.
bool CheckBuilt(const Options& options, std::string* error) {
  if (options.follow != "all") return true;
  *error = "--follow all is not built yet";
  return false;
}

// What an option may need, and which option gives it.
struct Condition {
  std::string_view name;  // OptionRow::of
  const char* option;
  bool (*holds)(const Options& options);
};
constexpr Condition kConditions[] = {
    {"calls", "--trace calls", [](const Options& o) { return o.trace_calls; }},
    {"pages", "--trace pages", [](const Options& o) { return o.trace_pages; }},
    {"heap", "--heap sampled, all or stats",
     [](const Options& o) { return o.heap.mode != HeapMode::kOff; }},
    {"recorded", "--heap sampled or all",
     [](const Options& o) { return RecordsHeap(o.heap); }},
    {"sampled", "--heap sampled",
     [](const Options& o) { return o.heap.mode == HeapMode::kSampled; }},
    {"auto", "--heap-rates auto",
     [](const Options& o) {
       return o.heap.mode == HeapMode::kSampled && o.heap.rates.adapt;
     }},
};

const Condition* ConditionOf(std::string_view name) {
  return std::find_if(std::begin(kConditions), std::end(kConditions) - 1,
                      [&](const Condition& c) { return c.name == name; });
}

// What somebody writes for this run is not to be without effect; a variable may
// stand for many runs.
bool CheckEffect(const std::vector<OwnArgument>& given, const Options& options,
                 std::string* error) {
  for (const OwnArgument& argument : given) {
    const OptionRow& row = kOptionTable[argument.option];
    if (row.of == nullptr) continue;
    const Condition* needed = ConditionOf(row.of);
    if (needed->holds(options)) continue;
    *error = std::string("--") + row.name + " has no effect without " +
             needed->option;
    return false;
  }
  return true;
}

std::string Wrapped(std::string_view text, size_t indent, size_t width) {
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    size_t space = text.find(' ');
    std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size()
                                                       : space + 1);
    if (column != indent && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column != indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

}  // namespace

bool ReadOptions(int argc, const char* const* argv,
                 const Environment& environment, Options* options,
                 CommandLine* command_line, std::string* error) {
  std::vector<OptionName> names;
  for (const OptionRow* row = kOptionTable; row->name; ++row) {
    names.push_back({row->name, row->value != nullptr});
  }
  if (!SplitCommandLine(argc, argv, names, command_line, error)) return false;
  options->min_drss_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < names.size(); ++i) {
    const OptionRow& row = kOptionTable[i];
    bool given = std::any_of(
        command_line->own.begin(), command_line->own.end(),
        [i](const OwnArgument& argument) { return argument.option == i; });
    if (given || !row.from_environment) continue;
    if (!ReadVariable(row, environment, options, error)) return false;
  }
  for (const OwnArgument& argument : command_line->own) {
    const OptionRow& row = kOptionTable[argument.option];
    std::string origin = std::string("--") + row.name;
    if (!Read(row, origin, argument.value, options, error)) return false;
  }
  if (options->help || options->version) return true;
  return CheckBuilt(*options, error) &&
         CheckEffect(command_line->own, *options, error);
}

std::string HelpText() {
  constexpr size_t kWidth = 100;
  constexpr size_t kIndent = 26;
  std::string text =
      "Usage: pymemrun [options] [--] script.py [args...] | -m module | -c "
      "code "
      "| -\n"
      "Runs a Python program as python3 does and records where its memory "
      "goes.\n"
      "\n"
      "Options of pymemrun are long, but for -o; every short option is the "
      "interpreter's. From the\n"
      "script, -m, -c or - on all belongs to the program.\n"
      "\n";
  for (const OptionRow* row = kOptionTable; row->name; ++row) {
    std::string line = std::string("  --") + row->name;
    if (row->value) line += std::string(" ") + row->value;
    if (line.size() >= kIndent - 1) {
      line += '\n';
      line.append(kIndent, ' ');
    } else {
      line.resize(kIndent, ' ');
    }
    text += line + Wrapped(row->help, kIndent, kWidth);
  }
  text +=
      "\nAn option that is not given is taken from the variable PYMEMRUN_NAME, "
      "such as PYMEMRUN_MIN_DRSS\n"
      "or PYMEMRUN_QUIET=1. Several patterns there are separated by `:`; lists "
      "such as that of --events by\n"
      "commas, as here. A set-user-ID program ignores them.\n"
      "Exit status: the program's own; 2 for wrong usage of pymemrun.\n";
  return text;
}

}  // namespace pymemrun
