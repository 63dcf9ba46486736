// One line of a dump of Meliae: a flat JSON object. Used by LoadMeliae().
#ifndef PYMEMRUN_READERS_OBJECTS_JSON_LINE_H_
#define PYMEMRUN_READERS_OBJECTS_JSON_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace pymemrun {

// What the fields of a line say.
struct MeliaeObject {
  std::optional<uint64_t> address, size_bytes, length;
  std::string type;
  std::optional<std::string> text;  // "value", or else "name"
  std::vector<uint64_t> references;
};

// Reads a line into *object. False: it is no such object. Fields that it does
// not know are passed over.
bool ParseMeliaeLine(absl::string_view line, MeliaeObject* object);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_JSON_LINE_H_
