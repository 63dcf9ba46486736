// Calls as slices on the tracks of threads.
#ifndef PYMEMRUN_READERS_TRACKS_CALL_TRACKS_H_
#define PYMEMRUN_READERS_TRACKS_CALL_TRACKS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/run/replay_visitor.h"
#include "readers/tracks/track_sink.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {

// If CALLs and RETURNs were logged regardless of RSS, a RETURN belongs to its
// thread's last CALL that has not ended. The same holds for calls of C
// functions, if all of their events were logged. Calls in progress are cut
// where rows were lost, or nothing was traced. A call is added as soon as it,
// or a call within it, is known to be long enough. So memory is that of the
// calls in progress.
//
// In other runs, RETURNs that know their CALL have both times. These calls are
// kept, at most kMaxEnded of them, and added at the end. Not thread safe.
class CallTracks final : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  // Bounds of memory: calls that are kept, and calls in progress.
  static constexpr size_t kMaxEnded = size_t{1} << 20;
  static constexpr size_t kMaxOpen = size_t{1} << 20;

  CallTracks(const SourceOptions& options, TrackSink* sink)
      : min_us_(options.min_us), sink_(*sink), threads_(&index(), sink) {}

  void OnHeader(const Header& header) override;
  void OnCode(const CodeDef& code) override;
  void OnFunction(const FunctionDef& function) override;
  void OnSite(const SiteDef& site) override;
  bool OnRows(const Row* rows, size_t count) override;
  void OnPause(const Pause&) override { CutAll(); }
  void OnProfilerGap(const ProfilerGap&) override { CutAll(); }
  void OnLoss(const Loss&) override { CutAll(); }
  void OnDamage(const StreamReader::Damage& damage) override;
  void OnFooter(const Footer& footer) override;
  void Finish() override;

  uint64_t given() const { return given_; }
  uint64_t too_short() const { return too_short_; }
  uint64_t cut() const { return cut_; }
  // What the tracks lack, in a sentence each. REQUIRES: Finish() was called.
  std::vector<std::string> Notes() const;

 private:
  static constexpr size_t kMaxSites = size_t{1} << 21;

  struct Site {
    uint64_t key = 0;   // of the code or the C function; 0: unknown
    uint32_t name = 0;  // 0: not requested yet
  };
  struct Open {
    uint64_t key, time_us, rss_bytes;
    uint32_t site;
  };
  struct Thread {
    std::vector<Open> open;
    size_t given = 0;  // of them; the outer ones
  };
  struct Ended {
    uint64_t begin_us, end_us, call_number;
    int64_t growth_bytes;
    uint32_t thread, site;
  };

  void AddRow(const Row& row);
  void Begin(const Row& row);
  void End(const Row& row);
  void EndTop(Thread* calls, uint32_t thread, const SliceEnd& end);
  void Cut(uint32_t thread, Thread* calls);
  void CutAll();
  void Keep(const Row& row);
  void GiveKept();
  Site SiteOf(uint32_t site) const;
  uint32_t NameOf(uint32_t site);

  const uint64_t min_us_;
  TrackSink& sink_;
  TrackThreads threads_;
  bool logs_calls_ = false, logs_all_ = false, has_greenlets_ = false,
       asked_for_ = false;  // calls are in the run
  // --events left out what starts or ends calls.
  bool lacks_kinds_ = false;
  bool has_c_calls_ = false;
  uint64_t next_number_ = 0, now_us_ = 0, open_count_ = 0;
  std::vector<Site> sites_;
  absl::flat_hash_map<uint64_t, uint32_t> names_;  // by key
  absl::flat_hash_map<uint32_t, Thread> open_;     // by first thread
  std::vector<Ended> ended_;
  uint64_t given_ = 0, too_short_ = 0, not_kept_ = 0, cut_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TRACKS_CALL_TRACKS_H_
