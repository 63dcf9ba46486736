// What the bytes of a record tell before they are parsed, and what differs
// between the kinds of definition. For RecordDecoder.
#ifndef PYMEMRUN_FORMAT_RECORDS_RECORD_BYTES_H_
#define PYMEMRUN_FORMAT_RECORDS_RECORD_BYTES_H_

#include <optional>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "format/records/record_decoder.h"
#include "format/trace.pb.h"

namespace pymemrun {

// The length-delimited payload of `record` when its one field is `events`.
std::optional<absl::string_view> OnlyEvents(absl::string_view record);
// Whether its first field is of a kind that this reader knows.
bool BeginsWithKnownKind(absl::string_view record);

template <class Def>
struct DefTraits;
#define PYMEMRUN_DEFINITION(Def, name, ids, Method)        \
  template <>                                              \
  struct DefTraits<Def> {                                  \
    static constexpr char kName[] = name;                  \
    static constexpr auto kCount = &DefinedIds::ids;       \
    static constexpr auto kVisit = &RecordVisitor::Method; \
  }
PYMEMRUN_DEFINITION(CodeDef, "code", codes, OnCode);
PYMEMRUN_DEFINITION(FunctionDef, "function", functions, OnFunction);
PYMEMRUN_DEFINITION(SiteDef, "site", sites, OnSite);
PYMEMRUN_DEFINITION(ThreadDef, "thread", threads, OnThread);
PYMEMRUN_DEFINITION(StackDef, "stack", stacks, OnStack);
PYMEMRUN_DEFINITION(MappingDef, "mapping", mappings, OnMapping);
PYMEMRUN_DEFINITION(ObjectTypeDef, "object_type", object_types, OnObjectType);
PYMEMRUN_DEFINITION(ObjectNameDef, "object_name", object_names, OnObjectName);
#undef PYMEMRUN_DEFINITION

// Gives each name that the definition has as "?".
template <class Def>
void NamePlaceholder(Def* def) {
  if constexpr (requires { def->file(); }) def->set_file("?");
  if constexpr (requires { def->name(); }) def->set_name("?");
  if constexpr (requires { def->qualname(); }) def->set_qualname("?");
  if constexpr (requires { def->module(); }) def->set_module("?");
  if constexpr (std::is_same_v<Def, ObjectNameDef>) def->set_text("?");
}

inline bool IsDefinition(Record::KindCase kind) {
  switch (kind) {
    case Record::kCode:
    case Record::kFunction:
    case Record::kSite:
    case Record::kThread:
    case Record::kStack:
    case Record::kMapping:
    case Record::kObjectType:
    case Record::kObjectName:
      return true;
    default:
      return false;
  }
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_RECORD_BYTES_H_
