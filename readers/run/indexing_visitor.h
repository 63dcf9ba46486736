// A base of visitors that need names of ids.
#ifndef PYMEMRUN_READERS_RUN_INDEXING_VISITOR_H_
#define PYMEMRUN_READERS_RUN_INDEXING_VISITOR_H_

#include "format/records/record_visitor.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// A visitor that keeps a run's definitions.
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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_INDEXING_VISITOR_H_
