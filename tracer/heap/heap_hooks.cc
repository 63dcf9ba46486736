#include "tracer/heap/heap_hooks.h"

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/code/thread_registry.h"
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/allocator_layers.h"
#include "tracer/cpython/compat.h"
#include "tracer/heap/heap_log.h"
#include "tracer/heap/heap_parts.h"
#include "tracer/heap/heap_size_hooks.h"
#include "tracer/heap/hook_cost.h"
#include "tracer/heap/made_by_tracing.h"

namespace pymemrun {
namespace {

constexpr uint32_t kObj = static_cast<uint32_t>(AllocatorKind::kObj);
constexpr uint32_t kMem = static_cast<uint32_t>(AllocatorKind::kMem);
constexpr uint32_t kRaw = static_cast<uint32_t>(AllocatorKind::kRaw);

// State of the hooks.
struct Hooks {
  PyMemAllocatorEx next[3] = {};  // the allocators below, by AllocatorKind
  size_t small = 0;               // sizes up to here never reach the raw domain
  const HeapConfig* config = nullptr;
};
constinit Hooks g_hooks;

// Whether pymalloc itself serves this size, so no hook below is called. Not for
// 0.
inline bool StaysSmall(size_t size) { return size - 1 < g_hooks.small; }

// The size with which pymalloc passes such a request on to the raw domain.
inline size_t Asked(size_t size) {
  return g_hooks.small != 0 ? size : kAnySize;
}

// Whether the request is part of one that a hook above has counted.
template <uint32_t D>
inline bool IsCounted(size_t size) {
  return t_heap_inside &&
         (D != kRaw || t_heap_request == kAnySize || t_heap_request == size);
}

// The same for frees: a hook above is about to free that very block. Hooks of
// other tools may free blocks of their own. So may a look at a thread's name:
// the interpreter's cache of attributes then drops a name.
inline size_t Freed(const void* block) {
  return Asked(reinterpret_cast<size_t>(block));
}
template <uint32_t D>
inline bool IsFreeCounted(const void* block) {
  return D == kRaw && IsCounted<D>(reinterpret_cast<size_t>(block));
}

// The allocator below, by its four ways.
template <uint32_t D>
inline void* NextMalloc(size_t size) {
  return g_hooks.next[D].malloc(g_hooks.next[D].ctx, size);
}
template <uint32_t D>
inline void* NextRealloc(void* block, size_t size) {
  return g_hooks.next[D].realloc(g_hooks.next[D].ctx, block, size);
}

// What malloc and calloc share: how to ask the allocator below.
struct Plain {
  template <uint32_t D>
  void* Ask(size_t size) const {
    return NextMalloc<D>(size);
  }
};
struct Cleared {
  size_t count, each;
  template <uint32_t D>
  void* Ask(size_t) const {
    return g_hooks.next[D].calloc(g_hooks.next[D].ctx, count, each);
  }
};

// --- sampled ---

template <uint32_t D>
void Sample(void* block, size_t size) {
  const bool by_tracing = IsTracings<D>(PymemrunGilHolder(), size);
  HotState& hot = Hot();
  if (D != kRaw && hot.page != nullptr) {
    hot.parts.threads->LookAtName(hot, TimeStamp(hot.time_is_tsc));
  }
  g_heap.samples.Add(
      {block, size, static_cast<AllocatorKind>(D), by_tracing, nullptr});
}

template <class Sampler, uint32_t D, class Way>
[[gnu::noinline]] void* SampledSlow(size_t size, bool charged, Way way) {
  void* block;
  {
    const HeapInside inside(Asked(size));
    block = way.template Ask<D>(size);
  }
  if (block == nullptr) return nullptr;
  if ((charged || Sampler::Charge(g_heap.sampler, size)) &&
      g_heap.samples.Take<Sampler>(size)) {
    Sample<D>(block, size);
  }
  return block;
}

template <class Sampler, uint32_t D, class Way>
inline void* SampledAllocation(size_t size, Way way) {
  bool charged = false;
  if (D == kRaw) {
    if (IsCounted<D>(size)) return way.template Ask<D>(size);
  } else if (__builtin_expect(StaysSmall(size), 1)) {
    charged = Sampler::Charge(g_heap.sampler, size);
    if (__builtin_expect(!charged, 1)) return way.template Ask<D>(size);
  }
  return SampledSlow<Sampler, D>(size, charged, way);
}

template <uint32_t D>
inline void* ReallocSampled(void* old, size_t size) {
  const HeapInside inside(Asked(size));
  if (!g_heap.samples.Remove(old)) return NextRealloc<D>(old, size);
  HeapAsideFree free(old);
  void* block = NextRealloc<D>(old, size);
  if (block != nullptr) {
    free.Freed();
  } else {
    g_heap.samples.PutBack(old);
  }
  return block;
}

template <class Sampler>
struct Sampled {
  template <uint32_t D, class Way>
  static void* Allocate(size_t size, Way way) {
    return SampledAllocation<Sampler, D>(size, way);
  }
  template <uint32_t D>
  static void* Reallocate(void* old, size_t size) {
    if (D == kRaw && IsCounted<D>(size)) return NextRealloc<D>(old, size);
    void* block = ReallocSampled<D>(old, size);
    if (block != nullptr && Sampler::Charge(g_heap.sampler, size) &&
        g_heap.samples.Take<Sampler>(size)) {
      Sample<D>(block, size);
    }
    return block;
  }
  template <uint32_t D>
  static void Free(void* block) {
    if (__builtin_expect(g_sampled_blocks.MayHold(block), 0)) {
      g_heap.samples.Goes(block);
    }
    g_hooks.next[D].free(g_hooks.next[D].ctx, block);
  }
};

// --- all ---

// The thread state by which to log through the event ring. Null: no GIL is
// held.
template <uint32_t D>
inline PyThreadState* RingThread() {
  if (kFreeThreaded) return nullptr;
  PyThreadState* holder = PymemrunGilHolder();
  if (D == kRaw && holder != nullptr &&
      PyGILState_GetThisThreadState() != holder) {
    return nullptr;
  }
  return holder;
}

template <uint32_t D>
inline void LogAllocated(void* block, size_t size) {
  HotState& hot = Hot();
  if (hot.page == nullptr) return g_heap.samples.Unheard(size);
  if (!g_heap.samples.records()) return;
  PyThreadState* tstate = RingThread<D>();
  const HeapBlock made = {block, size, static_cast<AllocatorKind>(D),
                          IsTracings<D>(tstate, size), nullptr};
  if (__builtin_expect(tstate == nullptr, 0)) {
    HeapAside::Allocated(made);
  } else {
    HeapLog::Allocated(hot, tstate, made);
  }
}

// The last block that the raw domain gave to this thread.
constinit thread_local const void* t_last_raw = nullptr;

// If pymalloc gets no memory, even a small request falls through to the raw
// domain, whose hook has counted it. Frees that block in the log.
[[gnu::noinline, gnu::cold]] void TakeFromRaw(const void* block) {
  if (block == nullptr) return;
  t_last_raw = nullptr;
  HotState& hot = Hot();
  if (hot.page == nullptr) return;
  if (RingThread<kObj>() != nullptr) {
    HeapLog::Freeing(hot, block);
  } else {
    HeapAside::Freeing(block);
  }
}

struct All {
  template <uint32_t D, class Way>
  static void* Allocate(size_t size, Way way) {
    if (IsCounted<D>(size)) return way.template Ask<D>(size);
    void* block;
    if (D != kRaw && StaysSmall(size)) {
      block = way.template Ask<D>(size);
      if (__builtin_expect(block == t_last_raw, 0)) TakeFromRaw(block);
    } else {
      const HeapInside inside(Asked(size));
      block = way.template Ask<D>(size);
    }
    if (D == kRaw) t_last_raw = block;
    block == nullptr ? HeapLog::Fails(D == kObj) : LogAllocated<D>(block, size);
    return block;
  }

