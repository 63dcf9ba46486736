// What the ring's ids mean, and the file's definitions made from it.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_DEFINITION_TABLE_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_DEFINITION_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "collector/definitions/code_facts.h"
#include "collector/definitions/id_space.h"
#include "collector/definitions/source_lines.h"
#include "collector/output/record_sink.h"
#include "collector/process/clock_scale.h"
#include "collector/process/process_stats.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// What /proc says of a thread.
struct NativeThreadFacts {
  pid_t pid = 0;
  ThreadStat stat;
};

// Writes each definition once, at its first use or mention, with dense ids.
// Definitions are told apart by content, so a program that makes the same code
// over and over does not grow the file. Memory is bounded whatever the program
// does: beyond fixed budgets old contents are forgotten (and written again
// under a new id should they return).
// Not thread safe. `clock` and `out` must outlive it.
class DefinitionTable {
 public:
  DefinitionTable(const ClockScale* clock, RecordSink* out)
      : clock_(clock), out_(out) {}

  // Takes a definition from the ring. Returns whether it gave a new meaning to
  // an id in use, which makes site ids that the caller remembers void.
  bool Define(ControlKind kind, uint32_t raw_id, absl::string_view payload);
  // All ids of `kind` are void; so are remembered sites.
  void Forget(ControlKind kind);

  // The file's ids, defined in the file when the call returns. An id that the
  // ring never defined gets a definition without names.
  uint32_t Site(uint32_t what, uint32_t raw_code, uint32_t position,
                uint32_t raw_function);
  uint32_t Thread(uint32_t raw_thread);
  uint32_t Stack(uint32_t raw_stack);               // 0 when undefined
  uint32_t Function(uint32_t raw_function) const {  // likewise
    return raw_function == 0 ? 0 : functions_.Find(raw_function);
  }

  // The same for what does not come from the event ring but is defined in the
  // same file: ids of the same sequences, by content alone.
  uint32_t InternCode(const CodeDef& names);  // its id is not looked at
  uint32_t InternStack(uint32_t parent, uint32_t code, uint32_t line);
  // The thread that the ring last defined under that Linux thread id. Otherwise
  // it is defined here by what `facts` gives. Where the ring later defines it
  // by the same name, that is the same id; by another, it is the same thread,
  // renamed.
  uint32_t NativeThread(uint64_t native_id, uint64_t first_us,
                        absl::FunctionRef<NativeThreadFacts()> facts);
  // Whether it has been defined, either way.
  bool HasNativeThread(uint64_t native_id) const {
    return native_threads_.contains(native_id);
  }

  // The thread of that number has ended: the next one is another. What the ring
  // defines is not touched.
  void ForgetNative(uint64_t native_id) { native_threads_.erase(native_id); }

  // The lines that definitions name.
  SourceLines& sources() { return sources_; }

 private:
  struct SiteKey {
    uint32_t what, code, line, function;
    bool makes_object;
    bool operator==(const SiteKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const SiteKey& k) {
      return H::combine(std::move(h), k.what, k.code, k.line, k.function,
                        k.makes_object);
    }
  };
  struct NativeInfo {
    uint32_t id = 0;
    bool from_ring = false;
    NativeThreadFacts facts;  // if not
  };
  bool DefineCode(uint32_t raw_id, absl::string_view payload);
  bool DefineFunction(uint32_t raw_id, absl::string_view payload);
  bool DefineThread(uint32_t raw_id, absl::string_view payload);
  uint32_t NativeIdOf(uint64_t native_id) const;
  void WriteThread(const ThreadDef& def);
  uint32_t CodeOf(uint32_t raw_code);
  bool DefineStack(uint32_t raw_id, absl::string_view payload);
  void WriteStack(uint32_t id, uint32_t parent, uint32_t code, uint32_t line);
  bool MakesObject(uint32_t what, uint32_t code, uint32_t position,
                   uint32_t raw_function) const;
  void WriteCode(const Record& record);
  void ForgetSites();

  const ClockScale* clock_;
  RecordSink* out_;
  IdSpace codes_, functions_, threads_, stacks_;
  // The ring's ids of functions whose calls make a bound object.
  absl::flat_hash_set<uint32_t> bound_functions_;
  absl::flat_hash_map<SiteKey, uint32_t> site_ids_;
  std::vector<SiteKey> sites_;  // of the ids from first_site_ on
  uint32_t first_site_ = 1;
  CodeFacts code_facts_;
  SourceLines sources_;
  absl::flat_hash_map<uint64_t, NativeInfo> native_threads_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_DEFINITION_TABLE_H_
