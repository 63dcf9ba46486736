// What the collector keeps of each code object: names and line table.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_CODE_FACTS_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_CODE_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "collector/definitions/line_table.h"
#include "format/trace.pb.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// The definition of a code object, as both rings have it. Of a payload that is
// cut short, what is missing is empty. Valid as long as the payload.
struct CodeDefinition {
  explicit CodeDefinition(absl::string_view payload);
  // All but the id.
  void AddTo(CodeDef* def) const;

  CodePayload head;
  absl::string_view file, name, qualname, module, line_table;
};

// The code objects of one ring. Line tables are kept as they came, which is a
// fraction of what they are decoded, and decoded again when a line is asked
// for; the last ones asked for stay decoded, and so do all large ones, which
// take long. From a program that defines more than the limits say, first lines
// are kept and no names. Not thread safe.
class CodeFacts {
 public:
  struct Limits {
    size_t codes;
    size_t text_bytes;
    size_t decoded_tables;  // small ones
  };
  // All that the traced process may define between two calls of Clear().
  static constexpr Limits kEventRing = {2 * kMaxCodes, 2 * kMaxCodeTextBytes,
                                        256};

  explicit CodeFacts(const Limits& limits = kEventRing)
      : limits_(limits), small_(limits.decoded_tables) {}

  bool Has(uint32_t code) const { return facts_.contains(code); }
  // `code` is any number for it. REQUIRES: !Has(code).
  void Add(uint32_t code, const CodePayload& head, absl::string_view file,
           absl::string_view name, absl::string_view line_table);
  void Remove(uint32_t code);
  void Clear();

  // Whether a CALL there begins a call for which profiling made a frame object.
  bool IsStart(uint32_t code, uint32_t position) const;
  // Line of the instruction at `position`; 0 when it has none or the code is
  // not known.
  uint32_t LineOf(uint32_t code, uint32_t position);
  // Empty when not known. Valid until Remove() or Clear().
  absl::string_view FileOf(uint32_t code) const;
  absl::string_view NameOf(uint32_t code) const;

  size_t size() const { return facts_.size(); }
  // Names and line tables, without the maps.
  size_t text_bytes() const { return text_bytes_; }

 private:
  struct Facts {
    std::unique_ptr<char[]> text;  // line table, then name
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
  static constexpr size_t kMaxLargeBytes = size_t{128} << 20;
  // Larger tables are few: each byte of one counts in text_bytes(), and makes
  // at most one entry.
  static constexpr uint32_t kSmallTableBytes = 4096;

  uint32_t FileIndex(absl::string_view file);
  const LineTable& LinesOf(uint32_t code, const Facts& facts);

  const Limits limits_;
  absl::flat_hash_map<uint32_t, Facts> facts_;
  size_t text_bytes_ = 0;
  std::vector<std::string> files_ = {""};
  absl::flat_hash_map<std::string, uint32_t> file_index_;
  std::vector<Decoded> small_;
  absl::flat_hash_map<uint32_t, LineTable> large_;
  size_t large_bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_CODE_FACTS_H_
