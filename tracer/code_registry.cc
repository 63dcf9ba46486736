#include "tracer/code_registry.h"

#include <dlfcn.h>
#include <string.h>

#include "tracer/current_stack.h"
#include "tracer/event_ring.h"
#include "tracer/own_memory.h"
#include "tracer/own_stack.h"
#include "tracer/pointer_table.h"
#include "tracer/tracing_cost.h"

namespace pymemrun {
namespace {

constexpr uint32_t kTypeFilterBits = 1u << 14;
// Longest text looked at by filters and sent in a definition.
constexpr size_t kMaxText = 16 * 1024;

struct Tables {
  alignas(4096) char code[CodeTable::kBytes];
  char functions[FunctionTable::kBytes];
  RecentSites recent;
  // One bit per hash of a type that has entries in `functions`: most types that
  // die have none.
  uint64_t types[kTypeFilterBits / 64];
  char text[4][kMaxText];
};

Tables* g_tables = nullptr;
CodeTable g_codes;
FunctionTable g_functions;
uint32_t g_last_code_id = 0;
size_t g_code_text_bytes = 0;  // sent since the table was emptied
uint32_t g_generation = 0;
uint64_t g_valid_from = 0;
uint32_t g_last_function_id = 0;
const Filters* g_filters = nullptr;
PyObject* g_dunder_name = nullptr;  // "__name__", interned
destructor g_code_dealloc = nullptr;
destructor g_type_dealloc = nullptr;

uint32_t TypeBit(const void* type) {
  return static_cast<uint32_t>(HashAddress(type) >> 40) & (kTypeFilterBits - 1);
}

// Whether the definition stands in the static data of an executable or library,
// where it stays as it is. Others, as pybind11, cffi and ctypes programs make
// them, can be freed and replaced at the same address with the same
// implementation.
bool IsStatic(const PyMethodDef* method) {
#if __GLIBC_PREREQ(2, 35)
  // Takes no lock, unlike dladdr: another thread may load a library that waits
  // for the GIL.
  dl_find_object object;
  return _dl_find_object(const_cast<PyMethodDef*>(method), &object) == 0;
#else
  extern const char __executable_start, _end;
  const char* address = reinterpret_cast<const char*>(method);
  return address >= &__executable_start && address < &_end;
#endif
}

// What tells the definition from another one at its address; FNV-1a.
uint64_t ContentsOf(const PyMethodDef* method, bool is_static) {
  const uint64_t implementation = AddressOf(method->ml_meth);
  if (is_static) return implementation;
  uint64_t hash = 14695981039346656037u ^ implementation;
  for (const char* c = method->ml_name; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211u;
  }
  return hash;
}

uint16_t NameAddress(const PyMethodDef* method) {
  return static_cast<uint16_t>(reinterpret_cast<uintptr_t>(method->ml_name));
}

// Whether the definition at the entry's address is the one it was made of.
bool StillHolds(const FunctionEntry& entry, const PyMethodDef* method) {
  const bool is_static = (entry.flags & kVerifyContents) == 0;
  return entry.contents == ContentsOf(method, is_static) &&
         (!is_static || entry.name_address == NameAddress(method));
}

// One string of a definition's payload: length, then bytes.
struct Text {
  uint32_t length;
  char* bytes;  // NUL-terminated
};

Text CopyText(int buffer, PyObject* object) {
  char* bytes = g_tables->text[buffer];
  const size_t needed = PymemrunCopyUtf8(object, bytes, kMaxText - 1);
  const size_t length = needed < kMaxText - 1 ? needed : kMaxText - 1;
  bytes[length] = '\0';
  return {static_cast<uint32_t>(length), bytes};
}

PyObject* ModuleName(const PymemrunFrame* frame) {
  PyObject* globals = PymemrunFrameGlobals(frame);
  if (globals == nullptr || !PyDict_CheckExact(globals)) return nullptr;
  return PyDict_GetItemWithError(globals,
                                 g_dunder_name);  // runs no Python code
}

// The table of `kind` was emptied.
void ForgetAll(HotState& hot, ControlKind kind) {
  hot.last_code = nullptr;
  hot.last_function = nullptr;
  ++g_generation;
  hot.page->tables_emptied.fetch_add(1, std::memory_order_relaxed);
  g_valid_from = NextNumber(hot) - 1;  // the event under way has its number
  PutPayload(hot, ControlKind::kForget, 0, static_cast<uint32_t>(kind), nullptr,
             0);
}

// Sends the definition; returns the entry's flags, or false without room.
bool DefineCode(HotState& hot, PyCodeObject* code, const PymemrunFrame* frame,
                uint32_t id, uint32_t* flags) {
  PymemrunCodeFacts facts;
  PymemrunCodeFactsOf(reinterpret_cast<PyObject*>(code), &facts);
  const Text file = CopyText(0, facts.file);
  const Text name = CopyText(1, facts.name);
  const Text qualname = CopyText(2, facts.qualname);
  const Text module = CopyText(3, ModuleName(frame));
  *flags = (g_filters->PassesFile(file.bytes) ? kPassesFile : 0) |
           (g_filters->PassesFunction(name.bytes) ? kPassesName : 0);
  const CodePayload head = {facts.first_line, facts.line_table_kind,
                            PymemrunStartPosition(code)};
  const uint32_t table_length = static_cast<uint32_t>(facts.line_table_bytes);
  g_code_text_bytes += name.length + table_length;
  const Piece pieces[] = {
      {&head, sizeof(head)},
      {&file.length, 4},
      {file.bytes, file.length},
      {&name.length, 4},
      {name.bytes, name.length},
      {&qualname.length, 4},
      {qualname.bytes, qualname.length},
      {&module.length, 4},
      {module.bytes, module.length},
      {&table_length, 4},
      {facts.line_table, facts.line_table_bytes},
  };
  return PutPayload(hot, ControlKind::kCode, id, 0, pieces,
                    sizeof(pieces) / sizeof(pieces[0]));
}

// The name that `__qualname__` of the function gives, without running code:
// "len", "list.append", "dict.fromkeys".
Text FunctionName(const PyCFunctionObject* function, const void* self_type) {
  char* out = g_tables->text[0];
  size_t length = 0;
  if (self_type != nullptr && self_type != &PyModule_Type) {
    const auto* type = static_cast<const PyTypeObject*>(self_type);
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
      const auto* heap = reinterpret_cast<const PyHeapTypeObject*>(type);
      length = PymemrunCopyUtf8(heap->ht_qualname, out, kMaxText / 2);
      if (length > kMaxText / 2) length = kMaxText / 2;
    } else {
      const char* dot = strrchr(type->tp_name, '.');
      const char* name = dot != nullptr ? dot + 1 : type->tp_name;
      length = strnlen(name, kMaxText / 2);
      memcpy(out, name, length);
    }
    out[length++] = '.';
  }
  const size_t rest = strnlen(function->m_ml->ml_name, kMaxText / 2 - 2);
  memcpy(out + length, function->m_ml->ml_name, rest);
  length += rest;
  out[length] = '\0';
  return {static_cast<uint32_t>(length), out};
}

bool DefineFunction(HotState& hot, const PyCFunctionObject* function,
                    const void* self_type, uint32_t id, uint16_t* flags) {
  const Text name = FunctionName(function, self_type);
  const Text module = CopyText(1, function->m_module);
  *flags = g_filters->PassesFunction(name.bytes) ? kPassesName : 0;
  const FunctionPayload head = {PymemrunIsBoundWhenCalled(function) ? 1u : 0u};
  const Piece pieces[] = {{&head, sizeof(head)},
                          {&name.length, 4},
                          {name.bytes, name.length},
                          {&module.length, 4},
                          {module.bytes, module.length}};
  return PutPayload(hot, ControlKind::kFunction, id, 0, pieces, 5);
}

template <typename Entry>
Entry& Recent(Entry* entries, uint64_t hash) {
  return entries[RecentSites::Index(hash)];
}

void EmptyCodes(HotState& hot) {
  g_codes.Clear();
  memset(g_tables->recent.codes, 0, sizeof(g_tables->recent.codes));
  g_last_code_id = 0;
  g_code_text_bytes = 0;
  TracingCost::CodesForgotten();
  ForgetAll(hot, ControlKind::kCode);
}

void EmptyFunctions(HotState& hot) {
  g_functions.Clear();
  memset(g_tables->recent.functions, 0, sizeof(g_tables->recent.functions));
  memset(g_tables->types, 0, sizeof(g_tables->types));
  g_last_function_id = 0;
  ForgetAll(hot, ControlKind::kFunction);
}

void CodeDied(PyObject* code) {
  HotState& hot = Hot();
  OwnStack::CodeDied(code);
  CurrentStack::CodeDied();
  if (g_tables != nullptr) {
    if (hot.last_code == code) hot.last_code = nullptr;
    CodeEntry& recent = Recent(g_tables->recent.codes, HashAddress(code));
    if (recent.code == code) recent = {};
    CodeEntry* entry = g_codes.Find(
        HashAddress(code), [&](const CodeEntry& e) { return e.code == code; });
    if (!entry->empty()) {
      TracingCost::CodeDied(reinterpret_cast<PyCodeObject*>(code));
      g_codes.Erase(entry);
    }
  }
  g_code_dealloc(code);
}

void TypeDied(PyObject* type) {
  const uint32_t bit = TypeBit(type);
  if (g_tables != nullptr &&
      (g_tables->types[bit / 64] >> (bit % 64) & 1) != 0) {
    bool others = false;  // of the same bit
    g_functions.EraseIf([&](const FunctionEntry& e) {
      others |= e.self_type != type && TypeBit(e.self_type) == bit;
      return e.self_type == type;
    });
    if (!others) g_tables->types[bit / 64] &= ~(uint64_t{1} << (bit % 64));
    for (FunctionEntry& recent : g_tables->recent.functions) {
      if (recent.self_type == type) recent = {};
    }
  }
  g_type_dealloc(type);
}

}  // namespace

