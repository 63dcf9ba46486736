// Gives each page fault the stack of the thread that took it, and puts all that
// happened to pages into the order of time.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "collector/pages/page_rings.h"

namespace pymemrun {

// A signal told that a thread had faulted, and where it was.
struct PageTouch {
  uint64_t time_ns, page, instruction;
  uint32_t stack;               // StackDef.id
  bool late;                    // not the stack of the moment
  bool far_too = false;         // so was a page far from it in the same 2 MiB
  bool collecting = false;      // gc was at work
  bool asked_for_huge = false;  // of no fault: the thread asked for huge pages
};

// A fault with its stack.
struct MatchedSample {
  const PageSample* sample;
  uint64_t time_ns;  // never below that of what came before
  uint32_t stack;    // 0: none is known of this thread
  bool inferred;
  bool far_too = false;  // see PageTouch; or another fault tells it of this one
  bool collecting = false;
};

struct PageSpan {
  uint64_t begin, end;  // addresses
};
struct FaultUnderWay {
  uint64_t address;
  PageSpan brings;  // its page, and what is known to come with it
};

// Something else that happened to pages, or to our knowledge of them.
struct PageMark {
  // kAsked: the kernel is asked what is resident; kResidency: it has answered.
  enum Kind { kRange, kFork, kAsked, kResidency };
  uint64_t time_ns;
  Kind kind;
  // Of kRange.
  uint32_t action;   // PageAction
  uint32_t thread;   // Linux thread id
  uint32_t stack;    // StackDef.id
  uint64_t address;  // of kFork: the child's number, 0: not known
  uint64_t bytes, new_address;
};

// The rule: a sample's stack is that of its thread's first touch that is not
// older; exactly so if that touch names the sample's page and is not late. One
// system call may fault a thousand times and is signalled once, with the first
// address; the others' stacks are inferred from it. So are those of faults that
// were not signalled: of those between two touches the half that is nearer, by
// number, from each. Then every touch stands for as many, a thread's first and
// last one too. Where the thread paused in between, what came before that is
// the earlier touch's. (To go by the instruction makes more of the single
// guesses right, and sums of lines worse: errors no longer cancel. It is done
// where a fault may have brought a huge page: few errors, and large.) After 1 s
// without a touch the thread is dead, or blocks the signal: the last one's.
//
// What is given out waits until the oldest sample's stack is known, while at
// most kMaxWaiting samples and touches wait with it. Not thread safe.
class PageMatcher {
 public:
  static constexpr size_t kMaxWaiting = 1u << 20;
  static constexpr uint64_t kPatienceNs = 1000000000;
  // A thread of Python's takes its first faults before it has its name.
  static constexpr uint64_t kNamePatienceNs = 200000000;
  explicit PageMatcher(uint32_t page_bytes);

  void AddTouch(uint32_t thread, const PageTouch& touch);
  void AddSamples(
      const std::vector<PageSample>& samples);  // before its touches
  void AddMark(const PageMark& mark);

  class Output {
   public:
    virtual ~Output() = default;
    // Returns which pages came by it, the sample's own among them, if any did.
    virtual PageSpan OnSample(const MatchedSample& sample) = 0;
    // Whether the thread needs no name any more; without, its samples wait.
    virtual bool IsNamed(uint32_t thread) = 0;
    // Its time is not below that of what came before.
    virtual void OnMark(const PageMark& mark) = 0;
  };
  // Gives out what is settled, in the order of time. `complete_ns`: all samples
  // and touches up to then have been added; nothing younger is given out.
  // UINT64_MAX: nothing more will come, and all is.
  void Emit(uint64_t complete_ns, Output* out);

  // Of the samples given out: the faults that may still have been under way at
  // `time_ns`. A fault is sampled when it begins; it is over when its signal
  // comes, or its thread does anything else: under load 10 ms later and more.
  // REQUIRES: all up to `time_ns`, and no more, is given out.
  std::vector<FaultUnderWay> FaultsUnderWay(uint64_t time_ns) const;
  size_t waiting() const { return samples_.size() + marks_.size() + touches_; }
  // Threads that are remembered; each takes 1 to 2 KiB.
  size_t threads() const { return threads_.size(); }

 private:
  struct Thread {
    std::deque<PageTouch> touches;
    std::vector<PageTouch> asks;  // where it asked for huge pages
    // The last ones older than what waits; stack 0 means no such touch.
    PageTouch last = {}, asked = {};
    uint64_t loop_ns = 0;     // the latest fault since by its instruction
    uint64_t since_last = 0;  // samples given out
    std::deque<uint64_t> waiting_ns;  // of its samples, in order
    uint64_t newest_sample_ns = 0;
    uint64_t looked_ns = 0;  // the touch that was looked at last, and
    bool is_users = false;   // whether no system call faulted there
    uint64_t paused_before_ns = 0, resumed_ns = 0;  // see FindPause()
    // Of the last sample given out: its begin, and its end at the latest.
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
  size_t forget_at_;         // the next look is at this number of threads
  size_t touches_ = 0;       // of all threads
  uint64_t emitted_ns_ = 0;  // time of the last that was given out...
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_H_
