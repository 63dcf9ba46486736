// What differs between the kinds of definition. Used by RecordDecoder alone.
#ifndef PYMEMRUN_FORMAT_DEFINITION_KINDS_H_
#define PYMEMRUN_FORMAT_DEFINITION_KINDS_H_

#include "format/record_decoder.h"

namespace pymemrun {

template <class Def>
struct DefTraits;
template <>
struct DefTraits<CodeDef> {
  static constexpr char kName[] = "code";
  static constexpr auto kCount = &DefinedIds::codes;
  static constexpr auto kVisit = &RecordVisitor::OnCode;
  static void MakePlaceholder(CodeDef* def) {
    for (auto* name : {def->mutable_file(), def->mutable_name(),
                       def->mutable_qualname(), def->mutable_module()}) {
      name->assign(1, '?');
    }
  }
};
template <>
struct DefTraits<FunctionDef> {
  static constexpr char kName[] = "function";
  static constexpr auto kCount = &DefinedIds::functions;
  static constexpr auto kVisit = &RecordVisitor::OnFunction;
  static void MakePlaceholder(FunctionDef* def) {
    def->set_qualname("?");
    def->set_module("?");
  }
};
template <>
struct DefTraits<SiteDef> {
  static constexpr char kName[] = "site";
  static constexpr auto kCount = &DefinedIds::sites;
  static constexpr auto kVisit = &RecordVisitor::OnSite;
  static void MakePlaceholder(SiteDef*) {}
};
template <>
struct DefTraits<ThreadDef> {
  static constexpr char kName[] = "thread";
  static constexpr auto kCount = &DefinedIds::threads;
  static constexpr auto kVisit = &RecordVisitor::OnThread;
  static void MakePlaceholder(ThreadDef* def) { def->set_name("?"); }
};
template <>
struct DefTraits<StackDef> {
  static constexpr char kName[] = "stack";
  static constexpr auto kCount = &DefinedIds::stacks;
  static constexpr auto kVisit = &RecordVisitor::OnStack;
  static void MakePlaceholder(StackDef*) {}
};
template <>
struct DefTraits<MappingDef> {
  static constexpr char kName[] = "mapping";
  static constexpr auto kCount = &DefinedIds::mappings;
  static constexpr auto kVisit = &RecordVisitor::OnMapping;
  static void MakePlaceholder(MappingDef* def) { def->set_name("?"); }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_DEFINITION_KINDS_H_
