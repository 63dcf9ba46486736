// When dumps of the program's objects are due, and how it is asked for them
// (tracer/wire/reply_page.h).
#ifndef PYMEMRUN_COLLECTOR_PROCESS_DUMP_ORDERS_H_
#define PYMEMRUN_COLLECTOR_PROCESS_DUMP_ORDERS_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/types/optional.h"
#include "tracer/wire/dump_order.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// What the launch text says of them; 0 and false: no such moment.
struct DumpWishes {
  uint64_t every_ms = 0;
  uint64_t rss_above_bytes = 0;
  bool at_peak = false;
};

// At which moments the program is asked. Not thread safe.
class DumpMoments {
 public:
  explicit DumpMoments(DumpWishes wishes) : wishes_(wishes) {}

  // Why a dump is due at this time, with RSS as it is (0: not known), if one
  // is. To be called often, with times that do not sink.
  absl::optional<DumpReason> Due(uint64_t now_ns, uint64_t rss_bytes);

 private:
  bool IsTime(uint64_t now_ns);
  bool RoseAbove(uint64_t rss_bytes);
  bool IsNewPeak(uint64_t now_ns, uint64_t rss_bytes);

  const DumpWishes wishes_;
  uint64_t next_ns_ = 0;     // when every_ms is due; 0: not set yet
  bool above_ = false;       // RSS was, when it was last seen
  uint64_t peak_bytes_ = 0;  // at the last dump for its sake...
  uint64_t peak_ns_ = 0;     // ...and when that was
};

// Not thread safe. What the program says on `page` is only compared.
class DumpOrders {
 public:
  // `send` signals the program. `page` and `reply` must outlive this.
  DumpOrders(const ControlPage* page, ReplyPage* reply,
             std::function<void()> send)
      : page_(page), reply_(reply), send_(std::move(send)) {}

  // Orders a dump, unless the program has one to make that does as well: one
  // order is open at a time, and one from outside comes before all others.
  void Ask(DumpReason reason, uint64_t now_ns);

  // Sends the signal again where the program has not heard the order, or waited
  // for another dump to end; ever more rarely where it heard it and has not
  // come to make the dump. To be called often.
  void Follow(uint64_t now_ns);

  // Whether an order is open that the program will not take.
  bool IsRefused() const;
  // The open order is dropped.
  void Drop() { dropped_ = reply_->dump_order.load(); }

  // The signal that somebody else sends to this process to have a dump made.
  // Catch is to be called before other threads begin. WasAsked says whether it
  // came since the last call.
  static void Catch();
  static bool WasAsked();

 private:
  bool IsOpen() const;
  void Send(uint64_t now_ns);

  const ControlPage* const page_;
  ReplyPage* const reply_;
  const std::function<void()> send_;
  uint32_t dropped_ = 0;
  int sent_ = 0;  // signals of the open order
  uint64_t sent_ns_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_DUMP_ORDERS_H_
