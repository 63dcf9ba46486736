#include "collector/definitions/definition_table.h"

#include "absl/hash/hash.h"
#include "collector/ring/payload_reader.h"
#include "format/records/stack_depths.h"

namespace pymemrun {
namespace {

// Limits of what is remembered. Forgotten sites and threads are defined again.
constexpr size_t kMaxSites = 1u << 17;
constexpr size_t kMaxSmallInfos = 1u << 14;

uint64_t ContentHash(absl::string_view bytes) {
  return absl::Hash<absl::string_view>()(bytes);
}

// Content of ids that the ring never defined.
constexpr absl::string_view kUndefined = "";

uint64_t StackHash(uint32_t parent, uint32_t code, uint32_t line) {
  const uint32_t content[] = {parent, code, line};
  return ContentHash({reinterpret_cast<const char*>(content), sizeof(content)});
}

void SetBytes(std::string* field, absl::string_view bytes) {
  field->assign(bytes.data(), bytes.size());
}

}  // namespace

bool DefinitionTable::Define(ControlKind kind, uint32_t raw_id,
                             absl::string_view payload) {
  switch (kind) {
    case ControlKind::kCode:
      return DefineCode(raw_id, payload);
    case ControlKind::kFunction:
      return DefineFunction(raw_id, payload);
    case ControlKind::kThreadDef:
      return DefineThread(raw_id, payload);
    case ControlKind::kStackDef:
      return DefineStack(raw_id, payload);
    default:
      return false;
  }
}

void DefinitionTable::Forget(ControlKind kind) {
  if (kind == ControlKind::kCode) {
    codes_.Forget();
    // Only now no id can need them any more.
    code_facts_.Clear();
  } else if (kind == ControlKind::kFunction) {
    functions_.Forget();
    bound_functions_.clear();
  } else if (kind == ControlKind::kThreadDef) {
    threads_.Forget();
  } else if (kind == ControlKind::kStackDef) {
    stacks_.Forget();
  }
}

// Code objects with the same payload share an id. Their facts are kept by that
// id, so a known payload is not parsed again.
bool DefinitionTable::DefineCode(uint32_t raw_id, absl::string_view payload) {
  const IdSpace::Binding bound = codes_.Bind(raw_id, ContentHash(payload));
  if (!bound.fresh && code_facts_.Has(bound.id)) return bound.rebound;
  const CodeDefinition code(payload);
  code_facts_.Add(bound.id, code.head, code.file, code.name, code.line_table);
  if (bound.fresh) {
    Record record;
    record.mutable_code()->set_id(bound.id);
    code.AddTo(record.mutable_code());
    WriteCode(record);
  }
  return bound.rebound;
}

void DefinitionTable::WriteCode(const Record& record) {
  sources_.AddCode(record.code().id(), record.code().file());
  out_->Write(record);
}

bool DefinitionTable::DefineFunction(uint32_t raw_id,
                                     absl::string_view payload) {
  const IdSpace::Binding bound = functions_.Bind(raw_id, ContentHash(payload));
  PayloadReader in(payload);
  const auto head = in.Take<FunctionPayload>();
  if (head.makes_bound_object != 0) {
    bound_functions_.insert(raw_id);
  } else {
    bound_functions_.erase(raw_id);
  }
  if (!bound.fresh) return bound.rebound;
  Record record;
  FunctionDef* def = record.mutable_function();
  def->set_id(bound.id);
  SetBytes(def->mutable_qualname(), in.TakeName());
  SetBytes(def->mutable_module(), in.TakeName());
  out_->Write(record);
  return bound.rebound;
}

// Returns the id under which this Linux thread was defined from /proc; 0: it
// was not, or the kernel has reused the number for another thread.
uint32_t DefinitionTable::NativeIdOf(uint64_t native_id) const {
  const auto native = native_threads_.find(native_id);
  if (native == native_threads_.end() || native->second.from_ring) return 0;
  const NativeThreadFacts& then = native->second.facts;
  if (then.stat.start_ticks == 0) return native->second.id;
  const uint64_t now = ReadThreadStat(then.pid, native_id).start_ticks;
  const bool is_other = now != 0 && now != then.stat.start_ticks;
  return is_other ? 0 : native->second.id;
}

// A thread may have been defined from /proc already. With the same name it
// keeps that id; with another name the new definition says that it was renamed.
bool DefinitionTable::DefineThread(uint32_t raw_id, absl::string_view payload) {
  PayloadReader in(payload);
  const ThreadPayload head = in.Take<ThreadPayload>();
  ThreadDef def;
  def.set_native_id(head.native_id);
  def.set_first_us(in.ok() ? clock_->Micros(head.tsc) : 0);
  SetBytes(def.mutable_name(), in.TakeName());
  def.set_renamed(head.renamed != 0 ? threads_.Find(head.renamed)
                                    : NativeIdOf(head.native_id));
  if (head.renamed == 0 && def.renamed() != 0 &&
      native_threads_[head.native_id].facts.stat.name == def.name()) {
    threads_.Alias(ContentHash(payload), def.renamed());
  }
  const IdSpace::Binding bound = threads_.Bind(raw_id, ContentHash(payload));
  if (bound.fresh) {
    def.set_id(bound.id);
    WriteThread(def);
  }
  if (head.native_id != 0) {
    native_threads_[head.native_id] = {bound.id, true, {}};
  }
  return bound.rebound;
}

void DefinitionTable::WriteThread(const ThreadDef& def) {
  Record record;
  *record.mutable_thread() = def;
  out_->Write(record);
  // Forgetting only costs a repeated definition of a thread that still runs.
  if (native_threads_.size() >= kMaxSmallInfos) native_threads_.clear();
}

uint32_t DefinitionTable::CodeOf(uint32_t raw_code) {
  if (codes_.Find(raw_code) == 0) DefineCode(raw_code, kUndefined);
  return codes_.Find(raw_code);
}

// The ring has an instruction offset, the file has a line. So two raw nodes on
// one line become one node of the file.
bool DefinitionTable::DefineStack(uint32_t raw_id, absl::string_view payload) {
  PayloadReader in(payload);
  const StackPayload node = in.Take<StackPayload>();
  const uint32_t parent = stacks_.Find(node.parent);
  uint32_t code, line = 0;
  if (node.code == kDeeperFrames) {
    CodeDef def;
    SetBytes(def.mutable_name(), kDeeperFramesName);
    code = InternCode(def);
  } else {
    code = CodeOf(node.code);
    line = code_facts_.LineOf(code, node.position);
  }
  const IdSpace::Binding bound =
      stacks_.Bind(raw_id, StackHash(parent, code, line));
  if (bound.fresh) WriteStack(bound.id, parent, code, line);
  return false;  // sites do not depend on stacks
}

void DefinitionTable::WriteStack(uint32_t id, uint32_t parent, uint32_t code,
                                 uint32_t line) {
  Record record;
  StackDef* def = record.mutable_stack();
  def->set_id(id);
  def->set_parent(parent);
  def->set_code(code);
  def->set_line(line);
  sources_.AddLine(code, line);
  out_->Write(record);
}

uint32_t DefinitionTable::InternStack(uint32_t parent, uint32_t code,
                                      uint32_t line) {
  const IdSpace::Binding bound = stacks_.Intern(StackHash(parent, code, line));
  if (bound.fresh) WriteStack(bound.id, parent, code, line);
  return bound.id;
}

uint32_t DefinitionTable::InternCode(const CodeDef& names) {
  // Hashed differently from payloads of the ring: two code objects of the same
  // name and place may have different lines, so their facts must not be mixed.
  Record record;
  CodeDef* def = record.mutable_code();
  *def = names;
  def->clear_id();
  const IdSpace::Binding bound =
      codes_.Intern(ContentHash(record.SerializeAsString()));
  if (!bound.fresh) return bound.id;
  def->set_id(bound.id);
  WriteCode(record);
  return bound.id;
}

uint32_t DefinitionTable::NativeThread(
    uint64_t native_id, uint64_t first_us,
    absl::FunctionRef<NativeThreadFacts()> facts) {
  const auto known = native_threads_.find(native_id);
  if (known != native_threads_.end()) return known->second.id;
  const NativeThreadFacts found = facts();
  ThreadDef def;
  def.set_native_id(native_id);
  def.set_first_us(first_us);
  def.set_name(found.stat.name);
  const IdSpace::Binding bound =
      threads_.Intern(ContentHash(def.SerializeAsString()));
  if (bound.fresh) {
    def.set_id(bound.id);
    WriteThread(def);
  }
  native_threads_[native_id] = {bound.id, false, found};
  return bound.id;
}

// A site is a place in the source: kind of event, code, line and C function.
// Offsets on the same line share a site.
uint32_t DefinitionTable::Site(uint32_t what, uint32_t raw_code,
                               uint32_t position, uint32_t raw_function) {
  const uint32_t code = CodeOf(raw_code);
  uint32_t function = 0;
  if (raw_function != 0) {
    function = functions_.Find(raw_function);
    if (function == 0) {
      DefineFunction(raw_function, kUndefined);
      function = functions_.Find(raw_function);
    }
  }
  if (sites_.size() >= kMaxSites) ForgetSites();
  const SiteKey key = {what, code, code_facts_.LineOf(code, position), function,
                       MakesObject(what, code, position, raw_function)};
  const uint32_t next = first_site_ + static_cast<uint32_t>(sites_.size());
  const auto [known, fresh] = site_ids_.try_emplace(key, next);
  if (!fresh) return known->second;
  sites_.push_back(key);
  Record record;
  SiteDef* def = record.mutable_site();
  def->set_id(next);
  def->set_what(static_cast<What>(what));
  def->set_code(code);
  def->set_line(key.line);
  def->set_function(function);
  def->set_makes_object(key.makes_object);
  sources_.AddLine(code, key.line);
  out_->Write(record);
  return next;
}

// Whether the interpreter makes an object for such an event only because it is
// profiled, see "What the interpreter makes" in docs/design/calls.md.
bool DefinitionTable::MakesObject(uint32_t what, uint32_t code,
                                  uint32_t position,
                                  uint32_t raw_function) const {
  if (what == CALL) return code_facts_.IsStart(code, position);
  return what == C_CALL && bound_functions_.contains(raw_function);
}

uint32_t DefinitionTable::Thread(uint32_t raw_thread) {
  const uint32_t thread = threads_.Find(raw_thread);
  if (thread != 0) return thread;
  DefineThread(raw_thread, kUndefined);
  return threads_.Find(raw_thread);
}

uint32_t DefinitionTable::Stack(uint32_t raw_stack) {
  return stacks_.Find(raw_stack);
}

// Ids of sites are never reused: later sites get ids after the forgotten ones.
void DefinitionTable::ForgetSites() {
  first_site_ += static_cast<uint32_t>(sites_.size());
  sites_.clear();
  site_ids_.clear();
}

}  // namespace pymemrun
