#include "collector/perf/perf_ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// PERF_RECORD_LOST of perf_event_open(2).
struct LostRecord {
  perf_event_header header;
  uint64_t id;
  uint64_t lost;
};

}  // namespace

// The protocol of perf_event_mmap_page in perf_event_open(2). Records are
// passed on in place; only a record that wraps around the end is copied.
void PerfRing::Drain(Take take) {
  // Acquire: the records below data_head are whole.
  const uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = page_->data_tail;
  char pieced[kMostBytes];
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
    if (header.type != PERF_RECORD_LOST) {
      take(header, record, needed);
    } else if (needed >= sizeof(LostRecord)) {
      LostRecord lost;
      std::memcpy(&lost, record, sizeof(lost));
      lost_ += lost.lost;
    }
    tail += header.size;
  }
  // Release: the kernel writes over them only after they were read.
  __atomic_store_n(&page_->data_tail, head, __ATOMIC_RELEASE);
}

absl::StatusOr<std::unique_ptr<PerfRings>> PerfRings::Map(int first_fd,
                                                          uint32_t count,
                                                          const Sizes& sizes,
                                                          const char* what) {
  size_t data_bytes = sizes.largest;
  while (data_bytes > sizes.smallest &&
         count * data_bytes > sizes.most_for_all) {
    data_bytes /= 2;
  }
  std::unique_ptr<PerfRings> rings;
  int why = 0;
  for (; data_bytes >= sizes.smallest && rings == nullptr; data_bytes /= 2) {
    rings = TryMap(first_fd, count, data_bytes);
    why = errno;
    // EPERM and ENOMEM: larger than an ordinary user may lock
    // (perf_event_mlock_kb, RLIMIT_MEMLOCK). Any other reason is the same for
    // each size.
    if (rings == nullptr && why != EPERM && why != ENOMEM) break;
  }
  for (uint32_t i = 0; i < count; ++i) close(first_fd + static_cast<int>(i));
  if (rings == nullptr) {
    return absl::InternalError(
        absl::StrCat("cannot map the ", what, ": ", strerror(why)));
  }
  return rings;
}

std::unique_ptr<PerfRings> PerfRings::TryMap(int first_fd, uint32_t count,
                                             size_t data_bytes) {
  std::unique_ptr<PerfRings> rings(new PerfRings);
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

PerfRings::~PerfRings() {
  for (const Mapping& mapping : mappings_) munmap(mapping.base, mapping.bytes);
}

uint64_t PerfRings::lost() const {
  uint64_t lost = 0;
  for (const PerfRing& ring : rings_) lost += ring.lost();
  return lost;
}

}  // namespace pymemrun
