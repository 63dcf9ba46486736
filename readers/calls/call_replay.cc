#include "readers/calls/call_replay.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "readers/summary/run_facts.h"
#include "text/report_text.h"

namespace pymemrun {

void CallReplay::OnHeader(const Header& header) {
  pairing_.SetHeader(header);
  Filters others = header.filters();
  min_bytes_ = others.min_call_drss_bytes();
  others.set_min_drss_bytes(0);
  chosen_ = !EveryEventLogged(others);
}

void CallReplay::OnCode(const CodeDef& code) {
  ReplayVisitor::OnCode(code);
  pairing_.Add(code);
}

void CallReplay::OnFunction(const FunctionDef& function) {
  ReplayVisitor::OnFunction(function);
  pairing_.Add(function);
}

void CallReplay::OnDamage(const StreamReader::Damage& damage) {
  ReplayVisitor::OnDamage(damage);
  pairing_.Forget();
}

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
  return EveryEventLogged(header.filters()) ||
         header.filters().min_call_drss_bytes() > 0;
}

std::string CallReplay::WhyNone() const {
  if (min_bytes_ > 0) {
    return absl::StrCat("no call is in the file in which RSS changed by ",
                        HumanBytes(min_bytes_), " or more");
  }
  return absl::StrCat(
      "no RETURN knows its CALL: ",
      pairing_.has_greenlets() && !pairing_.pairs_rows()
          ? "the program has greenlets, which rows do not tell apart; "
          : "",
      "record the run with --min-call-drss 4096",
      pairing_.has_greenlets() ? "" : ", or with --min-drss 0");
}

std::string CallReplay::Missing() const {
  if (pairing_.pairs_rows()) return "";
  return absl::StrCat("calls in which the process's RSS changed by less than ",
                      HumanBytes(min_bytes_),
                      chosen_ ? ", or that other filters left out" : "");
}

void PeakReplay::OnEnded(const EndedCall& call) {
  if (IsBeyond(call, rule_.min_bytes) && calls_.size() < kMaxCalls) {
    calls_.push_back(call);
  }
}

}  // namespace pymemrun
