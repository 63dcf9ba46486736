// A visitor that stands before another visitor, to change some of what the
// other is told.
#ifndef PYMEMRUN_READERS_RUN_FORWARDING_VISITOR_H_
#define PYMEMRUN_READERS_RUN_FORWARDING_VISITOR_H_

#include <cstddef>

#include "format/records/record_visitor.h"

namespace pymemrun {

// Hands on everything: who derives from it overrides what is to change, and
// loses no record of a kind that comes later. As thread safe as the other
// visitor, which must outlive it.
class ForwardingVisitor : public RecordVisitor {
 public:
  explicit ForwardingVisitor(RecordVisitor* to) : to_(*to) {}

  void OnHeader(const Header& header) override { to_.OnHeader(header); }
  void OnCode(const CodeDef& code) override { to_.OnCode(code); }
  void OnFunction(const FunctionDef& def) override { to_.OnFunction(def); }
  void OnSite(const SiteDef& site) override { to_.OnSite(site); }
  void OnThread(const ThreadDef& thread) override { to_.OnThread(thread); }
  void OnStack(const StackDef& node) override { to_.OnStack(node); }
  bool OnRows(const Row* rows, size_t count) override {
    return to_.OnRows(rows, count);
  }
  void OnMapping(const MappingDef& def) override { to_.OnMapping(def); }
  bool OnPages(const PageEntry* entries, size_t count) override {
    return to_.OnPages(entries, count);
  }
  void OnResidency(const ResidencyView& seen) override {
    to_.OnResidency(seen);
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    return to_.OnHeap(events, count);
  }
#define PYMEMRUN_FORWARD_FACT(kind, field, Message, Method, holds) \
  void Method(const Message& fact) override { to_.Method(fact); }
  PYMEMRUN_FACTS(PYMEMRUN_FORWARD_FACT)
#undef PYMEMRUN_FORWARD_FACT
  void OnFooter(const Footer& footer) override { to_.OnFooter(footer); }
  void OnUnknown() override { to_.OnUnknown(); }
  void OnDamage(const StreamReader::Damage& damage) override {
    to_.OnDamage(damage);
  }

 private:
  RecordVisitor& to_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_FORWARDING_VISITOR_H_