bool CodeRegistry::Create(const Filters* filters) {
  void* memory = OwnMemory::Map(sizeof(Tables));
  if (memory == nullptr) return false;
  g_filters = filters;
  g_tables = static_cast<Tables*>(memory);
  Hot().recent = &g_tables->recent;
  g_codes.Use(g_tables->code);
  g_functions.Use(g_tables->functions);
  return true;
}

void CodeRegistry::WatchDeaths() {
  if (g_code_dealloc != nullptr) return;
  g_dunder_name = PyUnicode_InternFromString("__name__");
  g_code_dealloc = PyCode_Type.tp_dealloc;
  PyCode_Type.tp_dealloc = CodeDied;
  g_type_dealloc = PyType_Type.tp_dealloc;
  PyType_Type.tp_dealloc = TypeDied;
}

SiteId CodeRegistry::FindCode(HotState& hot, PyCodeObject* code,
                              const PymemrunFrame* frame) {
  const auto same = [&](const CodeEntry& e) { return e.code == code; };
  CodeEntry* entry = g_codes.Find(HashAddress(code), same);
  if (entry->empty()) {
    if (g_last_code_id >= kMaxCodes || g_code_text_bytes >= kMaxCodeTextBytes) {
      EmptyCodes(hot);
      entry = g_codes.Find(HashAddress(code), same);
    }
    CodeEntry made = {code, g_last_code_id + 1, 0};
    if (!DefineCode(hot, code, frame, made.id, &made.flags)) {
      return {0, made.flags};
    }
    ++g_last_code_id;
    TracingCost::CodeSeen(code);
    g_codes.Insert(entry, made);
  }
  Recent(g_tables->recent.codes, HashAddress(code)) = *entry;
  hot.last_code = code;
  hot.last_code_id = entry->id;
  hot.last_code_flags = entry->flags;
  return {entry->id, entry->flags};
}

