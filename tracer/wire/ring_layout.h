// The wire between the traced process and the collector: two pieces of shared
// memory, made by the launcher before the program starts. Both sides include
// this header and nothing else of each other. Everything is fixed width; every
// stored struct has its size asserted.
//
//   reply   := ReplyPage        the collector writes, the traced process reads
//   region  := ControlPage ring side-ring (side_ring_layout.h)
//                               the traced process writes, the collector reads
//
// Each side maps the other's piece for reading only. The traced program may
// write anything into the region: it can have dropped privileges that the
// collector still has. So the collector reads each word once, checks its copy,
// and keeps nothing there that it needs itself.
//
//   ring    := kRingSlots slots of 16 bytes, used circularly
//   stream  := item*            what the ring carries, in event-number order
//   item    := state | definition | row | heap event
//   row     := one slot whose `what` is 0..4 (EventSlot)
//   heap event := one slot whose `what` is 6 or 7 (HeapSlot)
//   state   := one slot (kThread, kNumber, kRss, kClock, kStack, ...) that
//              changes what the following rows mean
//   definition := a header slot (w1 = payload bytes) + ceil(w1 / 16) slots
//
// There is one ring for the events of all threads: a profile callback runs
// under the GIL, so the GIL holder is the single producer, and the order in
// the ring is the order of the event numbers. The thread a row belongs to is
// state, like its RSS: it costs a slot only where it changes.
//
// Indices `head` and `tail` count slots since the start and never wrap; the
// slot is index & (kRingSlots - 1).
#ifndef PYMEMRUN_TRACER_WIRE_RING_LAYOUT_H_
#define PYMEMRUN_TRACER_WIRE_RING_LAYOUT_H_

#include <linux/futex.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/wire/side_ring_layout.h"

