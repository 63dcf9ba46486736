// Finds the stack of each page fault, and puts all page events into the order
// of time.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "collector/pages/page_rings.h"

namespace pymemrun {

// A page signal: a thread took a fault, and this was its stack.
struct PageTouch {
  uint64_t time_ns, page, instruction;
  uint32_t stack;               // StackDef.id
  bool late;                    // the stack was taken later
  bool far_too = false;         // a far page of the same 2 MiB is resident
  bool collecting = false;      // gc was running
  bool asked_for_huge = false;  // no fault: madvise for huge pages
};

// A fault with its stack.
struct MatchedSample {
  const PageSample* sample;
  uint64_t time_ns;      // never below that of earlier output
  uint32_t stack;        // 0: no stack of this thread is known
  bool inferred;         // not the stack of this very fault
  bool far_too = false;  // see PageTouch; perhaps from another fault
  bool collecting = false;
};

struct PageSpan {
  uint64_t begin, end;  // addresses
};
struct FaultUnderWay {
  uint64_t address;
  PageSpan brings;  // its page, and pages that come with it
};

// Another event of pages, or of our knowledge of them.
struct PageMark {
  // kAsked: a scan of resident pages starts; kResidency: its result.
  enum Kind { kRange, kFork, kAsked, kResidency };
  uint64_t time_ns;
  Kind kind;
  // Fields of kRange.
  uint32_t action;   // PageAction
  uint32_t thread;   // Linux thread id
  uint32_t stack;    // StackDef.id
  uint64_t address;  // kFork: pid of the child; 0: not known
  uint64_t bytes, new_address;
};

// Matches samples (page faults, from the perf ring) with touches (page signals,
// with stacks).
//
// The rule: a sample belongs to the next touch of its thread, the first that is
// not older, if that touch has the page of the sample and is not late. Such a
// match is exact. Other samples are divided between two touches, see below:
// their matches are inferred.
//
// Why there are fewer touches than samples: one system call may cause a
// thousand faults and gets one signal, with the first address. In a burst the
// kernel skips signals, too.
//
// Samples between two touches are divided by number: the first half gets the
// stack of the earlier touch, the second half that of the later one. So each
// touch stands for equally many samples, and errors of single guesses cancel in
// sums over lines. If the thread paused in between, all samples before the
// pause belong to the earlier touch. Comparing instructions instead would match
// more single samples rightly but make sums of lines worse, as errors of that
// rule do not cancel. Instructions are compared only where a fault may have
// brought a huge page: there errors are few and large.
//
// After 1 s without a touch the thread is dead or blocks the signal: the stack
// of its last touch is used.
//
// Output waits until the stack of the oldest sample is known, while at most
// kMaxWaiting samples and touches wait. Times are CLOCK_MONOTONIC in
// nanoseconds. Not thread-safe.
class PageMatcher {
 public:
  static constexpr size_t kMaxWaiting = 1u << 20;
  static constexpr uint64_t kPatienceNs = 1000000000;
  // A Python thread takes its first faults before it has its name.
  static constexpr uint64_t kNamePatienceNs = 200000000;
  explicit PageMatcher(uint32_t page_bytes);

  // Adds a touch. `thread` is a Linux thread id.
  void AddTouch(uint32_t thread, const PageTouch& touch);
  // Add samples before their touches.
  void AddSamples(const std::vector<PageSample>& samples);
  void AddMark(const PageMark& mark);

  class Output {
   public:
    virtual ~Output() = default;
    // Takes a fault. Returns the pages that became resident by it, including
    // its own, or an empty span.
    virtual PageSpan OnSample(const MatchedSample& sample) = 0;
    // Whether the thread has its name. Its samples wait for that.
    virtual bool IsNamed(uint32_t thread) = 0;
    // Takes a mark. Its time is not below that of earlier output.
    virtual void OnMark(const PageMark& mark) = 0;
  };
  // Emits everything that is decided, in the order of time. `complete_ns`: all
  // samples and touches up to this time have been added; nothing younger is
  // emitted. UINT64_MAX: no more will be added, and everything is emitted.
  void Emit(uint64_t complete_ns, Output* out);

  // Returns the emitted faults that may still have been running at `time_ns`. A
  // sample is taken when its fault begins. The fault is over when its signal
  // arrives or its thread does something else. Under load that may be 10 ms
  // later or more. REQUIRES: everything up to `time_ns`, and nothing younger,
  // was emitted.
  std::vector<FaultUnderWay> FaultsUnderWay(uint64_t time_ns) const;
  // Number of samples, marks and touches that wait.
  size_t waiting() const { return samples_.size() + marks_.size() + touches_; }
  // Number of threads in memory; each takes 1 to 2 KiB.
  size_t threads() const { return threads_.size(); }

 private:
  struct Thread {
    std::deque<PageTouch> touches;
    std::vector<PageTouch> asks;  // requests for huge pages
    // The last touch and request older than all waiting samples; stack 0: none.
    PageTouch last = {}, asked = {};
    // Time of the latest fault since `last` at the instruction of `last`.
    uint64_t loop_ns = 0;
    uint64_t since_last = 0;          // samples emitted since `last`
    std::deque<uint64_t> waiting_ns;  // times of its waiting samples
    uint64_t newest_sample_ns = 0;
    // Time of the touch that NextIsUsers() checked last, and the result.
    uint64_t looked_ns = 0;
    bool is_users = false;  // no system call made the fault of that touch
    uint64_t paused_before_ns = 0, resumed_ns = 0;  // see FindPause()
    // The last emitted sample: its start, and the latest time of its end.
    FaultUnderWay fault = {};
    uint64_t fault_began_ns = 0, fault_over_ns = 0;
  };

  uint64_t Settled() const;
  void DropOlder(uint64_t time_ns, Thread* thread);
  bool EmitSample(uint64_t complete_ns, Output* out);
  void EmitMark(Output* out);
  const PageTouch& TouchOf(const PageSample& sample, Thread* thread) const;
  bool NextIsUsers(uint32_t thread_id, Thread* thread) const;
  bool TellsOf(const PageSample& sample, const PageTouch& touch) const;
  static bool IsNearerToLast(const PageSample& sample, Thread* thread);
  static void FindPause(Thread* thread);
  void ForgetThreads();
  uint64_t Step(uint64_t time_ns);

  const uint32_t page_bytes_;
  std::deque<PageSample> samples_;
  std::deque<PageMark> marks_;
  absl::flat_hash_map<uint32_t, Thread> threads_;
  size_t forget_at_;         // number of threads at which to forget some
  size_t touches_ = 0;       // of all threads
  uint64_t emitted_ns_ = 0;  // time of the last output
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_H_
