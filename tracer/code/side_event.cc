#include "tracer/code/side_event.h"

#include <errno.h>

#include "tracer/code/own_stack.h"

namespace pymemrun {

// The stack is read before the item is reserved. Defining its code objects
// takes items of its own, which must come before this one.
bool PutCellWithStack(const SideHead& head, const void* caller) {
  const int saved_errno = errno;
  OwnStack stack;
  const size_t caller_bytes = caller != nullptr ? sizeof(void*) : 0;
  const bool collecting =
      head.kind == SideKind::kTouch && OwnStack::IsCollecting();
  SideItem item(head.kind, stack.payload_bytes() + caller_bytes);
  if (item.ok()) {
    SideAny& sent = item.head<SideAny>();
    sent.flags = static_cast<uint16_t>(head.flags | stack.flags() |
                                       (caller_bytes > 0 ? kSideCaller : 0) |
                                       (collecting ? kSideCollecting : 0));
    sent.detail = SideHead::Detail(stack.frames(), head.what());
    sent.time_ns = head.time_ns;
    __builtin_memcpy(sent.words, &head + 1, sizeof(sent.words));
    stack.PutInto(&item);
    item.Append(&caller, caller_bytes);
    item.Commit();
  }
  errno = saved_errno;
  return item.ok();
}

}  // namespace pymemrun
