#include "readers/replay/calls/call_replay.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/replay/summary/run_facts.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// The filters that leave out whole calls: "--include and --thread".
std::string ChoosingOptions(const Filters& filters) {
  std::vector<absl::string_view> options;
  if (filters.include_size() > 0) options.push_back("--include");
  if (filters.exclude_size() > 0) options.push_back("--exclude");
  if (filters.function_size() > 0) options.push_back("--function");
  if (filters.thread_size() > 0) options.push_back("--thread");
  return absl::StrJoin(options, ", ");
}

}  // namespace

void CallReplay::OnHeader(const Header& header) {
  pairing_.SetHeader(header);
  min_bytes_ = header.filters().min_call_drss_bytes();
  lacks_kinds_ = header.filters().min_drss_bytes() == 0 && !MayKnow(header);
  left_out_ = ChoosingOptions(header.filters());
  start_unix_us_ = header.start_realtime_ns() / 1000;
  calls_off_ = header.calls_off();
}

void CallReplay::OnCode(const CodeDef& code) {
  ReplayVisitor::OnCode(code);
  pairing_.Add(code);
}

void CallReplay::OnFunction(const FunctionDef& function) {
  ReplayVisitor::OnFunction(function);
  pairing_.Add(function);
}

void CallReplay::OnSite(const SiteDef& site) {
  ReplayVisitor::OnSite(site);
  pairing_.Add(site);
}

void CallReplay::OnDamage(const StreamReader::Damage& damage) {
  ReplayVisitor::OnDamage(damage);
  pairing_.Forget();
}

// Rows are in the order of events, not quite of times: the latest time that
// ends a batch counts.
bool CallReplay::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const std::optional<EndedCall> call = pairing_.Add(rows[i], index());
    if (!call.has_value()) continue;
    const uint32_t thread = index().FirstThread(call->thread);
    if (!any_) first_thread_ = thread;
    if (threads_seen_ < 2) threads_seen_ = thread == first_thread_ ? 1 : 2;
    any_ = true;
    OnEnded(*call);
  }
  if (count == 0) return true;
  if (!any_row_) first_us_ = rows[0].time_us;
  any_row_ = true;
  last_us_ = std::max(last_us_, rows[count - 1].time_us);
  return true;
}

bool CallReplay::MayKnow(const Header& header) {
  return CallsLoggedWhole(header.filters()) ||
         OnlyCCallsLoggedWhole(header.filters()) ||
         header.filters().min_call_drss_bytes() > 0;
}

// The most specific reason first: what the user can change by recording anew.
std::string CallReplay::WhyNone() const {
  constexpr absl::string_view kHowTo =
      "record the run with pymemrun --min-call-drss 4096";
  if (calls_off_) return absl::StrCat("has no calls; ", kHowTo);
  if (min_bytes_ > 0) {
    return absl::StrCat("the file has no call in which RSS changed by ",
                        HumanBytes(min_bytes_), " or more");
  }
  if (pairing_.pairs_rows()) {
    return absl::StrCat("no call has ended in the run",
                        left_out_.empty() ? "" : " that passed ", left_out_);
  }
  if (pairing_.has_greenlets()) {
    return absl::StrCat(
        "the program has greenlets, which rows do not distinguish; ", kHowTo);
  }
  if (lacks_kinds_) {
    return "--events left out calls or returns; record the run "
           "with --events call,return or without --events";
  }
  return absl::StrCat("the run does not say which CALL each RETURN ended; ",
                      kHowTo, ", or with --min-drss 0 for all calls");
}

// Where calls are found by pairing rows, none is missing for its size.
std::string CallReplay::Missing() const {
  std::string missing;
  if (!pairing_.pairs_rows()) {
    missing = absl::StrCat(
        "calls in which the process's RSS changed by less "
        "than ",
        HumanBytes(min_bytes_));
  }
  if (left_out_.empty()) return missing;
  return absl::StrCat(missing, missing.empty() ? "calls" : ", or", " that ",
                      left_out_, " left out");
}

void PeakReplay::OnEnded(const EndedCall& call) {
  if (IsBeyond(call, rule_.min_bytes) && filter_.KeepsSite(call.site) &&
      calls_.size() < kMaxCalls) {
    calls_.push_back(call);
  }
}

// Threads are filtered only now: a thread may have got its name after the call.
std::vector<EndedCall> PeakReplay::Peaks() {
  std::vector<EndedCall> calls;
  for (const EndedCall& call : calls_) {
    if (filter_.Keeps(call)) calls.push_back(call);
  }
  return ChoosePeaks(calls, rule_, run_us());
}

}  // namespace pymemrun
