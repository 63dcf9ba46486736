#include "tracer/code_registry.h"

#include <string.h>

#include "tracer/event_ring.h"
#include "tracer/own_memory.h"
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
uint32_t g_generation = 0;
uint32_t g_last_function_id = 0;
const Filters* g_filters = nullptr;
PyObject* g_dunder_name = nullptr;  // "__name__", interned
destructor g_code_dealloc = nullptr;
destructor g_type_dealloc = nullptr;

uint32_t TypeBit(const void* type) {
  return static_cast<uint32_t>(HashAddress(type) >> 40) & (kTypeFilterBits - 1);
}

// FNV-1a, folded.
uint16_t NameCheck(const char* name) {
  uint32_t hash = 2166136261u;
  for (; *name != '\0'; ++name) {
    hash = (hash ^ static_cast<unsigned char>(*name)) * 16777619u;
  }
  return static_cast<uint16_t>(hash ^ (hash >> 16));
}

// pybind11 and its like make PyMethodDef and name at run time, with a capsule
// as self; all others keep them in static tables.
bool MakesNamesAtRunTime(const void* self_type) {
  return self_type == &PyCapsule_Type;
}

uint16_t MethodCheck(const PyMethodDef* method, const void* self_type) {
  return MakesNamesAtRunTime(self_type)
             ? NameCheck(method->ml_name)
             : static_cast<uint16_t>(
                   reinterpret_cast<uintptr_t>(method->ml_name));
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

void ForgetAll(HotState& hot, ControlKind kind) {
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
  const CodePayload head = {facts.first_line, facts.line_table_kind};
  const uint32_t table_length = static_cast<uint32_t>(facts.line_table_bytes);
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
  *flags = static_cast<uint16_t>(
      (g_filters->PassesFunction(name.bytes) ? kPassesName : 0) |
      (MakesNamesAtRunTime(self_type) ? kVerifyName : 0));
  const Piece pieces[] = {{&name.length, 4},
                          {name.bytes, name.length},
                          {&module.length, 4},
                          {module.bytes, module.length}};
  return PutPayload(hot, ControlKind::kFunction, id, 0, pieces, 4);
}

template <typename Entry>
Entry& Recent(Entry* entries, uint64_t hash) {
  return entries[RecentSites::Index(hash)];
}

void CodeDied(PyObject* code) {
  HotState& hot = Hot();
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
    const auto dead = [&](const FunctionEntry& e) {
      return e.self_type == type;
    };
    g_functions.EraseIf(dead);
    for (FunctionEntry& recent : g_tables->recent.functions) {
      if (dead(recent)) recent = {};
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
  CodeEntry& recent = Recent(g_tables->recent.codes, HashAddress(code));
  if (!entry->empty()) {
    recent = *entry;
    return {entry->id, entry->flags};
  }
  if (g_codes.full() || g_last_code_id == kIdMask) {
    g_codes.Clear();
    memset(g_tables->recent.codes, 0, sizeof(g_tables->recent.codes));
    g_last_code_id = 0;
    ++g_generation;
    ForgetAll(hot, ControlKind::kCode);
    entry = g_codes.Find(HashAddress(code), same);
  }
  CodeEntry made = {code, g_last_code_id + 1, 0};
  if (!DefineCode(hot, code, frame, made.id, &made.flags)) {
    return {0, made.flags};
  }
  ++g_last_code_id;
  TracingCost::CodeSeen(code);
  g_codes.Insert(entry, made);
  recent = made;
  return {made.id, made.flags};
}

SiteId CodeRegistry::FindFunction(HotState& hot, PyCFunctionObject* function) {
  const PyMethodDef* method = function->m_ml;
  const void* self_type = SelfType(function);
  const uint16_t check = MethodCheck(method, self_type);
  const auto same = [&](const FunctionEntry& e) {
    return e.method == method && e.self_type == self_type;
  };
  const uint64_t hash = HashTwo(method, self_type);
  FunctionEntry& recent = Recent(g_tables->recent.functions, hash);
  FunctionEntry* entry = g_functions.Find(hash, same);
  if (!entry->empty()) {
    if (entry->implementation == method->ml_meth &&
        entry->name_check == check) {
      recent = *entry;
      return {entry->id, entry->flags & kPassesName};
    }
    g_functions.Erase(entry);  // another function at the same address
    entry = g_functions.Find(hash, same);
  }
  if (g_functions.full() || g_last_function_id == kIdMask) {
    g_functions.Clear();
    memset(g_tables->recent.functions, 0, sizeof(g_tables->recent.functions));
    memset(g_tables->types, 0, sizeof(g_tables->types));
    g_last_function_id = 0;
    ForgetAll(hot, ControlKind::kFunction);
    entry = g_functions.Find(hash, same);
  }
  FunctionEntry made = {
      method, self_type, method->ml_meth, g_last_function_id + 1, 0, check};
  if (!DefineFunction(hot, function, self_type, made.id, &made.flags)) {
    return {0, made.flags};
  }
  ++g_last_function_id;
  const uint32_t bit = TypeBit(self_type);
  g_tables->types[bit / 64] |= uint64_t{1} << (bit % 64);
  g_functions.Insert(entry, made);
  recent = made;
  return {made.id, made.flags & kPassesName};
}

uint32_t CodeRegistry::generation() { return g_generation; }

}  // namespace pymemrun
