// Keeps what came of each kind of fact, for whoever prints it.
#ifndef PYMEMRUN_READERS_REPLAY_SUMMARY_FACT_KEEPER_H_
#define PYMEMRUN_READERS_REPLAY_SUMMARY_FACT_KEEPER_H_

#include <cstdint>
#include <tuple>

#include "readers/run/indexing_visitor.h"

namespace pymemrun {

template <class Fact>
struct KeptFact {
  uint64_t count = 0;
  Fact last;
};

// A visitor that keeps a run's definitions, how many facts of each kind came,
// and the last of each. Who overrides a fact's method keeps that fact instead.
// A new kind of fact is kept without a line here. Not thread safe.
class FactKeeper : public IndexingVisitor {
 public:
#define PYMEMRUN_KEEP_FACT(kind, field, Message, Method, holds) \
  void Method(const Message& fact) override {                   \
    IndexingVisitor::Method(fact);                              \
    Keep(fact);                                                 \
  }
  PYMEMRUN_FACTS(PYMEMRUN_KEEP_FACT)
#undef PYMEMRUN_KEEP_FACT

  template <class Fact>
  const KeptFact<Fact>& Kept() const {
    return std::get<KeptFact<Fact>>(kept_);
  }

 private:
  template <class Fact>
  void Keep(const Fact& fact) {
    KeptFact<Fact>& kept = std::get<KeptFact<Fact>>(kept_);
    ++kept.count;
    kept.last = fact;
  }

#define PYMEMRUN_KEPT_FACT(kind, field, Message, Method, holds) \
  KeptFact<Message>,
  // The int ends the list, as each fact has a comma behind it.
  std::tuple<PYMEMRUN_FACTS(PYMEMRUN_KEPT_FACT) int> kept_;
#undef PYMEMRUN_KEPT_FACT
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_SUMMARY_FACT_KEEPER_H_