namespace pymemrun {

inline constexpr uint64_t kRingMagic = 0x31676e69526d6d50;  // "PmmRing1"
inline constexpr uint32_t kRingSlotBytes = 16;
inline constexpr uint32_t kRingSlots = 1u << 18;  // 4 MiB
inline constexpr size_t kRingBytes = size_t{kRingSlots} * kRingSlotBytes;
inline constexpr size_t kControlBytes = 8192;
inline constexpr size_t kReplyBytes = 65536;  // a multiple of any page size
inline constexpr size_t kSideRingOffset = kControlBytes + kRingBytes;
inline constexpr size_t kRegionBytes = kSideRingOffset + kSideRingBytes;

// The kinds of event, numbered as stored. The CPython names are
// PyTrace_CALL, _RETURN, _C_CALL, _C_RETURN, _C_EXCEPTION.
enum class EventWhat : uint32_t {
  kCall = 0,
  kReturn = 1,
  kCCall = 2,
  kCReturn = 3,
  kCExcept = 4,
};

// w0 of any slot: what(3 bits, from bit 29) | context(1, bit 28) | id (28).
inline constexpr uint32_t kWhatShift = 29;
inline constexpr uint32_t kControlWhat = 5;  // `what` of state and definitions
inline constexpr uint32_t kContextBit = 1u << 28;  // row is a PREV
inline constexpr uint32_t kIdMask = kContextBit - 1;

// A row. `code` is the id of the executing (for C events: the calling) Python
// frame's code object, `position` its instruction offset in code units,
// `function` the id of the C function, 0 for Python events.
struct EventSlot {
  uint32_t what_and_code;
  uint32_t position;
  uint32_t function;
  uint32_t tsc_low;  // low half of the time stamp; kClock resets the high half
};
static_assert(sizeof(EventSlot) == kRingSlotBytes);

// A number that takes two words of a slot.
inline uint64_t Wide(uint32_t low, uint32_t high) {
  return static_cast<uint64_t>(high) << 32 | low;
}

// With --heap all: an allocation or a free that was seen under the GIL. Its
// thread is kThread's; its time the last row's or kClock's, which is there at
// least each few events. A realloc is a free with kHeapTentative, from before
// it, and after it as the next heap slot an allocation; or, where it failed, a
// free of the same address with kHeapKept: there was no free.
//
// What has no GIL goes through the side ring, and malloc may give it the
// addresses that are freed here, and the other way round. So its items name the
// slot that they come before: `head` as it was after the allocation, or before
// the free.
struct HeapSlot {
  uint32_t what_and_stack;  // of an allocation: stack id, 0: no Python frame
  uint32_t size;            // low half; kHeapSize before it has the high one
  uint32_t address_low;
  uint32_t address_high;  // bits 32 to 47; AllocatorKind; the flags below
};
static_assert(sizeof(HeapSlot) == kRingSlotBytes);
inline constexpr uint32_t kAllocWhat = 6;
inline constexpr uint32_t kFreeWhat = 7;
inline constexpr uint32_t kHeapAllocatorShift = 16;  // AllocatorKind, 4 bits
inline constexpr uint32_t kHeapAllocatorMask = 15;
inline constexpr uint32_t kHeapTracing = 1u << 20;  // made by tracing itself
inline constexpr uint32_t kHeapTentative = 1u << 21;
inline constexpr uint32_t kHeapKept = 1u << 22;

// What a block was asked of, as in trace.proto.
enum class AllocatorKind : uint32_t {
  kObj = 0,
  kMem = 1,
  kRaw = 2,
  kMalloc = 3,
  kMmap = 4,
  kMremap = 5,
};

// State and definition slots: w0 = kControlWhat << kWhatShift | ControlKind.
struct ControlSlot {
  uint32_t what_and_kind;
  uint32_t w1;
  uint32_t w2;
  uint32_t w3;
};
static_assert(sizeof(ControlSlot) == kRingSlotBytes);

enum class ControlKind : uint32_t {
  // State. A row's number is the previous row's + 1 unless kNumber came; its
  // dRSS is 0 and its RSS the previous row's unless kRss came; its time is the
  // previous time + (tsc_low - previous tsc_low mod 2^32) unless kClock came.
  kThread = 1,    // w1 = thread id of the rows from here on
  kNumber = 2,    // w2:w1 = number of the next row (w2 high half)
  kRss = 3,       // w1 = RSS in pages, w2 = dRSS in pages (signed) of the next
                  // row, w3 = flags (kRssInexact: of this and all rows until
                  // the next kRss)
  kClock = 4,     // w2:w1 = full time stamp that the next tsc_low is taken from
  kStack = 5,     // w1 = stack id of the next row
  kHeapSize = 6,  // w1 = high half of the next allocation's size
  // Of the next row, a RETURN: w2:w1 = how many events before it its CALL was,
  // w3 = RSS in pages less RSS there (signed). Then, w2:w1 = the time stamp of
  // that CALL.
  kCall = 7,
  kCallClock = 8,
  // Definitions: w1 = payload bytes, w2 = id, w3 = kind-specific.
  // Payload strings are each `u32 length` + bytes, unaligned.
  kCode = 16,       // CodePayload, file, name, qualname, module, line table
  kFunction = 17,   // FunctionPayload, qualname, module
  kThreadDef = 18,  // ThreadPayload, name
  kStackDef = 19,   // w1 = 16: StackPayload; w2 = id
  // Facts, in order with the rows around them. Same shape as definitions.
  kMark = 32,         // MarkPayload, label
  kProfilerGap = 33,  // GapPayload
  kLoss = 34,         // LossPayload
  kPeak = 35,         // PeakPayload
  kGauge = 36,        // GaugePayload, reason
  kForget =
      37,       // w1 = 0, w3 = ControlKind: all ids of that definition kind are
                // void from here on and will be defined anew
  kPause = 38,  // PausePayload
  kOutput = 39,  // the run file's path: the script has given it another
  kObjects = 40,  // ObjectsPayload, file, problem: a dump of the object graph
  // A payload larger than kMaxChunkBytes is sent in pieces: every piece but the
  // last as kChunk, the last under its own kind; the payload is their sum.
  kChunk = 48,
};

// The collector keeps what is defined until it is told to forget it. So between
// two kForget of code objects there are at most so many definitions, and before
// the last one less than so many bytes of names and line tables; of C functions
// at most so many definitions.
inline constexpr uint32_t kMaxCodes = 49152;
inline constexpr size_t kMaxCodeTextBytes = size_t{8} << 20;
inline constexpr uint32_t kMaxFunctions = 65536;

inline constexpr uint32_t kMaxChunkBytes = 64 * 1024;
inline constexpr uint32_t kRssInexact = 1;

struct FunctionPayload {
  uint32_t makes_bound_object;  // 1: a method; profiling binds it to its object
};
static_assert(sizeof(FunctionPayload) == 4);

// How CPython's co_linetable/co_lnotab bytes are to be read.
enum class LineTableKind : uint32_t {
  kLnotab = 1,     // 3.9: pairs (byte delta, line delta)
  kPep626 = 2,     // 3.10: pairs, -128 = no line
  kLocations = 3,  // 3.11 on: location entries
};

struct ThreadPayload {
  uint64_t native_id;
  uint64_t tsc;
  uint32_t renamed;  // its id until now, by another name; 0: it had none
  uint32_t unused;
};
static_assert(sizeof(ThreadPayload) == 24);

// In a code object's stead: the frames that a cut stack lacks.
inline constexpr uint32_t kDeeperFrames = kIdMask;

struct StackPayload {  // one node of the call tree
  uint32_t parent;     // stack id, 0 = the root
  uint32_t code;
  uint32_t position;
  uint32_t unused;
};
static_assert(sizeof(StackPayload) == 16);

struct MarkPayload {
  uint64_t next_number;  // number that the next event will have
  uint64_t tsc;
  uint64_t rss_pages;
  uint32_t thread;
  uint32_t unused;
};
static_assert(sizeof(MarkPayload) == 32);

// From when to when a thread's profile slot was the script's own.
struct GapPayload {
  uint64_t from_number;  // number of the next event, process wide, at the start
  uint64_t to_number;    // the same at the end
  uint64_t from_tsc;
  uint64_t to_tsc;
  uint32_t thread;
  uint32_t unused;
};
static_assert(sizeof(GapPayload) == 40);

// Rows that were to be logged and found no room.
struct LossPayload {
  uint64_t rows;         // lost since the previous kLoss
  uint64_t from_number;  // numbers of the first and the last one lost
  uint64_t to_number;
  uint64_t tsc;
};
static_assert(sizeof(LossPayload) == 32);

// VmHWM was found above every RSS seen at an event: it rose between two.
struct PeakPayload {
  uint64_t hwm_pages;
  uint64_t after_number;   // it had not risen yet when this event was seen
  uint64_t before_number;  // it had when this one was; next_number if at a stop
  uint64_t tsc;
};
static_assert(sizeof(PeakPayload) == 32);

enum class GaugeSource : uint32_t {
  kAuto = 0,  // as a request; in use, RSS cannot be read
  kFaults = 1,
  kHints = 2,
  kRusage = 3,
  kStatm = 4,
};

// The RSS source in use changed (for instance because perf stopped).
struct GaugePayload {
  uint64_t number;
  uint64_t tsc;
  GaugeSource source;
  GaugeSource old_source;
};
static_assert(sizeof(GaugePayload) == 24);

// From when to when tracing was off, see trace.proto.
struct PausePayload {
  uint64_t next_number;
  uint64_t from_tsc;
  uint64_t to_tsc;
  uint32_t from_rss_pages;
  uint32_t to_rss_pages;
};
static_assert(sizeof(PausePayload) == 32);

// A dump was made, or failed; `problem` says why.
struct ObjectsPayload {
  uint64_t monotonic_ns;  // of the fork
  uint64_t pause_us;
  uint64_t duration_us;
  uint64_t file_bytes;
  uint64_t objects;
  uint64_t references;
  uint32_t reason;  // ObjectsReason of trace.proto
  uint32_t unused;
};
static_assert(sizeof(ObjectsPayload) == 56);

// Why tracing ended, as far as the traced process could say.
enum class EndReason : uint32_t {
  kUnknown = 0,  // no handler ran: killed, _exit, abort; pidfd tells when
  kExit = 1,     // exit() with end.exit_status
  kExec = 2,
  kSignal = 3,  // about to end by signal end.exit_status
};

enum class OnFull : uint32_t { kBlock = 0, kDrop = 1 };

// What the traced process knows when tracing starts.
struct StartFacts {
  GaugeSource rss_source;
  uint32_t statm_step_pages;  // smallest change that statm showed; 0 unmeasured
  uint32_t time_is_tsc;       // 1: tsc fields are TSC; 0: CLOCK_MONOTONIC ns
  uint32_t unused;
  uint64_t tsc;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
  uint64_t own_bytes;
  uint64_t first_rss_bytes;
  char rss_source_reason[256];  // why not a better one; NUL-terminated
};
static_assert(sizeof(StartFacts) == 312);

// What it knows at its end.
struct EndFacts {
  EndReason reason;
  int32_t exit_status;
  uint64_t monotonic_ns;
  uint64_t own_bytes;
  uint64_t hwm_bytes;
  uint64_t max_rss_bytes;   // highest RSS seen at an event
  uint64_t last_rss_bytes;  // RSS at the last event
  // What profiling made the interpreter allocate, at its most.
  uint64_t line_array_bytes;
  uint64_t frame_object_bytes;
  uint64_t bound_object_bytes;
};
static_assert(sizeof(EndFacts) == 72);

// The first kControlBytes of the region. Fields are grouped by who writes them
// so that no cache line has two writers. Plain fields are written before
// `start_state` is released, or are said to be otherwise.
struct ControlPage {
  // -- Written by the launcher before the collector starts.
  uint64_t magic;
  uint32_t version;  // kWireVersion
  OnFull on_full;
  // For the traced process; the collector asks the launch text and the system.
  uint32_t traced_pid;
  uint32_t page_bytes;
  // The collector asks what is resident when finalize_ns is set: wait for it.
  uint32_t asks_pages;

