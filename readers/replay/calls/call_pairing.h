// Finds the CALL of each RETURN. Of a run that has calls of C functions alone,
// the C_CALL of each C_RETURN and C_EXCEPT.
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

// A call that has ended, with what RSS changed by meanwhile.
struct EndedCall {
  uint64_t number;   // of its RETURN
  uint64_t events;   // how many events before that its CALL was
  uint64_t time_us;  // of the RETURN
  uint64_t took_us;
  int64_t growth_bytes;  // RSS at the RETURN less RSS at the CALL
  uint32_t site;         // of the RETURN
  uint32_t call_site;    // of the CALL; 0: not in the file
  uint32_t thread;
  // What its thread did to RSS meanwhile; 0: not known (see CallReplay).
  int64_t thread_bytes = 0;
  // What of its growth, and of its thread's, is not that of the calls in it, as
  // far as these are known.
  int64_t own_bytes = 0, own_thread_bytes = 0;
  // Of these two pairs the one that reports speak of: the thread's where it is
  // known and wanted, else the process's.
  int64_t charged_bytes = 0, own_charged_bytes = 0;
  // It is part of another call of the same code.
  bool recursive = false;

  uint64_t call_number() const { return number - events; }
};

// Where CALLs and RETURNs were logged whatever RSS did, a RETURN belongs to the
// thread's last CALL that has not ended, whose code is the same. What other
// filters left out is missing on both sides. Rows that were lost, or what was
// not traced, make unknown what had begun before. Rows do not tell greenlets of
// one thread apart: with them nothing is known.
//
// Elsewhere a RETURN says itself what it knows. Not thread safe.
class CallPairing {
 public:
  void SetHeader(const Header& header);
  // All that is defined is to be told.
  void Add(const CodeDef& code);
  void Add(const FunctionDef& function);
  void Add(const SiteDef& site);
  // The ended call, if the row ends one that is known. Where a
  // RETURN says it itself `own_bytes` and `recursive` are not known.
  std::optional<EndedCall> Add(const Row& row, const RunIndex& index);
  // Tells EndedCall.thread_bytes. It must outlive what calls Add().
  // `charges_thread`: EndedCall.charged_bytes is the thread's.
  void SetThreads(const ThreadDrss* threads, bool charges_thread) {
    threads_ = threads;
    charges_thread_ = charges_thread;
  }
  // Events were not traced: calls under way are unknown.
  void Forget();

  // Whether such an event ends a call.
  bool Ends(What what) const;
  // Whether the rows themselves tell.
  bool pairs_rows() const {
    return (logs_calls_ || logs_c_calls_) && !has_greenlets_;
  }
  bool has_greenlets() const { return has_greenlets_; }

 private:
  // Beyond so many calls under way those before are unknown.
  static constexpr size_t kMaxOpen = size_t{1} << 20;
  static constexpr size_t kMaxSites = size_t{1} << 21;

  struct Open {
    uint64_t number, time_us, rss_bytes;
    int64_t inner_bytes, inner_thread_bytes;  // of the calls in it
    uint32_t site, callee;
  };
  bool Begins(What what) const;
  // What is called: a code, or a function in C. 0: not known.
  uint32_t CalleeOf(uint32_t site, const RunIndex& index) const;
  // `thread`: see RunIndex::FirstThread().
  void Begin(const Row& row, uint32_t thread, uint32_t callee);
  // Calls in C that raised have no end where C_EXCEPT was not logged.
  void DropRaised(uint32_t thread, uint32_t callee, std::vector<Open>* calls);
  // Counts a call that is no more. Whether others of the callee are under way.
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
  std::vector<uint32_t> c_functions_;  // by site, where only these are logged
  absl::flat_hash_map<uint32_t, std::vector<Open>> open_;  // by thread
  // How many of a thread's open calls are of a callee.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> depth_;
};

// Finds what is a call's own, and recursive, of calls that are all there are,
// in the order of their RETURNs.
void Nest(const RunIndex& index, std::vector<EndedCall>* calls);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_CALL_PAIRING_H_
