#include "collector/session/dump_asker.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "collector/process/monotonic_clock.h"
#include "format/trace.pb.h"

namespace pymemrun {

DumpAsker::DumpAsker(const DumpWishes& wishes, const Parts& parts)
    : in_(parts),
      moments_(wishes),
      orders_(parts.page, parts.reply, [fd = parts.pid_fd] {
        syscall(SYS_pidfd_send_signal, fd, kDumpSignal, nullptr, 0);
      }) {}

void DumpAsker::Ask(uint64_t now_ns, uint64_t rss_bytes) {
  const absl::optional<DumpReason> due = moments_.Due(now_ns, rss_bytes);
  if (due.has_value()) orders_.Ask(*due, now_ns);
  if (DumpOrders::WasAsked()) orders_.Ask(DumpReason::kOutside, now_ns);
  orders_.Follow(now_ns);
  if (!orders_.IsRefused()) return;
  orders_.Drop();
  Record record;
  ObjectsUnderWay* const answer = record.mutable_objects_under_way();
  answer->set_time_us(in_.clock->MicrosOfMonotonic(MonotonicNs()));
  answer->set_problem("objects of this version of Python cannot be dumped");
  in_.out->Write(record);
}

}  // namespace pymemrun
