#include "readers/tracks/call_tracks.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/replay/summary/run_facts.h"
#include "readers/tracks/track_source.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr int kAllKinds = 5;  // of events

bool IsOfC(What what) { return what != CALL && what != RETURN; }

}  // namespace

void CallTracks::OnHeader(const Header& header) {
  const bool only_c = OnlyCCallsLoggedWhole(header.filters());
  logs_calls_ = CallsLoggedWhole(header.filters()) || only_c;
  logs_all_ = EveryEventLogged(header.filters());
  has_c_calls_ = only_c || header.filters().kinds_size() == 0 ||
                 header.filters().kinds_size() == kAllKinds;
  asked_for_ = !header.calls_off();
  lacks_kinds_ = header.filters().min_drss_bytes() == 0 && !logs_calls_;
}

// Rows do not identify greenlets of a thread.
void CallTracks::OnCode(const CodeDef& code) {
  ReplayVisitor::OnCode(code);
  if (absl::EndsWith(code.file(), "/greenlet/__init__.py")) {
    CutAll();
    has_greenlets_ = true;
  }
}

void CallTracks::OnFunction(const FunctionDef& function) {
  ReplayVisitor::OnFunction(function);
  if (absl::StartsWith(function.qualname(), "greenlet.")) {
    CutAll();
    has_greenlets_ = true;
  }
}

void CallTracks::OnSite(const SiteDef& site) {
  ReplayVisitor::OnSite(site);
  if (site.id() == 0 || site.id() > kMaxSites) return;
  if (site.id() >= sites_.size()) sites_.resize(site.id() + 1);
  const bool of_c = IsOfC(site.what());
  const uint64_t id = of_c ? site.function() : site.code();
  // Codes and C functions have separate ids: odd keys are C functions.
  if (id != 0) sites_[site.id()].key = id * 2 + (of_c ? 1 : 0);
}

void CallTracks::OnDamage(const StreamReader::Damage& damage) {
  ReplayVisitor::OnDamage(damage);
  CutAll();
}

void CallTracks::OnFooter(const Footer& footer) {
  // Calls that did not return end with the run.
  now_us_ = std::max(now_us_, footer.end_us());
}

// Rows are in the order of events. Their times may descend a little between
// threads, so now_us_ is the latest one so far.
bool CallTracks::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) AddRow(rows[i]);
  return true;
}

void CallTracks::AddRow(const Row& row) {
  if (!logs_calls_ || has_greenlets_) {
    now_us_ = std::max(now_us_, row.time_us);
    if (row.call_events != 0) Keep(row);
    return;
  }
  // Calls of C functions are paired only if all of their events were logged.
  if (row.context || (IsOfC(row.what) && !has_c_calls_)) return;
  // A row was lost.
  if (logs_all_ && row.number != next_number_) CutAll();
  next_number_ = row.number + 1;
  now_us_ = std::max(now_us_, row.time_us);
  if (row.what == CALL || row.what == C_CALL) {
    Begin(row);
  } else {
    End(row);
  }
}

void CallTracks::Begin(const Row& row) {
  // Bounds memory: the calls in progress are cut.
  if (open_count_ >= kMaxOpen) CutAll();
  ++open_count_;
  open_[index().FirstThread(row.thread)].open.push_back(
      {SiteOf(row.site).key, now_us_, row.rss_bytes, row.site});
}

void CallTracks::End(const Row& row) {
  const uint32_t thread = index().FirstThread(row.thread);
  const auto found = open_.find(thread);
  if (found == open_.end() || found->second.open.empty()) return;
  const Open& call = found->second.open.back();
  const uint64_t key = SiteOf(row.site).key;
  // Later events cannot be trusted, either.
  if (key == 0 || call.key != key) return Cut(thread, &found->second);
  SliceEnd end;
  end.growth_bytes = static_cast<int64_t>(row.rss_bytes - call.rss_bytes);
  EndTop(&found->second, thread, end);
}

// Ends the innermost call. Calls around it that were not added yet are added
// first: they last at least as long.
void CallTracks::EndTop(Thread* calls, uint32_t thread, const SliceEnd& end) {
  std::vector<Open>& open = calls->open;
  // Too short, and so are all calls within it: none was added.
  if (now_us_ - open.back().time_us < min_us_) {
    ++too_short_;
  } else {
    const uint32_t track = threads_.TrackOf(thread);
    // The call is long enough, and so are those around it: add them, outer ones
    // first.
    for (; calls->given < open.size(); ++calls->given) {
      const Open& call = open[calls->given];
      sink_.Begin(track, call.time_us, NameOf(call.site));
    }
    sink_.End(track, now_us_, end);
    --calls->given;
    ++given_;
    cut_ += end.is_cut ? 1 : 0;
  }
  open.pop_back();
  --open_count_;
}

