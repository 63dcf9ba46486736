// Which id the run knows a code object or C function by. Looking one up is a
// hash probe in a table that was touched before the first event; meeting a new
// one sends its definition to the collector. When a code object or a type dies
// its entries go, so that another object at the same address is never taken
// for it. GIL held everywhere; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_CODE_REGISTRY_H_
#define PYMEMRUN_TRACER_CODE_CODE_REGISTRY_H_

#include "tracer/base/hot_state.h"
#include "tracer/code/filters.h"
#include "tracer/code/known_sites.h"
#include "tracer/code/tracing_cost.h"
#include "tracer/cpython/compat.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {

class CurrentStack;

class CodeRegistry {
 public:
  // What stacks and costs keep of a code object goes with it, too.
  constexpr CodeRegistry(const Filters& filters, TracingCost& cost,
                         CurrentStack& stacks)
      : filters_(filters), cost_(cost), stacks_(stacks) {}

  // Makes and touches the tables. Returns false with errno set.
  bool Create(HotState& hot);
  // Puts our deallocators before those of code objects and types. After
  // Py_Initialize, once in the process.
  void WatchDeaths();

  // Slow halves: probe the table, define what is new. `frame` is one that
  // runs `code`, which becomes the last one looked up.
  SiteId FindCode(HotState& hot, PyCodeObject* code,
                  const PymemrunFrame* frame);
  SiteId FindFunction(HotState& hot, PyCFunctionObject* function);

  // A table that is full is emptied: its ids are void from the event under way
  // on, and every code object or function gets a new one when it is met again.
  // How often that was; the number of the first event with valid ids.
  uint32_t generation() const { return generation_; }
  uint64_t valid_from() const { return valid_from_; }

  // The code object's id, wherever it is known.
  SiteId CodeOf(HotState& hot, PyCodeObject* code, const PymemrunFrame* frame);

  // An object dies.
  void CodeDied(HotState& hot, PyObject* code);
  void TypeDied(PyObject* type);

 private:
  struct Tables;
  // NUL-terminated texts.
  PayloadText CopyText(int buffer, PyObject* object) const;
  PyObject* ModuleName(const PymemrunFrame* frame) const;
  PayloadText FunctionName(const PyCFunctionObject* function,
                           const void* self_type) const;
  bool DefineCode(HotState& hot, PyCodeObject* code, const PymemrunFrame* frame,
                  uint32_t id, uint32_t* flags);
  bool DefineFunction(HotState& hot, const PyCFunctionObject* function,
                      const void* self_type, uint32_t id, uint16_t* flags);
  void ForgetAll(HotState& hot, ControlKind kind);
  void EmptyCodes(HotState& hot);
  void EmptyFunctions(HotState& hot);

  const Filters& filters_;
  TracingCost& cost_;
  CurrentStack& stacks_;
  Tables* tables_ = nullptr;
  CodeTable codes_;
  FunctionTable functions_;
  uint32_t last_code_id_ = 0;
  uint32_t last_function_id_ = 0;
  size_t code_text_bytes_ = 0;  // sent since the table was emptied
  uint32_t generation_ = 0;
  uint64_t valid_from_ = 0;
  PyObject* dunder_name_ = nullptr;  // "__name__", interned
};

inline SiteId CodeRegistry::CodeOf(HotState& hot, PyCodeObject* code,
                                   const PymemrunFrame* frame) {
  SiteId found;
  return KnownCode(hot, code, &found) ? found : FindCode(hot, code, frame);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_CODE_REGISTRY_H_
