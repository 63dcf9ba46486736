// What the run knows code objects and C functions by: the entries of the
// registry's tables. Of those met lately the hot path finds the ids here
// without a call. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_KNOWN_SITES_H_
#define PYMEMRUN_TRACER_CODE_KNOWN_SITES_H_

#include "tracer/base/hot_state.h"
#include "tracer/base/pointer_table.h"
#include "tracer/cpython/compat.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

struct SiteId {
  uint32_t id;     // 0: its definition did not fit into the ring
  uint32_t flags;  // kPasses*: what the filters say
};

inline constexpr uint32_t kPassesFile = 1;
inline constexpr uint32_t kPassesName = 2;
// For code objects: running it renames a thread.
inline constexpr uint32_t kRenamesThread = 4;

// The tables' entries, here for the hot path.
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
  // another one made at its address: its implementation's address and the low
  // bits of its name's. Of a definition made at run time, whose name may be
  // freed and replaced as well: a hash of the implementation and the name.
  uint64_t contents;
  uint32_t id;
  uint16_t flags;
  uint16_t name_address;
  bool empty() const { return method == nullptr; }
  uint64_t hash() const { return HashTwo(method, self_type); }
};
static_assert(sizeof(FunctionEntry) == 32);
// Made at run time: only the slow half compares its contents.
inline constexpr uint16_t kVerifyContents = 0x8000;

inline uint64_t AddressOf(PyCFunction implementation) {
  return reinterpret_cast<uintptr_t>(implementation);
}

using CodeTable = PointerTable<CodeEntry, 1u << 16>;
static_assert(CodeTable::kMaxUsed == kMaxCodes);
using FunctionTable = PointerTable<FunctionEntry, 1u << 13>;

// Copies of the entries met last, each in the one place its hash gives. The
// hot path looks here: this is six pages, while the tables proper are spread
// over hundreds, more than the processor's first TLB holds.
struct RecentSites {
  static constexpr uint32_t kSize = 512;
  static uint32_t Index(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32) & (kSize - 1);
  }
  CodeEntry codes[kSize];
  FunctionEntry functions[kSize];
};

// The type that a C function's name shows, or null: what makes two functions
// of one PyMethodDef different.
inline const void* SelfType(PyObject* self) {
  if (self == nullptr) return nullptr;
  PyTypeObject* type = Py_TYPE(self);
  return (type->tp_flags & Py_TPFLAGS_TYPE_SUBCLASS) != 0
             ? static_cast<const void*>(self)
             : static_cast<const void*>(type);
}

// The code object's id without a call: the one of the event before, or a recent
// one. Returns false where FindCode must look.
inline bool KnownCode(HotState& hot, PyCodeObject* code, SiteId* found) {
  if (code == hot.last_code) {
    *found = {hot.last_code_id, hot.last_code_flags};
    return true;
  }
  const CodeEntry& entry =
      hot.recent->codes[RecentSites::Index(HashAddress(code))];
  if (__builtin_expect(entry.code != code, 0)) return false;
  *found = {entry.id, entry.flags};
  hot.last_code = code;
  hot.last_code_id = entry.id;
  hot.last_code_flags = entry.flags;
  return true;
}

// The same for a C function.
inline bool KnownMethod(HotState& hot, const PyMethodDef* method,
                        const void* self_type, SiteId* found) {
  const FunctionEntry& entry =
      hot.recent->functions[RecentSites::Index(HashTwo(method, self_type))];
  const auto name =
      static_cast<uint16_t>(reinterpret_cast<uintptr_t>(method->ml_name));
  if (__builtin_expect(entry.method != method || entry.self_type != self_type ||
                           entry.contents != AddressOf(method->ml_meth) ||
                           entry.name_address != name ||
                           (entry.flags & kVerifyContents) != 0,
                       0)) {
    return false;
  }
  *found = {entry.id, entry.flags};
  return true;
}

// The same for the function object `arg` of a C event. That of a C_CALL lives
// until its C_RETURN or C_EXCEPT, which therefore finds it by its address
// alone; no later event may.
inline bool KnownFunction(HotState& hot, PyObject* arg, bool is_call,
                          SiteId* found) {
  if (!is_call && arg == hot.last_function) {
    *found = {hot.last_function_id, hot.last_function_flags};
    hot.last_function = nullptr;
    return true;
  }
  auto* function = reinterpret_cast<PyCFunctionObject*>(arg);
  const void* self_type = SelfType(function->m_self);
  if (!KnownMethod(hot, function->m_ml, self_type, found)) return false;
  if (is_call) {
    hot.last_function = arg;
    hot.last_function_id = found->id;
    hot.last_function_flags = found->flags;
  }
  return true;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_KNOWN_SITES_H_
