#include "tracer/code/code_registry.h"

#include <dlfcn.h>
#include <string.h>

#include "tracer/base/own_memory.h"
#include "tracer/code/current_stack.h"
#include "tracer/code/own_stack.h"
#include "tracer/cpython/abilities.h"

namespace pymemrun {
namespace {

// Size of the filter for types. A collision only costs a needless search.
constexpr uint32_t kTypeFilterBits = 1u << 14;
// Longest text looked at by filters and sent in a definition.
constexpr size_t kMaxText = 16 * 1024;

uint32_t TypeBit(const void* type) {
  return static_cast<uint32_t>(HashAddress(type) >> 40) & (kTypeFilterBits - 1);
}

// Whether the definition is in the static data of an executable or library,
// where it never changes. Definitions made by pybind11, cffi or ctypes programs
// can be freed. Another one may then be at the same address, with the same
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

// Hash of what distinguishes this definition from another one at its address:
// FNV-1a of the name, begun with the implementation.
uint64_t ContentsOf(const PyMethodDef* method, bool is_static) {
  const uint64_t implementation = AddressOf(method->ml_meth);
  if (is_static) return implementation;
  uint64_t hash = 14695981039346656037u ^ implementation;
  for (const char* c = method->ml_name; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211u;
  }
  return hash;
}

// Low bits of the name's address: a cheap second check of a static definition.
uint16_t NameAddress(const PyMethodDef* method) {
  return static_cast<uint16_t>(reinterpret_cast<uintptr_t>(method->ml_name));
}

// Whether the entry was made of the definition that is at its address now.
bool StillHolds(const FunctionEntry& entry, const PyMethodDef* method) {
  const bool is_static = (entry.flags & kVerifyContents) == 0;
  return entry.contents == ContentsOf(method, is_static) &&
         (!is_static || entry.name_address == NameAddress(method));
}

template <typename Entry>
Entry& Recent(Entry* entries, uint64_t hash) {
  return entries[RecentSites::Index(hash)];
}

// Whether this is the setter of threading.Thread.name: it has two arguments,
// the thread and the new name.
bool RenamesThread(const PyCodeObject* code, const PayloadText& file,
                   const PayloadText& name) {
  constexpr char kFile[] = "/threading.py";
  constexpr uint32_t kLength = sizeof(kFile) - 1;
  return code->co_argcount == 2 && strcmp(name.bytes, "name") == 0 &&
         file.length >= kLength &&
         strcmp(file.bytes + file.length - kLength, kFile) == 0;
}

// The original deallocators of code objects and types, and the registry that
// must know of deaths. One per process, inherited by forked children.
struct Deaths {
  CodeRegistry* registry;
  destructor code_dealloc;
  destructor type_dealloc;
};
constinit Deaths g_deaths = {};

// The tables forget the object first: after the real deallocator another thread
// may reuse the address.
void DeallocateCode(PyObject* code) {
  OwnStack::CodeDied(code);
  if (kTracesCalls) g_deaths.registry->CodeDied(Hot(), code);
  g_deaths.code_dealloc(code);
}

void DeallocateType(PyObject* type) {
  g_deaths.registry->TypeDied(type);
  g_deaths.type_dealloc(type);
}

}  // namespace

struct CodeRegistry::Tables {
  alignas(4096) char code[CodeTable::kBytes];
  char functions[FunctionTable::kBytes];
  RecentSites recent;
  // One bit per hash of a type that has entries in `functions`: most types that
  // die have none.
  uint64_t types[kTypeFilterBits / 64];
  char text[4][kMaxText];
};

// Copies a str object as UTF-8, cut to kMaxText - 1 bytes. Each text of a
// definition has a buffer of its own.
inline PayloadText CodeRegistry::CopyText(int buffer, PyObject* object) const {
  char* bytes = tables_->text[buffer];
  const size_t needed = PymemrunCopyUtf8(object, bytes, kMaxText - 1);
  const size_t length = needed < kMaxText - 1 ? needed : kMaxText - 1;
  bytes[length] = '\0';
  return {static_cast<uint32_t>(length), bytes};
}

inline PyObject* CodeRegistry::ModuleName(const PymemrunFrame* frame) const {
  PyObject* globals = PymemrunFrameGlobals(frame);
  if (globals == nullptr || !PyDict_CheckExact(globals)) return nullptr;
  return PyDict_GetItemWithError(globals,
                                 dunder_name_);  // runs no Python code
}

// The table of `kind` was emptied: all ids are void, and so is what the hot
// state remembers of them.
void CodeRegistry::ForgetAll(HotState& hot, ControlKind kind) {
  hot.last_code = nullptr;
  hot.last_function = nullptr;
  ++generation_;
  hot.page->tables_emptied.fetch_add(1, std::memory_order_relaxed);
  valid_from_ = NextNumber(hot) - 1;  // the event under way has its number
  PutForget(hot, kind);
}

// Sends the definition of a code object and decides its filters. Returns false
// if the ring has no room.
inline bool CodeRegistry::DefineCode(HotState& hot, PyCodeObject* code,
                                     const PymemrunFrame* frame, uint32_t id,
                                     uint32_t* flags) {
  PymemrunCodeFacts facts;
  PymemrunCodeFactsOf(reinterpret_cast<PyObject*>(code), &facts);
  const PayloadText file = CopyText(0, facts.file);
  const PayloadText name = CopyText(1, facts.name);
  const PayloadText qualname = CopyText(2, facts.qualname);
  const PayloadText module = CopyText(3, ModuleName(frame));
  *flags = (filters_.PassesFile(file.bytes) ? kPassesFile : 0) |
           (filters_.PassesFunction(name.bytes) ? kPassesName : 0) |
           (RenamesThread(code, file, name) ? kRenamesThread : 0);
  const CodePayload head = {facts.first_line, facts.line_table_kind,
                            PymemrunStartPosition(code)};
  const PayloadText table = {static_cast<uint32_t>(facts.line_table_bytes),
                             facts.line_table};
  code_text_bytes_ += name.length + table.length;
  return PutStruct(hot, ControlKind::kCode, id, head,
                   {file, name, qualname, module, table});
}

// The name that `__qualname__` of the function gives, without running code:
// "len", "list.append", "dict.fromkeys".
inline PayloadText CodeRegistry::FunctionName(const PyCFunctionObject* function,
                                              const void* self_type) const {
  char* out = tables_->text[0];
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

// The same for a C function. `self_type` is the type of the object that it is
// bound to, or null.
inline bool CodeRegistry::DefineFunction(HotState& hot,
                                         const PyCFunctionObject* function,
                                         const void* self_type, uint32_t id,
                                         uint16_t* flags) {
  const PayloadText name = FunctionName(function, self_type);
  const PayloadText module = CopyText(1, function->m_module);
  *flags = filters_.PassesFunction(name.bytes) ? kPassesName : 0;
  const FunctionPayload head = {PymemrunIsBoundWhenCalled(function) ? 1u : 0u};
  return PutStruct(hot, ControlKind::kFunction, id, head, {name, module});
}

// Stacks are void with the code ids, see StackNodes::Fit().
inline void CodeRegistry::EmptyCodes(HotState& hot) {
  codes_.Clear();
  memset(tables_->recent.codes, 0, sizeof(tables_->recent.codes));
  last_code_id_ = 0;
  code_text_bytes_ = 0;
  cost_.CodesForgotten();
  ForgetAll(hot, ControlKind::kCode);
}

inline void CodeRegistry::EmptyFunctions(HotState& hot) {
  functions_.Clear();
  memset(tables_->recent.functions, 0, sizeof(tables_->recent.functions));
  memset(tables_->types, 0, sizeof(tables_->types));
  last_function_id_ = 0;
  ForgetAll(hot, ControlKind::kFunction);
}

// Erases the entry in the table and in the cache of recent code objects.
void CodeRegistry::CodeDied(HotState& hot, PyObject* code) {
  if (tables_ == nullptr) return;  // a forked child that is not traced
  stacks_.CodeDied();
  if (hot.last_code == code) hot.last_code = nullptr;
  CodeEntry& recent = Recent(tables_->recent.codes, HashAddress(code));
  if (recent.code == code) recent = {};
  CodeEntry* entry = codes_.Find(
      HashAddress(code), [&](const CodeEntry& e) { return e.code == code; });
  if (entry->empty()) return;
  cost_.CodeDied(reinterpret_cast<PyCodeObject*>(code));
  codes_.Erase(entry);
}

// Erasing the functions of a type searches the whole table. The filter avoids
// that for nearly all types, which have no functions in it.
void CodeRegistry::TypeDied(PyObject* type) {
  if (tables_ == nullptr) return;  // as above
  const uint32_t bit = TypeBit(type);
  uint64_t& bits = tables_->types[bit / 64];
  if ((bits >> (bit % 64) & 1) == 0) return;
  bool others = false;  // of the same bit
  functions_.EraseIf([&](const FunctionEntry& e) {
    others |= e.self_type != type && TypeBit(e.self_type) == bit;
    return e.self_type == type;
  });
  if (!others) bits &= ~(uint64_t{1} << (bit % 64));
  for (FunctionEntry& recent : tables_->recent.functions) {
    if (recent.self_type == type) recent = {};
  }
}

bool CodeRegistry::Create(HotState& hot) {
  void* memory = OwnMemory::MapTold(sizeof(Tables));
  if (memory == nullptr) return false;
  tables_ = static_cast<Tables*>(memory);
  OwnMemory::Wrote(&tables_->recent, sizeof(tables_->recent));
  OwnMemory::Wrote(&tables_->types, sizeof(tables_->types));
  hot.recent = &tables_->recent;
  codes_.Use(tables_->code);
  functions_.Use(tables_->functions);
  return true;
}

void CodeRegistry::WatchDeaths() {
  if (kAnyPython) return;
  dunder_name_ = PyUnicode_InternFromString("__name__");
  if (g_deaths.registry != nullptr) return;
  g_deaths = {this, PyCode_Type.tp_dealloc, PyType_Type.tp_dealloc};
  PyCode_Type.tp_dealloc = DeallocateCode;
  if (kTracesCalls) PyType_Type.tp_dealloc = DeallocateType;
}

// Without room in the ring the object stays undefined, and the next event tries
// again.
SiteId CodeRegistry::FindCode(HotState& hot, PyCodeObject* code,
                              const PymemrunFrame* frame) {
  const auto same = [&](const CodeEntry& e) { return e.code == code; };
  CodeEntry* entry = codes_.Find(HashAddress(code), same);
  if (entry->empty()) {
    if (last_code_id_ >= kMaxCodes || code_text_bytes_ >= kMaxCodeTextBytes) {
      EmptyCodes(hot);
      entry = codes_.Find(HashAddress(code), same);
    }
    CodeEntry made = {code, last_code_id_ + 1, 0};
    if (!DefineCode(hot, code, frame, made.id, &made.flags)) {
      return {0, made.flags};
    }
    ++last_code_id_;
    cost_.CodeSeen(code);
    codes_.Insert(entry, made);
  }
  // This code object stays out of the hot path's cache, so each of its events
  // comes here.
  if ((entry->flags & kRenamesThread) != 0) return {entry->id, entry->flags};
  Recent(tables_->recent.codes, HashAddress(code)) = *entry;
  hot.last_code = code;
  hot.last_code_id = entry->id;
  hot.last_code_flags = entry->flags;
  return {entry->id, entry->flags};
}

// A function is known by its PyMethodDef and the type of its object, as a
// subclass shares the definition of its base.
SiteId CodeRegistry::FindFunction(HotState& hot, PyCFunctionObject* function) {
  const PyMethodDef* method = function->m_ml;
  const void* self_type = SelfType(function->m_self);
  const auto same = [&](const FunctionEntry& e) {
    return e.method == method && e.self_type == self_type;
  };
  const uint64_t hash = HashTwo(method, self_type);
  FunctionEntry& recent = Recent(tables_->recent.functions, hash);
  FunctionEntry* entry = functions_.Find(hash, same);
  if (!entry->empty()) {
    if (StillHolds(*entry, method)) {
      recent = *entry;
      return {entry->id, entry->flags & kPassesName};
    }
    functions_.Erase(entry);  // another function at the same address
    entry = functions_.Find(hash, same);
  }
  if (functions_.full() || last_function_id_ == kMaxFunctions) {
    EmptyFunctions(hot);
    entry = functions_.Find(hash, same);
  }
  const bool is_static = IsStatic(method);
  FunctionEntry made = {method,
                        self_type,
                        ContentsOf(method, is_static),
                        last_function_id_ + 1,
                        0,
                        NameAddress(method)};
  if (!DefineFunction(hot, function, self_type, made.id, &made.flags)) {
    return {0, made.flags};
  }
  if (!is_static) made.flags |= kVerifyContents;
  ++last_function_id_;
  const uint32_t bit = TypeBit(self_type);
  tables_->types[bit / 64] |= uint64_t{1} << (bit % 64);
  functions_.Insert(entry, made);
  recent = made;
  return {made.id, made.flags & kPassesName};
}

}  // namespace pymemrun
