// Finds the CALL of each RETURN. If a run recorded only calls of C functions,
// finds the C_CALL of each C_RETURN and C_EXCEPT.
#ifndef PYMEMRUN_READERS_REPLAY_CALLS_CALL_PAIRING_H_
#define PYMEMRUN_READERS_REPLAY_CALLS_CALL_PAIRING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "format/records/record_visitor.h"
#include "readers/replay/threads/thread_drss.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// A call that has ended, and the change of RSS during it.
struct EndedCall {
  uint64_t number;   // of the RETURN event
  uint64_t events;   // from the CALL event to the RETURN event
  uint64_t time_us;  // of the RETURN
  uint64_t took_us;
  int64_t growth_bytes;  // RSS at the RETURN minus RSS at the CALL
  uint32_t site;         // of the RETURN
  uint32_t call_site;    // of the CALL; 0: not in the file
  uint32_t thread;
  // The change of RSS by its thread during it; 0: unknown (see CallReplay).
  int64_t thread_bytes = 0;
  // The same without what known calls within it changed.
  int64_t own_bytes = 0, own_thread_bytes = 0;
  // The figures that reports show: the thread's if they are known and wanted,
  // otherwise the process's.
  int64_t charged_bytes = 0, own_charged_bytes = 0;
  // It is within another call of the same function.
  bool recursive = false;

  uint64_t call_number() const { return number - events; }
};

// If CALLs and RETURNs were logged regardless of RSS, a RETURN belongs to its
// thread's last CALL that has not ended and has the same code. Other filters
// leave out both events of a call. After lost rows, or time that was not
// traced, calls that started before are unknown. Rows do not identify
// greenlets, so in a run with greenlets all calls are unknown.
//
// In other runs the RETURN row itself has the call's figures. Not thread safe.
class CallPairing {
 public:
  void SetHeader(const Header& header);
  // All definitions must be added.
  void Add(const CodeDef& code);
  void Add(const FunctionDef& function);
  void Add(const SiteDef& site);
  // Returns the call that the row ends, if it is known. If the RETURN row has
  // the figures itself, `own_bytes` and `recursive` are unknown.
  std::optional<EndedCall> Add(const Row& row, const RunIndex& index);
  // Provides EndedCall.thread_bytes; must outlive all calls of Add().
  // `charges_thread`: EndedCall.charged_bytes is the thread's.
  void SetThreads(const ThreadDrss* threads, bool charges_thread) {
    threads_ = threads;
    charges_thread_ = charges_thread;
  }
  // Events were not traced: calls in progress become unknown.
  void Forget();

  // Whether an event of this kind ends a call.
  bool Ends(What what) const;
  // Whether calls are found by pairing rows.
  bool pairs_rows() const {
    return (logs_calls_ || logs_c_calls_) && !has_greenlets_;
  }
  bool has_greenlets() const { return has_greenlets_; }

 private:
  // With more calls in progress, older ones become unknown.
  static constexpr size_t kMaxOpen = size_t{1} << 20;
  static constexpr size_t kMaxSites = size_t{1} << 21;

  struct Open {
    uint64_t number, time_us, rss_bytes;
    int64_t inner_bytes, inner_thread_bytes;  // of the calls within it
    uint32_t site, callee;
  };
  bool Begins(What what) const;
  // The function called: a code, or a C function. 0: unknown.
  uint32_t CalleeOf(uint32_t site, const RunIndex& index) const;
  // `thread`: see RunIndex::FirstThread().
  void Begin(const Row& row, uint32_t thread, uint32_t callee);
  // Removes C calls that raised: if C_EXCEPT was not logged, they have no end.
  void DropRaised(uint32_t thread, uint32_t callee, std::vector<Open>* calls);
  // Counts a call as ended. Returns whether other calls of the callee are open.
  bool Leave(uint32_t thread, uint32_t callee);
  int64_t ThreadBytes(const Row& row, uint64_t took_us) const;
  std::optional<EndedCall> End(const Row& row, uint32_t thread,
                               uint32_t callee);

  const ThreadDrss* threads_ = nullptr;
  bool charges_thread_ = false;
  bool logs_calls_ = false, logs_c_calls_ = false, logs_all_ = false;
  bool has_greenlets_ = false;
  uint64_t next_number_ = 0;
  size_t open_count_ = 0;
  std::vector<uint32_t> c_functions_;  // by site, if only C calls are logged
  absl::flat_hash_map<uint32_t, std::vector<Open>> open_;  // by thread
  // The number of a thread's open calls of each callee.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> depth_;
};

// Computes own_bytes and recursive. REQUIRES: `calls` are all calls, in the
// order of their RETURNs.
void Nest(const RunIndex& index, std::vector<EndedCall>* calls);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_CALL_PAIRING_H_