// The calls in progress end here, as their true ends are not recorded.
void CallTracks::Cut(uint32_t thread, Thread* calls) {
  SliceEnd end;
  end.is_cut = true;
  while (!calls->open.empty()) EndTop(calls, thread, end);
}

// By thread number, so that a file always gives the same trace.
void CallTracks::CutAll() {
  std::vector<uint32_t> threads;
  for (const auto& [thread, calls] : open_) threads.push_back(thread);
  std::sort(threads.begin(), threads.end());
  for (const uint32_t thread : threads) Cut(thread, &open_[thread]);
  open_.clear();
}

void CallTracks::Keep(const Row& row) {
  if (row.call_us < min_us_) {
    ++too_short_;
  } else if (ended_.size() >= kMaxEnded) {
    ++not_kept_;
  } else {
    // The RETURN has only the length of the call.
    const uint64_t begin_us = now_us_ - std::min(now_us_, row.call_us);
    ended_.push_back({begin_us, now_us_, row.number - row.call_events,
                      row.call_drss, index().FirstThread(row.thread),
                      row.site});
  }
}

// Outer calls first. In a damaged file an inner call may end after the call
// around it: it is cut there.
void CallTracks::GiveKept() {
  std::sort(ended_.begin(), ended_.end(), [](const Ended& a, const Ended& b) {
    return std::tie(a.thread, a.begin_us, b.end_us, a.call_number) <
           std::tie(b.thread, b.begin_us, a.end_us, b.call_number);
  });
  std::vector<const Ended*> open;
  const auto end_until = [&](uint64_t time_us) {
    while (!open.empty() && open.back()->end_us <= time_us) {
      SliceEnd end;
      end.growth_bytes = open.back()->growth_bytes;
      sink_.End(threads_.TrackOf(open.back()->thread), open.back()->end_us,
                end);
      open.pop_back();
    }
  };
  for (Ended& call : ended_) {
    const bool is_same = !open.empty() && open.back()->thread == call.thread;
    const bool is_empty = call.begin_us == call.end_us;
    // An empty call at the end of another one may be within it.
    end_until(!is_same ? kEnd
                       : call.begin_us - (is_empty && call.begin_us > 0));
    if (!open.empty()) call.end_us = std::min(call.end_us, open.back()->end_us);
    sink_.Begin(threads_.TrackOf(call.thread), call.begin_us,
                NameOf(call.site));
    open.push_back(&call);
    ++given_;
  }
  end_until(kEnd);
  ended_.clear();
}

void CallTracks::Finish() {
  CutAll();
  GiveKept();
}

CallTracks::Site CallTracks::SiteOf(uint32_t site) const {
  return site < sites_.size() ? sites_[site] : Site();
}

// Sites of one function share a name.
uint32_t CallTracks::NameOf(uint32_t site) {
  const uint64_t key = SiteOf(site).key;
  uint32_t& name = names_[key];
  if (name != 0) return name;
  SliceName slice;
  const SourceLocation where = index().Resolve(site);
  if (key == 0) {
    slice.name = "?";
    return name = sink_.AddName(slice);
  }
  if (IsOfC(where.kind)) {
    slice.kind = SliceName::kC;
    slice.name = where.function;
    return name = sink_.AddName(slice);
  }
  slice.kind = OwnCode::KindOf(where.file) == OwnCode::kLibrary
                   ? SliceName::kLibrary
                   : SliceName::kOwn;
  slice.name = where.qualname;
  slice.file = where.file;
  slice.line = where.first_line;
  return name = sink_.AddName(slice);
}

std::vector<std::string> CallTracks::Notes() const {
  std::vector<std::string> notes;
  const uint64_t all = given_ + too_short_ + not_kept_;
  if (asked_for_ && all == 0) {
    notes.push_back(
        lacks_kinds_
            ? "it has no calls: --events left out calls or returns"
            : "it has no calls: pymemrun --min-drss 0 or --min-call-drss "
              "records how long calls took");
  }
  if (too_short_ > 0) {
    notes.push_back(absl::StrCat(
        Grouped(given_), " of ", Counted(all, "call"), " written; ",
        Grouped(too_short_), " were shorter than ", MinDurationText(min_us_)));
  }
  if (not_kept_ > 0) {
    notes.push_back(absl::StrCat(Counted(not_kept_, "call"), " did not fit"));
  }
  if (cut_ > 0) {
    notes.push_back(
        absl::StrCat("the end was not recorded for ", Counted(cut_, "call"),
                     ": they end with the run, or where events are missing"));
  }
  if (has_greenlets_) {
    notes.push_back(
        "the program has greenlets, which rows do not distinguish: their calls "
        "are left out");
  }
  return notes;
}

std::unique_ptr<TrackSource> NewCallSource(const SourceOptions& options) {
  return std::make_unique<ReadOnce<CallTracks>>(options);
}

}  // namespace pymemrun
