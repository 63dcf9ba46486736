#include "tracer/gauge/statm_step.h"

#include <sys/mman.h>
#include <unistd.h>

namespace pymemrun {
namespace {

// The kernel counts RSS per CPU (before Linux 6.2 per thread) and adds it to
// the counter behind statm in batches, so statm moves in steps.
// MeasureStatmStep() touches fresh pages one by one and takes the smallest step
// of statm.

// Number of steps to wait for. The first one completes a batch that others
// started, so it is not used. One more is needed because a move to another CPU
// leaves a batch incomplete.
constexpr int kMoves = 4;

// Pages for kMoves batches. A batch has max(32, 2 * CPUs) pages
// (lib/percpu_counter.c), before Linux 6.2 it had 64 (TASK_RSS_EVENTS_THRESH).
size_t ScratchPages() {
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  const size_t batch = cpus > 32 ? 2 * static_cast<size_t>(cpus) : 64;
  return (kMoves + 1) * (batch + 1);
}

}  // namespace

uint32_t MeasureStatmStep(uint32_t (*read)()) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t pages = ScratchPages();
  void* memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  volatile char* scratch = static_cast<volatile char*>(memory);
  uint32_t last = read();
  uint32_t step = 0;
  int moves = 0;
  for (size_t i = 0; last != 0 && i < pages && moves < kMoves; ++i) {
    scratch[i * page] = 1;
    const uint32_t now = read();
    if (now <= last) continue;
    const uint32_t change = now - last;
    if (++moves > 1 && (step == 0 || change < step)) step = change;
    last = now;
  }
  munmap(memory, pages * page);
  return step;
}

// Refines a coarse statm: adds the page faults since statm last moved, at most
// what can be hidden in the batches of all CPUs.
void RssEstimate::Start(uint32_t step_pages, uint32_t cpus) {
  const uint64_t unseen = step_pages > 1 ? step_pages - 1 : 0;
  most_unseen_pages_ = unseen * (cpus > 0 ? cpus : 1);
}

uint32_t RssEstimate::Refine(uint32_t statm_pages, uint64_t faults) {
  if (statm_pages != figure_pages_) {
    figure_pages_ = statm_pages;
    faults_at_figure_ = faults;
  }
  uint64_t unseen = faults - faults_at_figure_;
  if (unseen > most_unseen_pages_) unseen = most_unseen_pages_;
  return statm_pages + static_cast<uint32_t>(unseen);
}

}  // namespace pymemrun
