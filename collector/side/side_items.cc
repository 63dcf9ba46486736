#include "collector/side/side_items.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

// Limit of items that wait for the header of the file. More items stay in the
// ring.
constexpr size_t kMaxEarlyBytes = size_t{64} << 20;

const SideContinued* CellsOf(const ControlPage* page) {
  return reinterpret_cast<const SideContinued*>(
      reinterpret_cast<const char*>(page) + SideRingOffset(*page));
}

// tgkill() with signal 0 only asks. /proc would not do: it may be of another
// PID namespace.
bool HasThread(pid_t pid, uint32_t thread) {
  return syscall(SYS_tgkill, pid, thread, 0) == 0 || errno == EPERM;
}

}  // namespace

SideItems::SideItems(const ControlPage* page, ReplyPage* reply, pid_t pid,
                     DefinitionTable* definitions, RecordSink* out)
    : page_(page),
      main_thread_(static_cast<uint32_t>(pid)),
      reader_(page, CellsOf(page), reply,
              [pid](uint32_t thread) { return HasThread(pid, thread); }),
      stacks_(definitions),
      mappings_(pid, out) {}

// Definitions need the file's header before them. So until Start() whole items
// are kept, with a copy of their payload.
size_t SideItems::Drain(uint64_t now_ns, bool last) {
  if (!started_ && early_bytes_ >= kMaxEarlyBytes) return 0;
  return reader_.Drain(now_ns, last, [this, now_ns](SideItemView item) {
    // A time in the future is clamped. Items that wait for their time would
    // wait for ever.
    if (item.time_ns > now_ns && !HasStamps(item.kind)) {
      item.time_ns = std::min(item.time_ns, MonotonicNs());
    }
    if (started_) return Give(item);
    early_items_.push_back({item, std::string(item.payload)});
    early_bytes_ += sizeof(EarlyItem) + item.payload.size();
  });
}

void SideItems::Start() {
  started_ = true;
  for (EarlyItem& early : early_items_) {
    early.item.payload = early.payload;
    Give(early.item);
  }
  std::vector<EarlyItem>().swap(early_items_);
}

void SideItems::Subscribe(SideTaker* taker,
                          std::initializer_list<SideKind> kinds) {
  for (const SideKind kind : kinds) {
    takers_[static_cast<size_t>(kind)].push_back(taker);
  }
}

// The stack is made once, also for several takers.
void SideItems::Give(const SideItemView& item) {
  const auto& takers = takers_[static_cast<size_t>(item.kind)];
  if (takers.empty()) return Define(item);
  const uint32_t stack = HasStack(item.kind) ? StackOf(item) : 0;
  for (SideTaker* const taker : takers) taker->TakeItem(item, stack);
}

void SideItems::Define(const SideItemView& item) {
  if (item.kind == SideKind::kCode) {
    stacks_.Define(item);
  } else if (item.kind == SideKind::kCodeGone) {
    stacks_.Forget(static_cast<uint32_t>(item.As<SideCodeGone>().id));
  } else if (item.kind == SideKind::kFileMapped) {
    const auto file = item.As<SideFileMapped>();
    const AddressRange range = {file.address, file.address + file.bytes};
    if (item.payload.empty()) {
      mappings_.Moved(file.from, range, item.time_ns);
    } else {
      mappings_.Came(range, item.payload, item.time_ns);
    }
  }
}

bool SideItems::Lives(uint32_t thread) const {
  return HasThread(static_cast<pid_t>(main_thread_), thread);
}

uint32_t SideItems::StackOf(const SideItemView& item) {
  if ((item.flags & kSideTracing) != 0) {
    return stacks_.Special(SpecialStack::kTracing);
  }
  return stacks_.StackOf(item, item.thread == main_thread_);
}

}  // namespace pymemrun
