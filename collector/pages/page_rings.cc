#include "collector/pages/page_rings.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

constexpr size_t kLargestRing = size_t{8} << 20;
constexpr size_t kSmallestRing = size_t{64} << 10;
constexpr size_t kMostForAll = size_t{32} << 20;

// PERF_RECORD_SAMPLE with IP, TID, TIME and ADDR: the kernel's order of them.
struct SampleRecord {
  perf_event_header header;
  uint64_t instruction;
  uint32_t process;
  uint32_t thread;
  uint64_t time_ns;
  uint64_t address;
};
static_assert(sizeof(SampleRecord) == 40);

struct LostRecord {
  perf_event_header header;
  uint64_t id;
  uint64_t lost;
};

bool Older(const PageSample& a, const PageSample& b) {
  return a.time_ns < b.time_ns;
}

}  // namespace

void PageRing::Drain(std::vector<PageSample>* out) {
  // Acquire: the records below data_head are whole.
  const uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = page_->data_tail;
  char pieced[sizeof(SampleRecord)];
  while (tail < head) {
    const size_t at = tail & (data_bytes_ - 1);
    // Records are multiples of 8 bytes, so a header is never in two pieces.
    perf_event_header header;
    std::memcpy(&header, data_ + at, sizeof(header));
    if (header.size < sizeof(header)) break;  // never, as the kernel writes it
    const size_t needed = std::min<size_t>(header.size, sizeof(pieced));
    const size_t in_one = std::min(needed, data_bytes_ - at);
    const char* record = data_ + at;
    if (in_one < needed) {
      std::memcpy(pieced, record, in_one);
      std::memcpy(pieced + in_one, data_, needed - in_one);
      record = pieced;
    }
    Take(record, header.size, out);
    tail += header.size;
  }
  // Release: the kernel writes over them only after they were read.
  __atomic_store_n(&page_->data_tail, head, __ATOMIC_RELEASE);
}

void PageRing::Take(const char* record, size_t bytes,
                    std::vector<PageSample>* out) {
  SampleRecord sample;
  std::memcpy(&sample.header, record, sizeof(sample.header));
  if (sample.header.type == PERF_RECORD_SAMPLE && bytes >= sizeof(sample)) {
    std::memcpy(&sample, record, sizeof(sample));
    out->push_back(
        {sample.time_ns, sample.address, sample.instruction, sample.thread});
  } else if (sample.header.type == PERF_RECORD_LOST &&
             bytes >= sizeof(LostRecord)) {
    LostRecord lost;
    std::memcpy(&lost, record, sizeof(lost));
    lost_ += lost.lost;
  }
}

absl::StatusOr<std::unique_ptr<PageRings>> PageRings::Map(int first_fd,
                                                          uint32_t count) {
  size_t data_bytes = kLargestRing;
  while (data_bytes > kSmallestRing && count * data_bytes > kMostForAll) {
    data_bytes /= 2;
  }
  std::unique_ptr<PageRings> rings;
  int why = 0;
  for (; data_bytes >= kSmallestRing && rings == nullptr; data_bytes /= 2) {
    rings = TryMap(first_fd, count, data_bytes);
    why = errno;
    // Larger than what an ordinary user may lock; any other reason stays.
    if (rings == nullptr && why != EPERM && why != ENOMEM) break;
  }
  for (uint32_t i = 0; i < count; ++i) close(first_fd + static_cast<int>(i));
  if (rings == nullptr) {
    return absl::InternalError(
        absl::StrCat("cannot map the page events: ", strerror(why)));
  }
  return rings;
}

std::unique_ptr<PageRings> PageRings::TryMap(int first_fd, uint32_t count,
                                             size_t data_bytes) {
  std::unique_ptr<PageRings> rings(new PageRings);
  const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  rings->data_bytes_ = data_bytes;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t bytes = page_bytes + data_bytes;
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                      first_fd + static_cast<int>(i), 0);
    if (base == MAP_FAILED) {
      const int why = errno;
      rings.reset();
      errno = why;
      return nullptr;
    }
    rings->mappings_.push_back({base, bytes});
    rings->rings_.emplace_back(static_cast<perf_event_mmap_page*>(base),
                               static_cast<char*>(base) + page_bytes,
                               data_bytes);
  }
  return rings;
}

PageRings::~PageRings() {
  for (const Mapping& mapping : mappings_) munmap(mapping.base, mapping.bytes);
}

void PageRings::Drain(uint64_t until_ns, std::vector<PageSample>* out) {
  for (PageRing& ring : rings_) {
    const size_t before = held_.size();
    ring.Drain(&held_);
    std::inplace_merge(held_.begin(), held_.begin() + before, held_.end(),
                       Older);
  }
  const PageSample limit = {until_ns, 0, 0, 0};
  const auto end = std::upper_bound(held_.begin(), held_.end(), limit, Older);
  out->insert(out->end(), held_.begin(), end);
  held_.erase(held_.begin(), end);
}

uint64_t PageRings::lost() const {
  uint64_t lost = 0;
  for (const PageRing& ring : rings_) lost += ring.lost();
  return lost;
}

size_t PageRings::samples_in_ring() const {
  return data_bytes_ / sizeof(SampleRecord);
}

}  // namespace pymemrun
