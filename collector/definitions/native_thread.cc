#include "collector/definitions/native_thread.h"

#include "collector/process/process_stats.h"

namespace pymemrun {
namespace {

// How long an event waits for the name of its thread.
constexpr uint64_t kNamePatienceNs = 200000000;

NativeThreadFacts FactsOf(pid_t pid, uint32_t thread) {
  NativeThreadFacts facts = {pid, ReadThreadStat(pid, thread)};
  if (thread == static_cast<uint32_t>(pid)) {
    // The name that threading gives it. So the event ring does not rename it.
    facts.stat.name = "MainThread";
  } else if (facts.stat.name.empty()) {
    facts.stat.name = "native thread";
  }
  return facts;
}

}  // namespace

uint32_t NativeThreadId(pid_t pid, uint32_t thread, uint64_t first_us,
                        DefinitionTable* definitions) {
  return definitions->NativeThread(thread, first_us,
                                   [&] { return FactsOf(pid, thread); });
}

bool HasItsName(pid_t pid, uint32_t thread, uint64_t time_ns, uint64_t now_ns,
                const DefinitionTable& definitions) {
  return thread == static_cast<uint32_t>(pid) ||
         definitions.HasNativeThread(thread) ||
         now_ns > time_ns + kNamePatienceNs;
}

}  // namespace pymemrun
