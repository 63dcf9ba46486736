// Calls by which resident memory leaves, or comes without a fault. Each is
// forwarded to the kernel or to libc first; the sign is given after it, so that
// the gauge reads what it did.
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tracer/base/interposed_state.h"
#include "tracer/gauge/rss_gauge.h"
#include "tracer/heap/heap_parts.h"
#include "tracer/pages/heap_end_watch.h"
#include "tracer/pages/range_events.h"

namespace pymemrun {
namespace {

// Whether freeing `block` may unmap memory by calls inside glibc. Either the
// block has its own mapping: it starts 16 bytes into a page, and the word
// before it has bit 1 set. Or it is not small and is in a heap of a thread: bit
// 2 of that word, which is the size of the block. Reads only the page of the
// block, so it is safe with blocks of any allocator; for another allocator it
// causes at worst one read of statm too many, or one up to 50 us later.
inline bool MayUnmap(const void* block) {
  constexpr size_t kMapped = 2, kOfThread = 4, kNotSmall = size_t{16} << 10;
  const uintptr_t offset = reinterpret_cast<uintptr_t>(block) & 0xfff;
  if (offset < 0x10) return false;  // null among others
  const size_t word = static_cast<const size_t*>(block)[-1];
  return (offset == 0x10 && (word & kMapped) != 0) ||
         ((word & kOfThread) != 0 && word >= kNotSmall);
}

// These addresses are about to be released or reused. If they hold the gauge's
// counters, the gauge must stop reading them first.
void Unmapping(const void* start, size_t length) {
  RssGauge* const gauge = Hot().parts.gauge;
  if (gauge == nullptr || !gauge->AreCounters(start, length)) return;
  if (TracedPage() != nullptr) gauge->CountersGo(Hot());
}

// MADV_FREE is left out: its pages stay until memory is short (madvise(2)).
bool Discards(int advice) {
  return advice == MADV_DONTNEED || advice == MADV_REMOVE;
}

bool Populates(int advice) {
  constexpr int kPopulateRead = 22, kPopulateWrite = 23;  // Linux 5.14
  return advice == kPopulateRead || advice == kPopulateWrite;
}

// Dated after the call. Only releases need the time before the call.
void AddPopulated(const void* start, size_t length) {
  RangeEvents().Add(RangeAction::kPopulated, start, length);
}

// free() and realloc() with page events. The block's head is read before the
// call, which releases it.
[[gnu::noinline, gnu::cold]] void FreeWithEvents(void* block) {
  const MappedBlock mapping = MappedBlockOf(block);
  if (mapping.bytes > 0) {
    const RangeEvents events;
    PYMEMRUN_NEXT(free)(block);
    events.Add(RangeAction::kUnmapped, mapping.start, mapping.bytes);
    return;
  }
  const HeapEndWatch end(&g_heap_ends, block);
  PYMEMRUN_NEXT(free)(block);
  end.AddLeft();
}

[[gnu::noinline, gnu::cold]] void* ReallocWithEvents(void* block, size_t size) {
  const MappedBlock old = MappedBlockOf(block);
  if (old.bytes == 0) {
    const HeapEndWatch end(&g_heap_ends, block, size);
    void* result = PYMEMRUN_NEXT(realloc)(block, size);
    end.AddLeft();
    return result;
  }
  const RangeEvents events;
  void* result = PYMEMRUN_NEXT(realloc)(block, size);
  if (result == nullptr && size != 0) return nullptr;
  // glibc moves the mapping if the result has a mapping of its own, too.
  // Otherwise it copies the bytes.
  const MappedBlock now = MappedBlockOf(result);
  if (now.bytes > 0) {
    events.AddMoved(old.start, old.bytes, now.start, now.bytes);
  } else {
    events.Add(RangeAction::kUnmapped, old.start, old.bytes);
  }
  return result;
}

// A fixed mapping releases the pages that it replaces.
void* MapOver(void* address, size_t length, int protection, int flags, int fd,
              off_t offset) {
  const RangeEvents events;
  events.Leaving(address, length);
  Unmapping(address, length);
  void* result =
      PYMEMRUN_NEXT(mmap)(address, length, protection, flags, fd, offset);
  if (result != MAP_FAILED) {
    events.Add(RangeAction::kUnmapped, result, length);
  }
  return result;
}

// mmap without records of the heap.
void* Map(void* address, size_t length, int protection, int flags, int fd,
          off_t offset) {
  const bool over = (flags & MAP_FIXED) != 0;
  const bool populates = (flags & (MAP_POPULATE | MAP_LOCKED)) != 0;
  void* result = over ? MapOver(address, length, protection, flags, fd, offset)
                      : PYMEMRUN_NEXT(mmap)(address, length, protection, flags,
                                            fd, offset);
  if (result != MAP_FAILED && (flags & MAP_ANONYMOUS) == 0) {
    FileWatch::Mapped(result, length, fd);
  }
  if (populates && result != MAP_FAILED) AddPopulated(result, length);
  // Populated pages come without a fault; a fixed mapping replaces others.
  if (over || populates) SignUnmap();
  return result;
}

// With --native: records memory that C code maps for its own use, and what a
// fixed mapping replaces.
void* CountedMap(void* address, size_t length, int protection, int flags,
                 int fd, off_t offset, const void* caller) {
  const auto what = (flags & MAP_FIXED) != 0 ? HeapNativeUnmap::kGoes
                                             : HeapNativeUnmap::kNothing;
  HeapNativeUnmap gone(g_heap.native, what, address, length, caller);
  void* result = Map(address, length, protection, flags, fd, offset);
  if (result == MAP_FAILED) return result;
  gone.Done();
  if ((flags & MAP_ANONYMOUS) != 0 && g_heap.native.counts()) {
    g_heap.native.Mapped(result, length, caller);
  }
  return result;
}

// The same of mremap.
void* CountedRemap(void* address, size_t old_length, size_t new_length,
                   int flags, void* wanted, const void* caller) {
  const bool stays = (flags & MREMAP_DONTUNMAP) != 0;
  HeapNativeUnmap over(
      g_heap.native,
      wanted != nullptr ? HeapNativeUnmap::kGoes : HeapNativeUnmap::kNothing,
      wanted, new_length, caller);
  HeapNativeUnmap moved(
      g_heap.native,
      stays ? HeapNativeUnmap::kNothing : HeapNativeUnmap::kMoves, address,
      old_length, caller);
  const RangeEvents events;
  if (old_length > 0) Unmapping(address, old_length);
  if (new_length < old_length) {
    events.Leaving(static_cast<char*>(address) + new_length,
                   old_length - new_length);
  }
  if (wanted != nullptr) {
    events.Leaving(wanted, new_length);
    Unmapping(wanted, new_length);
  }
  void* result =
      PYMEMRUN_NEXT(mremap)(address, old_length, new_length, flags, wanted);
  if (result == MAP_FAILED) return result;
  FileWatch::Moved(address, result, new_length, stays);
  events.AddMoved(address, old_length, result, new_length);
  over.Done();
  moved.MovedTo(result, new_length, caller);
  if (stays && g_heap.native.counts()) {
    g_heap.native.Mapped(result, new_length, caller);
  }
  return result;
}

void* Realloc(void* block, size_t size) {
  const bool unmaps = MayUnmap(block);
  void* result = __builtin_expect(PageEvents::on(), 0)
                     ? ReallocWithEvents(block, size)
                     : PYMEMRUN_NEXT(realloc)(block, size);
  if (__builtin_expect(unmaps, 0)) SignUnmap();
  return result;
}

[[gnu::noinline, gnu::cold]] void* CountedRealloc(void* block, size_t size,
                                                  const void* caller) {
  HeapNativeRealloc change(g_heap.native, block);
  void* result = Realloc(block, size);
  // With size 0 glibc frees the block and returns null.
  if (result != nullptr || (block != nullptr && size == 0)) {
    change.Made({result, size, AllocatorKind::kMalloc, false, caller});
  }
  return result;
}

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE int munmap(void* address, size_t length) noexcept {
  HeapNativeUnmap gone(g_heap.native, HeapNativeUnmap::kGoes, address, length,
                       __builtin_return_address(0));
  const RangeEvents events;
  events.Leaving(address, length);
  Unmapping(address, length);
  const int result = PYMEMRUN_NEXT(munmap)(address, length);
  if (result == 0) {
    events.Add(RangeAction::kUnmapped, address, length);
    gone.Done();
  }
  SignUnmap();
  return result;
}

PYMEMRUN_INTERPOSE int madvise(void* address, size_t length,
                               int advice) noexcept {
  const RangeEvents events(Discards(advice));
  if (Discards(advice)) events.Leaving(address, length, /*stays=*/true);
  const int result = PYMEMRUN_NEXT(madvise)(address, length, advice);
  if (result == 0) events.Add(RangeAction::kDiscarded, address, length);
  if (result == 0 && Populates(advice)) AddPopulated(address, length);
  if (result == 0 && advice == MADV_HUGEPAGE) PageEvents::AskedForHuge(address);
  SignUnmap();
  return result;
}

PYMEMRUN_INTERPOSE void* mmap(void* address, size_t length, int protection,
                              int flags, int fd, off_t offset) noexcept {
  return CountedMap(address, length, protection, flags, fd, offset,
                    __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* mmap64(void* address, size_t length, int protection,
                                int flags, int fd, off64_t offset) noexcept {
  return CountedMap(address, length, protection, flags, fd, offset,
                    __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* mremap(void* address, size_t old_length,
                                size_t new_length, int flags, ...) noexcept {
  void* wanted = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    va_list list;
    va_start(list, flags);
    wanted = va_arg(list, void*);
    va_end(list);
  }
  void* result = CountedRemap(address, old_length, new_length, flags, wanted,
                              __builtin_return_address(0));
  SignUnmap();
  return result;
}

PYMEMRUN_INTERPOSE int brk(void* address) noexcept {
  const BreakWatch end(address < BreakWatch::Break());
  const int result = PYMEMRUN_NEXT(brk)(address);
  end.AddTrimmed();
  SignUnmap();
  return result;
}

PYMEMRUN_INTERPOSE void* sbrk(intptr_t increment) noexcept {
  const BreakWatch end(increment < 0);
  void* result = PYMEMRUN_NEXT(sbrk)(increment);
  end.AddTrimmed();
  if (increment != 0) SignUnmap();
  return result;
}

// Pages released inside a heap are found by scans of the collector.
PYMEMRUN_INTERPOSE int malloc_trim(size_t pad) noexcept {
  const BreakWatch end(true);
  const int result = PYMEMRUN_NEXT(malloc_trim)(pad);
  end.AddTrimmed();
  SignUnmap();
  return result;
}

PYMEMRUN_INTERPOSE void free(void* block) noexcept {
  if (g_heap.native.CountsFree(block)) g_heap.native.Freeing(block);
  const bool unmaps = MayUnmap(block);
  if (__builtin_expect(PageEvents::on(), 0)) {
    FreeWithEvents(block);
  } else {
    PYMEMRUN_NEXT(free)(block);
  }
  if (__builtin_expect(unmaps, 0)) SignUnmap();
}

PYMEMRUN_INTERPOSE void* realloc(void* block, size_t size) noexcept {
  return g_heap.native.counts()
             ? CountedRealloc(block, size, __builtin_return_address(0))
             : Realloc(block, size);
}