  // -- Written by the traced process when tracing starts, released by
  // start_state = 1. Until then the collector only waits.
  alignas(64) std::atomic<uint32_t> start_state;
  StartFacts start;

  // -- The producer's line.
  alignas(64) std::atomic<uint64_t> head;   // slots published
  std::atomic<uint64_t> next_number;        // events seen so far
  std::atomic<uint64_t> dropped;            // rows lost on a full ring
  std::atomic<uint64_t> stalls;             // times the producer waited
  std::atomic<uint32_t> untraced_children;  // forks seen
  std::atomic<uint32_t> tables_emptied;     // of code objects or C functions
  std::atomic<uint64_t> rss_reads;          // statm reads of the gauge
  std::atomic<uint64_t> heap_dropped;       // heap events lost on a full ring

  // -- The producer's, with --verify-rss (see trace.proto).
  alignas(64) std::atomic<uint64_t> verified_events;  // 0: not asked for
  std::atomic<uint64_t> agreeing_events;
  std::atomic<uint64_t> worst_staleness_ns;
  std::atomic<uint64_t> worst_error_pages;
  std::atomic<uint64_t> changing_events;

  // -- Any thread's. A futex word, one more with each wake: the collector
  // sleeps on it.
  alignas(64) std::atomic<uint32_t> wake_collector;

