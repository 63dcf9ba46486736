#include "readers/run/run_index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pymemrun {
namespace {

// The longest text of a stack; the rest is cut.
constexpr size_t kMaxStackTextBytes = 256 * 1024;
// The name is missing in the file, or was damaged.
constexpr absl::string_view kUnknownName = "?";

// Entry `id` (ids start at 1), or null.
template <typename T>
const T* Find(const std::deque<T>& table, uint32_t id) {
  return id == 0 || id > table.size() ? nullptr : &table[id - 1];
}

}  // namespace

absl::string_view WhatName(What what) {
  static constexpr absl::string_view kNames[] = {"CALL", "RETURN", "C_CALL",
                                                 "C_RETURN", "C_EXCEPT"};
  const auto index = static_cast<size_t>(what);
  return index < std::size(kNames) ? kNames[index] : "?";
}

void RunIndex::Add(const CodeDef& code) {
  // Ids are consecutive in the file, so a table position is an id.
  if (IsFull(codes_, limits_.codes)) return;
  const absl::string_view name = names_.Keep(code.name());
  const absl::string_view qualname =
      code.qualname().empty() ? name : names_.Keep(code.qualname());
  const absl::string_view module = names_.Keep(code.module());
  codes_.push_back({names_.Keep(code.file()), name, qualname, module,
                    code.first_line(),
                    kinds_.KindOf(code.file(), code.name(), module)});
}

void RunIndex::Add(const FunctionDef& function) {
  if (IsFull(functions_, limits_.codes)) return;
  functions_.push_back(
      {names_.Keep(function.qualname()), names_.Keep(function.module())});
}

// A site holds ids only: Resolve() finds its names.
void RunIndex::Add(const SiteDef& site) {
  if (IsFull(sites_, limits_.sites)) return;
  sites_.push_back({site.code(), site.line(), site.function(), site.what(),
                    site.makes_object()});
}

void RunIndex::Add(const ThreadDef& thread) {
  // A later reading starts with all threads, see AddThreadsOf().
  const bool is_known = thread.id() != 0 && thread.id() <= threads_.size();
  if (is_known || IsFull(threads_, limits_.threads)) return;
  const absl::string_view label =
      names_.Keep(absl::StrCat(thread.name(), "#", thread.native_id()));
  const auto id = static_cast<uint32_t>(threads_.size() + 1);
  const Thread* const before = Find(threads_, thread.renamed());
  // The same thread under a new name keeps its first id.
  const bool is_same =
      before != nullptr && before->native_id == thread.native_id();
  const uint32_t first = is_same ? before->first : id;
  threads_.push_back({label, std::min(thread.name().size(), label.size()),
                      thread.native_id(), first, id});
  threads_[first - 1].latest = id;
}

void RunIndex::AddThreadsOf(const RunIndex& earlier) {
  if (!threads_.empty()) return;
  for (Thread thread : earlier.threads_) {
    thread.label = names_.Keep(thread.label);
    thread.name_size = std::min(thread.name_size, thread.label.size());
    threads_.push_back(thread);
  }
}

// Frames come after their callers, so what holds for a whole stack is derived
// from the caller's node in constant time.
void RunIndex::Add(const StackDef& node) {
  if (IsFull(stacks_, limits_.stacks)) return;
  // A parent has a lower id than its child, so walks outwards end.
  const uint32_t parent = node.parent() <= stacks_.size() ? node.parent() : 0;
  const StackNode* const caller = Find(stacks_, parent);
  const Code* const code = Find(codes_, node.code());
  // The own frame of the caller, unless this frame is a better one.
  uint32_t own = caller == nullptr ? 0 : caller->own;
  const StackNode* const outer = Find(stacks_, own);
  const OwnCode::Kind own_kind =
      outer == nullptr ? OwnCode::kLibrary : Find(codes_, outer->code)->kind;
  bool imports = (caller != nullptr && caller->imports != 0) ||
                 (code != nullptr && OwnCode::IsImportMachinery(code->file));
  if (code != nullptr && CodeKinds::IsOwn(code->kind, code->name, own_kind)) {
    own = static_cast<uint32_t>(stacks_.size() + 1);
    // Imports made by own code count as imports only below it.
    imports = false;
  }
  stacks_.push_back({parent, node.code(), node.line(), own, imports});
}

void RunIndex::Add(const MappingDef& mapping) {
  if (IsFull(mappings_, limits_.mappings)) return;
  mappings_.push_back(names_.Keep(mapping.name()));
}