  template <uint32_t D>
  static void* Reallocate(void* old, size_t size) {
    HotState& hot = Hot();
    if (IsCounted<D>(size) || hot.page == nullptr ||
        !g_heap.samples.has_begun()) {
      return NextRealloc<D>(old, size);
    }
    void* block;
    if (RingThread<D>() != nullptr) {
      HeapLog::Reallocating(hot, old);
      {
        const HeapInside inside(Asked(size));
        block = NextRealloc<D>(old, size);
      }
      if (block == nullptr) HeapLog::Kept(hot, old);
    } else {
      const HeapInside inside(Asked(size));
      HeapAsideFree free(old);
      block = NextRealloc<D>(old, size);
      if (block != nullptr) free.Freed();
    }
    if (block != nullptr) LogAllocated<D>(block, size);
    return block;
  }

  template <uint32_t D>
  static void Free(void* block) {
    HotState& hot = Hot();
    if (D == kRaw && block == t_last_raw) t_last_raw = nullptr;
    if (block != nullptr && !IsFreeCounted<D>(block) && hot.page != nullptr &&
        g_heap.samples.has_begun()) {
      if (__builtin_expect(RingThread<D>() != nullptr, 1)) {
        HeapLog::Freeing(hot, block);
      } else {
        HeapAside::Freeing(block);
      }
    }
    const HeapInside inside(Freed(block));
    g_hooks.next[D].free(g_hooks.next[D].ctx, block);
  }
};

// --- PEP 445 ---

template <class Mode, uint32_t D>
void* Malloc(void*, size_t size) {
  return Mode::template Allocate<D>(size, Plain{});
}

template <class Mode, uint32_t D>
void* Calloc(void*, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) size = SIZE_MAX;  // it fails
  return Mode::template Allocate<D>(size, Cleared{count, each});
}

template <class Mode, uint32_t D>
void* Realloc(void*, void* block, size_t size) {
  return block == nullptr ? Mode::template Allocate<D>(size, Plain{})
                          : Mode::template Reallocate<D>(block, size);
}

template <class Mode, uint32_t D>
void Free(void*, void* block) {
  Mode::template Free<D>(block);
}

// Installs the hooks, or replaces them by other ones of the tracer.
template <class Mode, uint32_t D>
void Hook(PyMemAllocatorDomain domain) {
  if ((g_hooks.config->domains >> D & 1) == 0) return;
  const PyMemAllocatorEx ours = {nullptr, Malloc<Mode, D>, Calloc<Mode, D>,
                                 Realloc<Mode, D>, Free<Mode, D>};
  if (g_hooks.next[D].malloc == nullptr) {
    AllocatorLayers::Put(domain, ours, &g_hooks.next[D]);
  } else if (HeapSizeHooks::installed()) {  // those are above these
    HeapSizeHooks::below(D) = ours;
  } else {
    AllocatorLayers::Replace(domain, ours);
  }
}

template <class Mode>
void HookAll() {
  Hook<Mode, kRaw>(PYMEM_DOMAIN_RAW);
  Hook<Mode, kMem>(PYMEM_DOMAIN_MEM);
  Hook<Mode, kObj>(PYMEM_DOMAIN_OBJ);
}

void HookSampled() {
  if (g_heap.sampler.by_class()) {
    HookAll<Sampled<ByClass>>();
  } else {
    HookAll<Sampled<ByBytes>>();
  }
}

template <uint32_t D>
bool IsUppermost(PyMemAllocatorDomain domain) {
  const auto there = AllocatorLayers::Get(domain).malloc;
  return (g_hooks.config->domains >> D & 1) == 0 ||
         there == Malloc<Sampled<ByBytes>, D> ||
         there == Malloc<Sampled<ByClass>, D>;
}

// Whether no other tool has put its hooks over these.
bool AreUppermost() {
  return HeapSizeHooks::installed() || (IsUppermost<kObj>(PYMEM_DOMAIN_OBJ) &&
                                        IsUppermost<kMem>(PYMEM_DOMAIN_MEM) &&
                                        IsUppermost<kRaw>(PYMEM_DOMAIN_RAW));
}

// Places for live sampled blocks: about heap size / mean_bytes are needed.
// Adapted rates keep the table half empty.
uint32_t Capacity(const HeapRatesConfig& rates) {
  constexpr uint64_t kFew = 64 * 1024;
  if (rates.adapt) return 1u << 18;
  return rates.grows || rates.mean_bytes >= kFew ? 1u << 16 : 1u << 19;
}

}  // namespace