  // -- The side ring's producers, any thread. side_head is moved by
  // compare-and-swap.
  alignas(64) std::atomic<uint64_t> side_head;
  std::atomic<uint64_t> side_dropped[kSideParties];  // that found no room
  std::atomic<uint32_t> side_stalls;  // how often a producer waited for room

  // -- The end. Written by the traced process, released by end_state = 1.
  // When the interpreter began to finalise, CLOCK_MONOTONIC; 0: it has not.
  // From before the start on: whether that would be said.
  alignas(64) std::atomic<uint64_t> finalize_ns;
  uint32_t tells_finalize;
  // Then, before finalize_ns is set; 0: not known.
  uint32_t finalize_rss_pages;
  uint64_t finalize_hwm_pages;
  alignas(64) std::atomic<uint32_t> end_state;
  std::atomic<uint32_t> exec_pending;  // an exec* call is under way
  EndFacts end;

  // Held by the traced process's main thread for its whole life, so that its
  // end is seen even where pidfd says nothing (exec by a raw system call). The
  // collector looks at its lock word and never takes it.
  alignas(64) pthread_mutex_t alive;
};
inline constexpr size_t kChildCountsOffset = 4096;
static_assert(sizeof(ControlPage) <= kChildCountsOffset);

// At kChildCountsOffset of the region, in a page that forked children share
// where pages are no larger than that: written by those that are traced.
struct ChildCounts {
  std::atomic<uint32_t> traced;  // forked from this process
  std::atomic<uint32_t> all;     // and theirs; of the first process alone
};
static_assert(kChildCountsOffset + sizeof(ChildCounts) <= kControlBytes);
inline ChildCounts* ChildCountsOf(ControlPage* page) {
  return reinterpret_cast<ChildCounts*>(reinterpret_cast<char*>(page) +
                                        kChildCountsOffset);
}
inline const ChildCounts* ChildCountsOf(const ControlPage* page) {
  return ChildCountsOf(const_cast<ControlPage*>(page));
}
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// What the collector tells the traced process, which cannot write here: it has
// only ever had a descriptor to read it by.
struct ReplyPage {
  alignas(64) std::atomic<uint64_t> tail;  // slots consumed (release)
  std::atomic<uint32_t> heartbeat;         // changes at least each 100 ms
  std::atomic<uint32_t> collector_pid;     // 0 until it is ready
  std::atomic<uint32_t> wake_producer;     // futex word, a counter
  std::atomic<uint32_t> collector_sleeps;  // 1 while it is in futex_wait
  // In frames that were written whole, context included; set after each frame.
  std::atomic<uint64_t> rows_in_file;

