#include "readers/replay/calls/call_pairing.h"

#include "absl/strings/match.h"
#include "readers/replay/summary/run_facts.h"

namespace pymemrun {

void CallPairing::SetHeader(const Header& header) {
  logs_calls_ = CallsLoggedWhole(header.filters());
  logs_c_calls_ = OnlyCCallsLoggedWhole(header.filters());
  logs_all_ = EveryEventLogged(header.filters());
}

void CallPairing::Add(const CodeDef& code) {
  // Greenlets switch stacks within a thread, so its last open call need not be
  // the one that returns.
  has_greenlets_ |= absl::EndsWith(code.file(), "/greenlet/__init__.py");
}

void CallPairing::Add(const FunctionDef& function) {
  has_greenlets_ |= absl::StartsWith(function.qualname(), "greenlet.");
}

void CallPairing::Add(const SiteDef& site) {
  if (!logs_c_calls_ || site.function() == 0 || site.id() > kMaxSites) return;
  if (site.id() >= c_functions_.size()) {
    c_functions_.resize(site.id() + site.id() / 2 + 16);
  }
  c_functions_[site.id()] = site.function();
}

bool CallPairing::Begins(What what) const {
  return what == (logs_c_calls_ ? C_CALL : CALL);
}

bool CallPairing::Ends(What what) const {
  return logs_c_calls_ ? what == C_RETURN || what == C_EXCEPT : what == RETURN;
}

uint32_t CallPairing::CalleeOf(uint32_t site, const RunIndex& index) const {
  if (!logs_c_calls_) return index.CodeOf(site);
  return site < c_functions_.size() ? c_functions_[site] : 0;
}

void CallPairing::Forget() {
  open_.clear();
  depth_.clear();
  open_count_ = 0;
}

// A stack of open calls for each thread. Whatever may have hidden a CALL or a
// RETURN empties all of them: a wrong pair is worse than none.
std::optional<EndedCall> CallPairing::Add(const Row& row,
                                          const RunIndex& index) {
  if (row.call_events != 0 && !pairs_rows()) {
    // The RETURN has the CALL's figures: the tracer paired them itself.
    const int64_t thread_bytes = ThreadBytes(row, row.call_us);
    return EndedCall{
        .number = row.number,
        .events = row.call_events,
        .time_us = row.time_us,
        .took_us = row.call_us,
        .growth_bytes = row.call_drss,
        .site = row.site,
        .call_site = 0,
        .thread = row.thread,
        .thread_bytes = thread_bytes,
        .charged_bytes = charges_thread_ ? thread_bytes : row.call_drss};
  }
  if (!pairs_rows() || row.context) return std::nullopt;
  // A gap in event numbers: a row was lost, which may have been a CALL or a
  // RETURN.
  if (logs_all_ && row.number != next_number_) Forget();
  next_number_ = row.number + 1;
  // A renamed thread keeps its open calls.
  const uint32_t thread = index.FirstThread(row.thread);
  if (Begins(row.what)) Begin(row, thread, CalleeOf(row.site, index));
  if (Ends(row.what)) return End(row, thread, CalleeOf(row.site, index));
  return std::nullopt;
}

int64_t CallPairing::ThreadBytes(const Row& row, uint64_t took_us) const {
  if (threads_ == nullptr) return 0;
  return threads_->Between(row.thread, row.time_us - took_us, row.time_us);
}

void CallPairing::Begin(const Row& row, uint32_t thread, uint32_t callee) {
  if (open_count_ >= kMaxOpen) Forget();
  ++open_count_;
  open_[thread].push_back(
      {row.number, row.time_us, row.rss_bytes, 0, 0, row.site, callee});
  ++depth_[{thread, callee}];
}

void CallPairing::DropRaised(uint32_t thread, uint32_t callee,
                             std::vector<Open>* calls) {
  if (!depth_.contains({thread, callee})) return;
  for (; calls->back().callee != callee; calls->pop_back(), --open_count_) {
    Leave(thread, calls->back().callee);
  }
}

bool CallPairing::Leave(uint32_t thread, uint32_t callee) {
  const auto depth = depth_.find({thread, callee});
  if (--depth->second > 0) return true;
  depth_.erase(depth);
  return false;
}

// The file is not trusted: a RETURN may lack its CALL.
std::optional<EndedCall> CallPairing::End(const Row& row, uint32_t thread,
                                          uint32_t callee) {
  const auto found = open_.find(thread);
  if (found == open_.end()) return std::nullopt;
  std::vector<Open>& calls = found->second;
  if (logs_c_calls_) DropRaised(thread, callee, &calls);
  // The RETURN of another function: some row is missing.
  if (calls.back().callee != callee || callee == 0) {
    Forget();  // later rows cannot be trusted, either
    return std::nullopt;
  }
  const Open call = calls.back();
  calls.pop_back();
  --open_count_;
  const bool recursive = Leave(thread, callee);
  const auto growth = static_cast<int64_t>(row.rss_bytes - call.rss_bytes);
  const int64_t thread_bytes = ThreadBytes(row, row.time_us - call.time_us);
  if (calls.empty()) {
    open_.erase(found);
  } else {
    // What inner calls changed is not the outer call's own.
    calls.back().inner_bytes += growth;
    calls.back().inner_thread_bytes += thread_bytes;
  }
  const int64_t own = growth - call.inner_bytes;
  const int64_t own_thread = thread_bytes - call.inner_thread_bytes;
  return EndedCall{.number = row.number,
                   .events = row.number - call.number,
                   .time_us = row.time_us,
                   .took_us = row.time_us - call.time_us,
                   .growth_bytes = growth,
                   .site = row.site,
                   .call_site = call.site,
                   .thread = row.thread,
                   .thread_bytes = thread_bytes,
                   .own_bytes = own,
                   .own_thread_bytes = own_thread,
                   .charged_bytes = charges_thread_ ? thread_bytes : growth,
                   .own_charged_bytes = charges_thread_ ? own_thread : own,
                   .recursive = recursive};
}

// From the last RETURN to the first: an outer call is visited before the calls
// within it.
void Nest(const RunIndex& index, std::vector<EndedCall>* calls) {
  struct Outer {
    EndedCall* call;
    uint32_t code;
  };
  absl::flat_hash_map<uint32_t, std::vector<Outer>> by_thread;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> depth;
  for (auto call = calls->rbegin(); call != calls->rend(); ++call) {
    const uint32_t thread = index.FirstThread(call->thread);
    std::vector<Outer>& outer = by_thread[thread];
    // Calls that started after this one was entered are over: they are not
    // outer calls of it.
    while (!outer.empty() &&
           outer.back().call->call_number() > call->call_number()) {
      --depth[{thread, outer.back().code}];
      outer.pop_back();
    }
    call->own_bytes = call->growth_bytes;
    call->own_thread_bytes = call->thread_bytes;
    call->own_charged_bytes = call->charged_bytes;
    if (!outer.empty()) {
      outer.back().call->own_bytes -= call->growth_bytes;
      outer.back().call->own_thread_bytes -= call->thread_bytes;
      outer.back().call->own_charged_bytes -= call->charged_bytes;
    }
    const uint32_t code = index.CodeOf(call->site);
    call->recursive = depth[{thread, code}]++ > 0;
    outer.push_back({&*call, code});
  }
}

}  // namespace pymemrun
