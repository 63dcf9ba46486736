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

namespace pymemrun {

struct SiteId {
  uint32_t id;     // 0: its definition found no room in the ring
  uint32_t flags;  // kPasses*: what the filters say
};

inline constexpr uint32_t kPassesFile = 1;
inline constexpr uint32_t kPassesName = 2;

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

  // Changes when all code ids become void (the table was full).
  static uint32_t generation();

  // Bytes of the tables.
  static size_t table_bytes();
  static void* tables();
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

// The code object's id, through the one-entry cache.
inline SiteId CodeOf(HotState& hot, PyCodeObject* code,
                     const PymemrunFrame* frame) {
  if (__builtin_expect(code != hot.last_code, 0)) {
    const SiteId found = CodeRegistry::FindCode(hot, code, frame);
    hot.last_code = code;
    hot.last_code_id = found.id;
    hot.last_code_flags = found.flags;
  }
  return {hot.last_code_id, hot.last_code_flags};
}

inline SiteId FunctionOf(HotState& hot, PyObject* arg) {
  auto* function = reinterpret_cast<PyCFunctionObject*>(arg);
  const void* self_type = SelfType(function);
  if (__builtin_expect(function->m_ml != hot.last_method ||
                           self_type != hot.last_self_type, 0)) {
    const SiteId found = CodeRegistry::FindFunction(hot, function);
    hot.last_method = function->m_ml;
    hot.last_self_type = self_type;
    hot.last_function_id = found.id;
    hot.last_function_flags = found.flags;
  }
  return {hot.last_function_id, hot.last_function_flags};
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_REGISTRY_H_
