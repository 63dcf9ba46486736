#include "collector/process/dump_orders.h"

#include <signal.h>

#include <algorithm>
#include <atomic>

namespace pymemrun {
namespace {

// A new dump at a peak is worth it if RSS is higher than at the last one by
// this much. It comes no more often than this, because a dump stops the program
// for some milliseconds. A peak higher by half waits less, because it may soon
// be over.
constexpr uint64_t kPeakBytes = uint64_t{16} << 20;
constexpr uint64_t kPeakNs = 2000000000;
constexpr uint64_t kHighPeakNs = 500000000;

// How long an order may stay unheard, and how long the program may wait for
// another dump, until the signal is sent again.
constexpr uint64_t kUnheardNs = 1000000000;
constexpr uint64_t kWaitsNs = 250000000;
// A signal that comes right before a call that blocks does not end that call:
// the next one does. Each may cut short a wait in an extension's C code, so
// they are few.
constexpr int kMostDoublings = 6;

std::atomic<bool> g_was_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void OnAsked(int) { g_was_asked.store(true); }

TakesDumps Takes(const ControlPage& page) {
  return static_cast<TakesDumps>(
      page.dumps.takes.load(std::memory_order_acquire));
}

}  // namespace

void DumpOrders::Catch() {
  // SIGURG is ignored by default, so it does no harm to a collector without
  // this handler.
  struct sigaction action = {};
  action.sa_handler = OnAsked;
  action.sa_flags = SA_RESTART;
  sigaction(SIGURG, &action, nullptr);
}

bool DumpOrders::WasAsked() { return g_was_asked.exchange(false); }

bool DumpOrders::IsOpen() const {
  const uint32_t order = reply_->dump_order.load(std::memory_order_relaxed);
  return order != 0 && order != dropped_ &&
         order != page_->dumps.taken.load(std::memory_order_acquire);
}

bool DumpOrders::IsRefused() const {
  return IsOpen() && Takes(*page_) == TakesDumps::kNo;
}

// An open order does as well as a new one, except that an order from outside
// replaces one that the collector made itself.
void DumpOrders::Ask(DumpReason reason, uint64_t now_ns) {
  const uint32_t order = reply_->dump_order.load(std::memory_order_relaxed);
  const bool is_outside = reason == DumpReason::kOutside;
  if (IsOpen() &&
      (!is_outside || ReasonOfOrder(order) == DumpReason::kOutside)) {
    return;
  }
  // Pairs with the acquire in the program's handler.
  reply_->dump_order.store(NextDumpOrder(order, reason),
                           std::memory_order_release);
  sent_ = 0;
  Follow(now_ns);
}

// If the order was heard, the signal only has to interrupt a blocking call. So
// the patience doubles with each signal, from 1 s to 64 s.
void DumpOrders::Follow(uint64_t now_ns) {
  if (!IsOpen() || Takes(*page_) != TakesDumps::kYes) return;
  const uint32_t order = reply_->dump_order.load(std::memory_order_relaxed);
  const DumpAnswers& said = page_->dumps;
  const bool heard = said.heard.load(std::memory_order_acquire) == order;
  const bool waits = said.waits.load(std::memory_order_acquire) == order;
  const int doublings = heard ? std::clamp(sent_ - 1, 0, kMostDoublings) : 0;
  const uint64_t patience_ns = waits ? kWaitsNs : kUnheardNs << doublings;
  if (sent_ > 0 && now_ns - sent_ns_ < patience_ns) return;
  Send(now_ns);
}

void DumpOrders::Send(uint64_t now_ns) {
  ++sent_;
  sent_ns_ = now_ns;
  // After an exec the signal would kill the new program. Pairs with
  // RequestSignal::BeforeExec: one of the two sees the other.
  reply_->sends_order.store(1, std::memory_order_seq_cst);
  if (page_->exec_pending.load(std::memory_order_seq_cst) == 0 &&
      page_->finalize_ns.load(std::memory_order_acquire) == 0) {
    send_();
  }
  reply_->sends_order.store(0, std::memory_order_release);
}

// Missed periods are skipped: the next one counts from now.
bool DumpMoments::IsTime(uint64_t now_ns) {
  const uint64_t period_ns = wishes_.every_ms * 1000000;
  if (period_ns == 0) return false;
  if (next_ns_ == 0) next_ns_ = now_ns + period_ns;
  if (now_ns < next_ns_) return false;
  next_ns_ = now_ns + period_ns;
  return true;
}

// Only the step from below to above the threshold counts.
bool DumpMoments::RoseAbove(uint64_t rss_bytes) {
  if (wishes_.rss_above_bytes == 0) return false;
  const bool was_above = above_;
  above_ = rss_bytes > wishes_.rss_above_bytes;
  return above_ && !was_above;
}

bool DumpMoments::IsNewPeak(uint64_t now_ns, uint64_t rss_bytes) {
  if (!wishes_.at_peak ||
      rss_bytes < peak_bytes_ + std::max(kPeakBytes, peak_bytes_ / 10)) {
    return false;
  }
  const bool is_high = rss_bytes >= peak_bytes_ + peak_bytes_ / 2;
  if (peak_ns_ != 0 && now_ns < peak_ns_ + (is_high ? kHighPeakNs : kPeakNs)) {
    return false;
  }
  peak_bytes_ = rss_bytes;
  peak_ns_ = now_ns;
  return true;
}

// All three are asked, as each remembers what it has seen.
absl::optional<DumpReason> DumpMoments::Due(uint64_t now_ns,
                                            uint64_t rss_bytes) {
  const bool is_time = IsTime(now_ns);
  const bool rose = rss_bytes != 0 && RoseAbove(rss_bytes);
  const bool is_peak = rss_bytes != 0 && IsNewPeak(now_ns, rss_bytes);
  if (rose) return DumpReason::kRssAbove;
  if (is_time) return DumpReason::kEvery;
  if (is_peak) return DumpReason::kAtPeak;
  return absl::nullopt;
}

}  // namespace pymemrun