SiteId CodeRegistry::FindFunction(HotState& hot, PyCFunctionObject* function) {
  const PyMethodDef* method = function->m_ml;
  const void* self_type = SelfType(function->m_self);
  const auto same = [&](const FunctionEntry& e) {
    return e.method == method && e.self_type == self_type;
  };
  const uint64_t hash = HashTwo(method, self_type);
  FunctionEntry& recent = Recent(g_tables->recent.functions, hash);
  FunctionEntry* entry = g_functions.Find(hash, same);
  if (!entry->empty()) {
    if (StillHolds(*entry, method)) {
      recent = *entry;
      return {entry->id, entry->flags & kPassesName};
    }
    g_functions.Erase(entry);  // another function at the same address
    entry = g_functions.Find(hash, same);
  }
  if (g_functions.full() || g_last_function_id == kMaxFunctions) {
    EmptyFunctions(hot);
    entry = g_functions.Find(hash, same);
  }
  const bool is_static = IsStatic(method);
  FunctionEntry made = {method,
                        self_type,
                        ContentsOf(method, is_static),
                        g_last_function_id + 1,
                        0,
                        NameAddress(method)};
  if (!DefineFunction(hot, function, self_type, made.id, &made.flags)) {
    return {0, made.flags};
  }
  if (!is_static) made.flags |= kVerifyContents;
  ++g_last_function_id;
  const uint32_t bit = TypeBit(self_type);
  g_tables->types[bit / 64] |= uint64_t{1} << (bit % 64);
  g_functions.Insert(entry, made);
  recent = made;
  return {made.id, made.flags & kPassesName};
}

uint32_t CodeRegistry::generation() { return g_generation; }
uint64_t CodeRegistry::valid_from() { return g_valid_from; }

}  // namespace pymemrun