bool HeapHooks::Create(const HeapConfig* config, bool followed) {
  g_hooks.config = config;
  switch (config->mode) {
    case HeapMode::kOff:
    case HeapMode::kStats:  // HeapModule's
    case HeapMode::kAll:    // CurrentStack's
      return true;
    case HeapMode::kSampled:
      g_heap.sampler.Set(config->rates);
      return g_sampled_blocks.Create(Capacity(config->rates), !followed);
  }
  return false;
}

void HeapHooks::Install() {
  if (g_hooks.config->native) g_heap.native.Start(g_hooks.config->mode);
  g_hooks.small = PymemrunSmallRequestBytes();
  switch (g_hooks.config->mode) {
    case HeapMode::kOff:
    case HeapMode::kStats:
      break;
    case HeapMode::kAll:
      HookAll<All>();
      break;
    case HeapMode::kSampled: {
      const HookCost cost;
      HookSampled();
      HeapSampler::Rest();  // what is timed is no allocation of the program's
      g_heap.control.SetHookNs(cost.PairNs());
      g_heap.sampler.SetMean(g_heap.sampler.mean_bytes());
      break;
    }
  }
}

bool HeapHooks::samples() {
  return g_hooks.config != nullptr &&
         g_hooks.config->mode == HeapMode::kSampled;
}

bool HeapHooks::SetRates(const HeapRatesConfig& rates) {
  const bool other_hooks = (rates.mean_bytes == 0) != g_heap.sampler.by_class();
  // Those of another tool would be taken out with ours.
  if (other_hooks && !AreUppermost()) return false;
  g_heap.sampler.Set(rates);
  if (other_hooks) HookSampled();
  HeapRateControl::Tell(rates, false);
  return true;
}

}  // namespace pymemrun