uint32_t RunIndex::CodeOf(uint32_t site_id) const {
  const Site* site = Find(sites_, site_id);
  return site == nullptr ? 0 : site->code;
}

bool RunIndex::MakesObject(uint32_t site_id) const {
  const Site* site = Find(sites_, site_id);
  return site != nullptr && site->makes_object;
}

void RunIndex::SetCode(uint32_t code_id, SourceLocation* where) const {
  const Code* code = Find(codes_, code_id);
  // Code 0: the file names none. Other unknown ids: it did not fit.
  where->file = where->function = where->code_name = where->qualname =
      code_id == 0 ? kUnknownName : NamePool::kNoRoom;
  if (code != nullptr) {
    where->file = code->file;
    where->function = where->code_name = code->name;
    where->qualname = code->qualname;
    where->module = code->module;
    where->first_line = code->first_line;
  }
}

SourceLocation RunIndex::ResolveStack(uint32_t stack_id) const {
  SourceLocation where;
  const StackNode* node = Find(stacks_, stack_id);
  // A node that was not kept has an unknown code.
  SetCode(node != nullptr ? node->code
          : stack_id == 0 ? 0
                          : UINT32_MAX,
          &where);
  if (node != nullptr) where.line = node->line;
  return where;
}

uint32_t RunIndex::OwnStack(uint32_t stack_id) const {
  const StackNode* node = Find(stacks_, stack_id);
  return node == nullptr ? 0 : node->own;
}

bool RunIndex::Imports(uint32_t stack_id) const {
  const StackNode* node = Find(stacks_, stack_id);
  return node != nullptr && node->imports != 0;
}

uint32_t RunIndex::ParentStack(uint32_t stack_id) const {
  const StackNode* node = Find(stacks_, stack_id);
  return node == nullptr ? 0 : node->parent;
}

absl::string_view RunIndex::MappingName(uint32_t mapping_id) const {
  if (mapping_id == 0) return kUnknownName;
  const absl::string_view* name = Find(mappings_, mapping_id);
  return name == nullptr ? NamePool::kNoRoom : *name;
}

SourceLocation RunIndex::Resolve(uint32_t site_id) const {
  SourceLocation where;
  where.file = where.function = where.code_name = NamePool::kNoRoom;
  const Site* site = Find(sites_, site_id);
  if (site == nullptr) return where;
  where.kind = site->what;
  where.what = WhatName(site->what);
  where.line = site->line;
  SetCode(site->code, &where);
  if (site->function == 0) return where;
  const Function* function = Find(functions_, site->function);
  where.function = function == nullptr ? NamePool::kNoRoom : function->qualname;
  where.module = function == nullptr ? "" : function->module;
  return where;
}

std::string RunIndex::StackText(uint32_t stack_id, FrameBudget* budget) const {
  std::vector<std::string> frames;  // innermost first
  size_t bytes = 0;
  budget->BeginStack();
  while (const StackNode* node = Find(stacks_, stack_id)) {
    if (bytes > kMaxStackTextBytes || !budget->HasRoom()) {
      frames.emplace_back("...");
      break;
    }
    const Code* code = Find(codes_, node->code);
    frames.push_back(absl::StrCat(
        code == nullptr ? NamePool::kNoRoom : code->file, ":", node->line, ":",
        code == nullptr ? NamePool::kNoRoom : code->name));
    bytes += frames.back().size();
    budget->Take(frames.back().size());
    stack_id = node->parent;
  }
  std::reverse(frames.begin(), frames.end());
  return absl::StrJoin(frames, ";");
}

absl::string_view RunIndex::ThreadLabel(uint32_t thread_id) const {
  const Thread* thread = Find(threads_, thread_id);
  return thread == nullptr ? NamePool::kNoRoom : thread->label;
}

uint32_t RunIndex::FirstThread(uint32_t thread_id) const {
  const Thread* thread = Find(threads_, thread_id);
  return thread == nullptr ? thread_id : thread->first;
}

uint32_t RunIndex::LatestThread(uint32_t thread_id) const {
  const Thread* thread = Find(threads_, thread_id);
  return thread == nullptr ? thread_id : threads_[thread->first - 1].latest;
}

absl::string_view RunIndex::ThreadName(uint32_t thread_id) const {
  const Thread* thread = Find(threads_, thread_id);
  return thread == nullptr ? NamePool::kNoRoom
                           : thread->label.substr(0, thread->name_size);
}

uint64_t RunIndex::ThreadNativeId(uint32_t thread_id) const {
  const Thread* thread = Find(threads_, thread_id);
  return thread == nullptr ? 0 : thread->native_id;
}

}  // namespace pymemrun
