// The ids of code objects and C functions that were met lately, for the hot
// path: found without a call. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_KNOWN_SITES_H_
#define PYMEMRUN_TRACER_CODE_KNOWN_SITES_H_

#include "tracer/base/hot_state.h"
#include "tracer/code/site_tables.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

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
