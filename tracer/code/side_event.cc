#include "tracer/code/side_event.h"

#include <errno.h>

#include "tracer/code/own_stack.h"

namespace pymemrun {

bool PutWithStack(const SideFacts& facts) {
  const int saved_errno = errno;
  OwnStack stack;
  const size_t caller_bytes = facts.caller != nullptr ? sizeof(void*) : 0;
  const bool collecting =
      facts.kind == SideKind::kTouch && OwnStack::IsCollecting();
  SideItem item(facts.kind, stack.payload_bytes() + caller_bytes);
  if (item.ok()) {
    SideHead& head = item.head();
    head.flags = static_cast<uint16_t>(facts.flags | stack.flags() |
                                       (caller_bytes > 0 ? kSideCaller : 0) |
                                       (collecting ? kSideCollecting : 0));
    head.detail = stack.frames() | static_cast<uint32_t>(facts.detail) << 16;
    head.time_ns = facts.time_ns;
    head.address = facts.address;
    head.more = facts.more;
    head.extra = facts.extra;
    stack.PutInto(&item);
    item.Append(&facts.caller, caller_bytes);
    item.Commit();
  }
  errno = saved_errno;
  return item.ok();
}

}  // namespace pymemrun
