// The table of our options: one row holds an option's name, its place in
// --help, and how its value is read. Only options.cc and its tests use it.
#ifndef PYMEMRUN_LAUNCHER_OPTION_TABLE_H_
#define PYMEMRUN_LAUNCHER_OPTION_TABLE_H_

#include <cstddef>
#include <string>

#include "launcher/options.h"

namespace pymemrun {

struct OptionRow {
  const char* name;
  const char* value;  // what --help calls the value; nullptr: a flag
  const char* help;
  // Stores `value` ("" for flags). Returns false for a value that is not one;
  // `expected` then says what is.
  bool (*read)(const std::string& value, Options* options);
  const char* expected;
  bool repeatable;  // a list, in its variable separated by `:`
  bool from_environment;
  // What there must be for it to have an effect: "calls", "pages" traced,
  // "heap" events or sizes, events "recorded", "sampled" ones, with rates that
  // are "auto"; nullptr: nothing in particular.
  const char* of = nullptr;
};

// Ends with a row whose name is nullptr.
extern const OptionRow kOptionTable[];

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTION_TABLE_H_