  alignas(64) std::atomic<uint64_t> side_tail;  // cells consumed (release)
  // 1: it has asked what is resident since finalize_ns was set (release).
  std::atomic<uint64_t> end_scans;

  // The answer at the end, released by done_state (futex word).
  alignas(64) std::atomic<uint32_t> done_state;  // 1: the run file is complete
  int32_t write_errno;  // 0, or why the file is not complete
  uint64_t file_bytes;
  uint64_t rows_written;
  uint64_t rows_lost_on_write;
  uint32_t report_bytes;
  char report[4096];  // the end report's text, ready to print

  // Held by the collector's main thread, from before collector_pid is set. libc
  // follows pointers in it, so it lies where the collector alone writes.
  alignas(64) pthread_mutex_t collector_alive;
};
static_assert(sizeof(ReplyPage) <= kReplyBytes);

// The traced process maps the reply right before the region. REQUIRES: `page`
// begins the region as the traced process maps it.
inline const ReplyPage& ReplyOf(const ControlPage* page) {
  return *reinterpret_cast<const ReplyPage*>(
      reinterpret_cast<const char*>(page) - kReplyBytes);
}

// Of a robust mutex that a thread holds for its life: whether that thread has
// ended, reaped or not. The kernel says so, however it ended.
inline bool HolderDied(const pthread_mutex_t& mutex) {
  return (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_ACQUIRE) &
          FUTEX_OWNER_DIED) != 0;
}

// Makes such a mutex, in memory that both processes map.
inline void MakeSignOfLife(pthread_mutex_t* mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

inline constexpr int32_t kNoCompression = -1000;
inline constexpr uint32_t kWireVersion = 7;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_RING_LAYOUT_H_
