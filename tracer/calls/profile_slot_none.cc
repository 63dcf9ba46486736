// ProfileSlot and CallHooks where calls are not traced: no thread has a hook.
#include "tracer/calls/call_hooks.h"
#include "tracer/calls/profile_slot.h"

#ifdef PYMEMRUN_NO_CALLS
namespace pymemrun {

void ProfileSlot::ArmAll(PymemrunHook) {}
void ProfileSlot::DisarmAll() {}
void ProfileSlot::NameThreads(bool) {}
bool ProfileSlot::Watch(const SlotWatcher&) { return false; }
void ProfileSlot::Unwatch() {}
void ProfileSlot::Leave() {}
void ProfileSlot::OnGilTaken() {}

PymemrunHook CallHooks::hook(const EventLog&) { return nullptr; }

}  // namespace pymemrun
#endif  // PYMEMRUN_NO_CALLS
