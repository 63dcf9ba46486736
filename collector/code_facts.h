// What the collector keeps of each code object: names and line table.
#ifndef PYMEMRUN_COLLECTOR_CODE_FACTS_H_
#define PYMEMRUN_COLLECTOR_CODE_FACTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "collector/line_table.h"
#include "google/protobuf/arena.h"
#include "tracer/ring_layout.h"

namespace pymemrun {

// Line tables are kept as they came, which is a fraction of what they are
// decoded, and decoded again when a line is asked for; the last ones asked for
// stay decoded, and so do all large ones, which take long. So all that the
// traced process may define between two calls of Clear() fits (kMaxCodes,
// kMaxCodeTextBytes). From one that sends more, first lines are kept and no
// names. Not thread safe.
class CodeFacts {
 public:
  bool Has(uint32_t code) const { return facts_.contains(code); }
  // REQUIRES: !Has(code), and that `code` never meant anything else.
  void Add(uint32_t code, const CodePayload& head, absl::string_view file,
           absl::string_view name, absl::string_view line_table);
  void Clear();

  // Whether a CALL there begins a call for which profiling made a frame object.
  bool IsStart(uint32_t code, uint32_t position) const;
  // Line of the instruction at `position`; 0 when it has none or the code is
  // not known.
  uint32_t LineOf(uint32_t code, uint32_t position);
  // Empty when not known. Valid until Clear().
  absl::string_view FileOf(uint32_t code) const;
  absl::string_view NameOf(uint32_t code) const;

  // Names and line tables, without the maps.
  size_t text_bytes() const { return text_bytes_; }

  static constexpr size_t kMaxTextBytes = 2 * kMaxCodeTextBytes;

 private:
  struct Facts {
    const char* text = nullptr;  // line table, then name
    uint32_t table_bytes = 0;
    uint32_t name_bytes = 0;
    uint32_t first_line = 0;
    uint32_t line_table_kind = 0;
    uint32_t file = 0;  // index in files_
    uint32_t start_position = kNoPosition;
  };
  struct Decoded {
    uint32_t code = 0;
    LineTable lines;
  };
  // Larger tables are few: each byte of one counts in kMaxTextBytes, and makes
  // at most one entry.
  static constexpr uint32_t kSmallTableBytes = 4096;
  static constexpr size_t kSmallTables = 256;

  uint32_t FileIndex(absl::string_view file);
  const LineTable& LinesOf(uint32_t code, const Facts& facts);

  absl::flat_hash_map<uint32_t, Facts> facts_;
  google::protobuf::Arena text_;
  size_t text_bytes_ = 0;
  std::vector<std::string> files_ = {""};
  absl::flat_hash_map<std::string, uint32_t> file_index_;
  std::array<Decoded, kSmallTables> small_;
  absl::flat_hash_map<uint32_t, LineTable> large_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_CODE_FACTS_H_
