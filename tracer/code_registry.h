// Which id the run knows a code object or C function by. Looking one up is a
// hash probe in a table that was touched before the first event; meeting a new
// one sends its definition to the collector. When a code object or a type dies
// its entries go, so that another object at the same address is never taken
// for it. GIL held everywhere; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_REGISTRY_H_
#define PYMEMRUN_TRACER_CODE_REGISTRY_H_

#include "tracer/cpython_compat.h"
#include "tracer/filters.h"
#include "tracer/hot_state.h"
#include "tracer/pointer_table.h"

namespace pymemrun {

struct SiteId {
  uint32_t id;     // 0: its definition found no room in the ring
  uint32_t flags;  // kPasses*: what the filters say
};

inline constexpr uint32_t kPassesFile = 1;
inline constexpr uint32_t kPassesName = 2;

// The tables' entries, here for the hot path's first probe.
struct CodeEntry {
  const void* code;
  uint32_t id;
  uint32_t flags;
  bool empty() const { return code == nullptr; }
  uint64_t hash() const { return HashAddress(code); }
};
static_assert(sizeof(CodeEntry) == 16);

struct FunctionEntry {
  const PyMethodDef* method;
  const void* self_type;
  // The definition's contents, in case the PyMethodDef itself was freed and
  // another one made at its address.
  PyCFunction implementation;
  uint32_t id;
  uint16_t flags;
  uint16_t name_check;  // low bits of the name's address or, where names are
                        // made at run time, a hash of the name
  bool empty() const { return method == nullptr; }
  uint64_t hash() const { return HashTwo(method, self_type); }
};
static_assert(sizeof(FunctionEntry) == 32);
// The name's text must be compared, not its address: only the slow half does.
inline constexpr uint16_t kVerifyName = 0x8000;

using CodeTable = PointerTable<CodeEntry, 1u << 16>;
using FunctionTable = PointerTable<FunctionEntry, 1u << 13>;

class CodeRegistry {
 public:
  // Makes and touches the tables. Returns false with errno set.
  static bool Create(const Filters* filters);
  // Puts our deallocators before those of code objects and types. After
  // Py_Initialize, once.
  static void WatchDeaths();

  // Slow halves: probe the table, define what is new. `frame` is one that
  // runs `code`.
  static SiteId FindCode(HotState& hot, PyCodeObject* code,
                         const PymemrunFrame* frame);
  static SiteId FindFunction(HotState& hot, PyCFunctionObject* function);

  static const CodeEntry* codes() { return codes_; }
  static const FunctionEntry* functions() { return functions_; }

  // Changes when all code ids become void (the table was full).
  static uint32_t generation();

 private:
  static const CodeEntry* codes_;
  static const FunctionEntry* functions_;
};

// The type that a C function's name shows, or null: what makes two functions
// of one PyMethodDef different.
inline const void* SelfType(const PyCFunctionObject* function) {
  PyObject* self = function->m_self;
  if (self == nullptr) return nullptr;
  PyTypeObject* type = Py_TYPE(self);
  return (type->tp_flags & Py_TPFLAGS_TYPE_SUBCLASS) != 0
             ? static_cast<const void*>(self)
             : static_cast<const void*>(type);
}

// The code object's id: the one of the event before, or the table's first
// probe, or the slow half.
inline SiteId CodeOf(HotState& hot, PyCodeObject* code,
                     const PymemrunFrame* frame) {
  if (code == hot.last_code) return {hot.last_code_id, hot.last_code_flags};
  const CodeEntry& entry =
      CodeRegistry::codes()[CodeTable::Index(HashAddress(code))];
  const SiteId found = __builtin_expect(entry.code == code, 1)
                           ? SiteId{entry.id, entry.flags}
                           : CodeRegistry::FindCode(hot, code, frame);
  hot.last_code = code;
  hot.last_code_id = found.id;
  hot.last_code_flags = found.flags;
  return found;
}

// The same for the C function `arg` of a C event.
inline SiteId FunctionOf(HotState& hot, PyObject* arg) {
  auto* function = reinterpret_cast<PyCFunctionObject*>(arg);
  const PyMethodDef* method = function->m_ml;
  const void* self_type = SelfType(function);
  const FunctionEntry& entry = CodeRegistry::functions()[FunctionTable::Index(
      HashTwo(method, self_type))];
  const auto name =
      static_cast<uint16_t>(reinterpret_cast<uintptr_t>(method->ml_name));
  if (__builtin_expect(entry.method == method && entry.self_type == self_type &&
                           entry.implementation == method->ml_meth &&
                           entry.name_check == name &&
                           (entry.flags & kVerifyName) == 0,
                       1)) {
    return {entry.id, entry.flags};
  }
  return CodeRegistry::FindFunction(hot, function);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_REGISTRY_H_
