// The kernel's side of page events: one ring of perf samples for each CPU.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_RINGS_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_RINGS_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"

namespace pymemrun {

// One page fault, as the kernel sampled it.
struct PageSample {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t address;
  uint64_t instruction;  // the kernel's own where it faulted for the program
  uint32_t thread;       // Linux thread id
  // What it is part of, MappingDef.id, whether that is a file, and whether it
  // was seen to be part of a huge page; to be found out soon, for memory may be
  // given back.
  uint32_t mapping = 0;
  bool of_file = false;
  absl::optional<bool> huge = absl::nullopt;
};

// The consumer of one ring: a perf_event_mmap_page, and behind it the records,
// used circularly. Not thread safe; the kernel is the producer.
class PageRing {
 public:
  // `data_bytes`, behind `page`, is a power of two. Both must outlive the ring.
  PageRing(perf_event_mmap_page* page, char* data, size_t data_bytes)
      : page_(page), data_(data), data_bytes_(data_bytes) {}

  // Appends the samples that are there, in the order of time, and gives their
  // room back.
  void Drain(std::vector<PageSample>* out);
  // Samples that the kernel found no room for, as far as it has said so.
  uint64_t lost() const { return lost_; }

 private:
  void Take(const char* record, size_t bytes, std::vector<PageSample>* out);

  perf_event_mmap_page* page_;
  char* data_;
  size_t data_bytes_;
  uint64_t lost_ = 0;
};

// All CPUs' rings. Not thread safe.
class PageRings {
 public:
  // Maps the events `first_fd` to `first_fd + count - 1`, and closes these: the
  // mapping keeps the event. All rings have one size, the largest of 8 MiB and
  // its halves that the system grants and that is at most 32 MiB for all. Fails
  // when not even 64 KiB for each are granted.
  static absl::StatusOr<std::unique_ptr<PageRings>> Map(int first_fd,
                                                        uint32_t count);
  ~PageRings();
  PageRings(const PageRings&) = delete;
  PageRings& operator=(const PageRings&) = delete;

  // Appends the samples of all CPUs that are not younger than `until_ns`, in
  // the order of time; the younger ones come with a later call, so that samples
  // of CPUs looked at earlier do not come behind them. One that comes later
  // than that, because its CPU was held up, is out of order.
  void Drain(uint64_t until_ns, std::vector<PageSample>* out);

  uint64_t lost() const;
  // How many samples one CPU's ring has room for.
  size_t samples_in_ring() const;

 private:
  PageRings() = default;
  static std::unique_ptr<PageRings> TryMap(int first_fd, uint32_t count,
                                           size_t data_bytes);

  struct Mapping {
    void* base;
    size_t bytes;
  };
  std::vector<Mapping> mappings_;
  std::vector<PageRing> rings_;
  size_t data_bytes_ = 0;
  std::vector<PageSample> held_;  // in the order of time
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_RINGS_H_
