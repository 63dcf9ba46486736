// A visitor that a RereadFile can be read with.
#ifndef PYMEMRUN_READERS_RUN_REPLAY_VISITOR_H_
#define PYMEMRUN_READERS_RUN_REPLAY_VISITOR_H_

#include <cstdint>
#include <limits>

#include "format/records/record_visitor.h"
#include "readers/run/console.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// A visitor that keeps a run's definitions, so that ids have names. Not thread
// safe.
class IndexingVisitor : public RecordVisitor {
 public:
  void OnCode(const CodeDef& code) override { index_.Add(code); }
  void OnFunction(const FunctionDef& function) override {
    index_.Add(function);
  }
  void OnSite(const SiteDef& site) override { index_.Add(site); }
  void OnThread(const ThreadDef& thread) override { index_.Add(thread); }
  void OnStack(const StackDef& node) override { index_.Add(node); }
  void OnMapping(const MappingDef& def) override { index_.Add(def); }
  void OnSource(const SourceFile& source) override { index_.Add(source); }

  const RunIndex& index() const { return index_; }
  // See RunIndex::AddThreadsOf().
  void KnowThreads(const RunIndex& earlier) { index_.AddThreadsOf(earlier); }

 private:
  RunIndex index_;
};

// Keeps the run's definitions. Not thread safe.
class ReplayVisitor : public IndexingVisitor {
 public:
  // A time after every event: the end of the run.
  static constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();

  void OnDamage(const StreamReader::Damage& damage) override {
    if (teller_ != nullptr) teller_->Say(damage);
  }
  // Whether it needs the blocks that a forked process started with. If so, it
  // gets the parent's events up to the fork by Inherit(), after the header. In
  // any case OnInherited() is called before all other records, forked or not.
  virtual bool wants_inherited() const { return false; }
  virtual void Inherit(const HeapEvent* events, size_t count) {}
  virtual void OnInherited() {}
  // Receives damage; null: it is not reported.
  void TellDamage(DamageTeller* teller) { teller_ = teller; }
  // To be called at the end of the reading.
  virtual void Finish() = 0;

 private:
  DamageTeller* teller_ = nullptr;
};

// Collects only what RereadFile finds out about each file. Not thread safe.
class FirstReading final : public ReplayVisitor {
 public:
  void Finish() override {}
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_REPLAY_VISITOR_H_
