// Translates ids of the rings to ids of the run file, and writes the
// definitions.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_DEFINITION_TABLE_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_DEFINITION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "collector/definitions/code_facts.h"
#include "collector/definitions/source_lines.h"
#include "collector/output/record_sink.h"
#include "collector/process/clock_scale.h"
#include "collector/process/process_stats.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Ids of one kind of definition. Raw ids of the ring come and go; ids of the
// file are dense and never change. Not thread-safe.
class IdSpace {
 public:
  // Returns the file's id of raw id `raw`, or 0 if it is not defined.
  uint32_t Find(uint32_t raw) const {
    const auto found = by_raw_.find(raw);
    return found == by_raw_.end() ? 0 : found->second;
  }

  struct Binding {
    uint32_t id;   // id in the file
    bool fresh;    // new in the file: write its definition
    bool rebound;  // `raw` had another meaning before
  };
  // Gives `raw` the meaning whose 64-bit hash is `content`. The odds that two
  // of the remembered hashes collide are 1 in 10^9.
  Binding Bind(uint32_t raw, uint64_t content) {
    // Forgetting contents only costs repeated definitions.
    if (by_content_.size() >= kMaxRemembered) by_content_.clear();
    if (by_raw_.size() >= kMaxBound) by_raw_.clear();
    const auto [known, fresh] = by_content_.try_emplace(content, last_ + 1);
    if (fresh) ++last_;
    const auto [bound, first] = by_raw_.try_emplace(raw, known->second);
    const bool rebound = !first && bound->second != known->second;
    bound->second = known->second;
    return {known->second, fresh, rebound};
  }

  // Returns the file's id of `content`, with or without a raw id. `rebound` of
  // the result is not set.
  Binding Intern(uint64_t content) {
    if (by_content_.size() >= kMaxRemembered) by_content_.clear();
    const auto [known, fresh] = by_content_.try_emplace(content, last_ + 1);
    if (fresh) ++last_;
    return {known->second, fresh, false};
  }
  // Gives `content` the same id, unless it has one.
  void Alias(uint64_t content, uint32_t id) {
    by_content_.try_emplace(content, id);
  }

  // Makes all raw ids void.
  void Forget() { by_raw_.clear(); }

 private:
  static constexpr size_t kMaxRemembered = 1u << 16;
  static constexpr size_t kMaxBound = 1u << 18;

  absl::flat_hash_map<uint32_t, uint32_t> by_raw_;
  absl::flat_hash_map<uint64_t, uint32_t> by_content_;
  uint32_t last_ = 0;
};

// Facts of a thread from /proc.
struct NativeThreadFacts {
  pid_t pid = 0;
  ThreadStat stat;
};

// Writes each definition once, at its first use or mention, with dense ids.
// Definitions with the same content share an id, so a program that makes the
// same code again and again does not grow the file.
//
// Memory is bounded for any program: beyond fixed limits old contents are
// forgotten. If they return, they are written again under a new id. Not
// thread-safe. `clock` and `out` must outlive it.
class DefinitionTable {
 public:
  DefinitionTable(const ClockScale* clock, RecordSink* out)
      : clock_(clock), out_(out) {}

  // Takes a definition from the ring. Returns whether an id in use got a new
  // meaning, which makes site ids that the caller remembers void.
  bool Define(ControlKind kind, uint32_t raw_id, absl::string_view payload);
  // Makes all raw ids of `kind` void, and all remembered sites.
  void Forget(ControlKind kind);

  // Return ids of the file. Their definitions are written when the call
  // returns. A raw id that was never defined gets a definition without names.
  uint32_t Site(uint32_t what, uint32_t raw_code, uint32_t position,
                uint32_t raw_function);
  uint32_t Thread(uint32_t raw_thread);
  uint32_t Stack(uint32_t raw_stack);               // 0 when undefined
  uint32_t Function(uint32_t raw_function) const {  // likewise
    return raw_function == 0 ? 0 : functions_.Find(raw_function);
  }

  // The same for definitions that do not come from the event ring: ids of the
  // same sequences, by content.
  uint32_t InternCode(const CodeDef& names);  // its id is ignored
  uint32_t InternStack(uint32_t parent, uint32_t code, uint32_t line);
  // Returns the thread that the event ring last defined with this Linux thread
  // id. Without one, defines it with what `facts` returns. If the ring later
  // defines it with the same name, it keeps this id; with another name, it is
  // the same thread, renamed.
  uint32_t NativeThread(uint64_t native_id, uint64_t first_us,
                        absl::FunctionRef<NativeThreadFacts()> facts);
  // Whether the thread was defined in either way.
  bool HasNativeThread(uint64_t native_id) const {
    return native_threads_.contains(native_id);
  }

  // The thread with this number has ended; the next one is another thread.
  // Definitions from the event ring stay.
  void ForgetNative(uint64_t native_id) { native_threads_.erase(native_id); }

  // Source lines that definitions name.
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
  // Raw ids of functions whose calls make a bound object.
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
