// A traced program that writes over all that it shares with the collector, at
// random and on purpose: the collector ends by itself, soon, in bounded memory,
// with a file that readers bear.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/process/monotonic_clock.h"
#include "collector/session/collector_fixture.h"

#if defined(__SANITIZE_THREAD__)
// GCC has no header for these.
extern "C" int __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void*, size_t),
    void (*on_free)(const volatile void*));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void* block);
#endif

namespace pymemrun {
namespace {

constexpr uint64_t kSecond = 1000000000;
// ASan keeps what was freed, up to this size.
#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kQuarantineBytes = uint64_t{256} << 20;
#else
constexpr uint64_t kQuarantineBytes = 0;
#endif

#if defined(__SANITIZE_THREAD__)
std::atomic<uint64_t> g_heap_bytes{0}, g_heap_peak_bytes{0};
#endif

class HostileProgramTest : public CollectorFixture {
 protected:
  // Runs a collector of everything on a process that does `program`.
  void TraceAll(const std::function<void()>& program) {
    SetText({"output=run.pb", "heap=2", "heap_native=1", "page_period=1",
             "page_weight=1", "page_counters=0"});
    const uint64_t begin_ns = MonotonicNs();
    Trace(program);
    EXPECT_LT(MonotonicNs() - begin_ns, 60 * kSecond);
    const FileContents file = ReadDamaged();
    EXPECT_TRUE(file.result.has_header);
    EXPECT_TRUE(file.result.has_footer);
  }
#if defined(__SANITIZE_THREAD__)
  // Shadow memory is resident, too: blocks alone count.
  static void SetUpTestSuite() {
    __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, size_t bytes) {
          const uint64_t now = g_heap_bytes += bytes;
          uint64_t peak = g_heap_peak_bytes;
          while (now > peak &&
                 !g_heap_peak_bytes.compare_exchange_weak(peak, now)) {
          }
        },
        [](const volatile void* block) {
          g_heap_bytes -= __sanitizer_get_allocated_size(block);
        });
  }
  static uint64_t PeakBytes() { return g_heap_peak_bytes; }
#else
  static uint64_t PeakBytes() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
#endif
  // What the collector may have taken since the peak was `before`.
  static void ExpectTookAtMost(uint64_t bytes, uint64_t before) {
    EXPECT_LT(PeakBytes() - before, bytes + kQuarantineBytes);
  }
  void StartHeapAndCalls() {
    while (reply_->collector_pid == 0) usleep(100);  // it takes the region
    StartTracing();
    PushRows(1000);
  }
};

// Values that indices, sizes and times go wrong by.
uint64_t Odd(std::mt19937_64* random, uint64_t now) {
  const uint64_t any = (*random)();
  switch (any % 9) {
    case 0:
      return 0;
    case 1:
      return ~uint64_t{0};
    case 2:
      return uint64_t{1} << (any >> 8) % 64;
    case 3:
      return (any >> 8) % 300;
    case 4:
      return now + (any >> 8) % 3 - 1;
    case 5:
      return now + (any >> 8) % (2 * kRingSlots);
    case 6:
      return now - (any >> 8) % (2 * kRingSlots);
    case 7:
      return any | any << 32;
    default:
      return any;
  }
}

// Writes words anywhere, more often where few words mean much.
void Scribble(std::mt19937_64* random, ControlPage* page) {
  auto* const words = reinterpret_cast<volatile uint64_t*>(page);
  const size_t part[] = {sizeof(ControlPage), kControlBytes + 65536,
                         kSideRingOffset, kRegionBytes};
  const size_t end = part[(*random)() % 4] / sizeof(uint64_t);
  const size_t begin = end == kRegionBytes / sizeof(uint64_t)
                           ? kSideRingOffset / sizeof(uint64_t)
                           : 0;
  size_t at = begin + (*random)() % (end - begin);
  // A program that says its end is no more looked at.
  constexpr size_t kEnd = offsetof(ControlPage, end_state) / sizeof(uint64_t);
  for (uint64_t i = (*random)() % 32; i-- > 0 && at < end; ++at) {
    if (at != kEnd || (*random)() % 1024 == 0) {
      words[at] = Odd(random, words[at]);
    }
  }
}

// Slots of the right kinds with wrong contents.
void Forge(std::mt19937_64* random, std::vector<EventSlot>* slots) {
  slots->clear();
  for (uint64_t i = (*random)() % 2000; i-- > 0;) {
    EventSlot slot;
    const uint64_t any[] = {(*random)(), (*random)()};
    std::memcpy(&slot, any, sizeof(slot));
    if (slot.position % 2 == 0) {
      slot.what_and_code =
          kControlWhat << kWhatShift | (slot.what_and_code % 64);
      slot.position %= slot.function % 4 == 0 ? kMaxChunkBytes + 2 : 600;
    } else if (slot.position % 3 == 0) {
      slot.what_and_code %= 2048;
    }
    slots->push_back(slot);
  }
}

// Items whose cells are committed, and whose heads say anything.
void ForgeItem(std::mt19937_64* random, SideProducer* side) {
  SideAny head;
  const uint64_t any = (*random)();
  head.kind = static_cast<SideKind>(any % 12);
  head.flags = static_cast<uint16_t>(any >> 8);
  head.thread = static_cast<uint32_t>(any >> 24) % 8;
  head.detail = static_cast<uint32_t>((*random)() & 0xf01ff);
  head.time_ns = Odd(random, MonotonicNs());
  head.words[0] = Odd(random, (*random)());
  head.words[1] = Odd(random, any % 900);
  head.words[2] = Odd(random, any % 4096);
  side->Push(head, std::string((*random)() % 900, static_cast<char>(any)));
}

TEST_F(HostileProgramTest, ScribblesAnywhere) {
  const uint64_t before = PeakBytes();
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    TraceAll([&] {
      std::mt19937_64 random(seed);
      StartHeapAndCalls();
      const uint64_t end_ns = MonotonicNs() + kSecond / 10;
      while (MonotonicNs() < end_ns) {
        Scribble(&random, page_);
        if (random() % 16 == 0) usleep(static_cast<useconds_t>(random() % 900));
      }
      if (seed % 2 == 0) kill(getpid(), SIGKILL);
    });
    TearDown();
    SetUp();
  }
  ExpectTookAtMost(uint64_t{1} << 30, before);
}

TEST_F(HostileProgramTest, ForgesWhatTheRingsCarry) {
  const uint64_t before = PeakBytes();
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    TraceAll([&] {
      std::mt19937_64 random(seed);
      StartHeapAndCalls();
      RingProducer ring(page_, slots_, reply_);
      SideProducer side = MakeSideProducer();
      std::vector<EventSlot> slots;
      const uint64_t end_ns = MonotonicNs() + kSecond / 10;
      while (MonotonicNs() < end_ns) {
        Forge(&random, &slots);
        ring.TryPush(slots);
        if (page_->side_head - reply_->side_tail < kSideCells / 2) {
          ForgeItem(&random, &side);
        }
      }
      SayEnd(0);
      pause();
    });
    TearDown();
    SetUp();
  }
  ExpectTookAtMost(uint64_t{1} << 30, before);
}

// Each on its own would once have taken the collector's time or memory.
TEST_F(HostileProgramTest, DefinesLargeNamesAndTablesWithoutEnd) {
  const uint64_t before = PeakBytes();
  TraceAll([&] {
    StartTracing();
    RingProducer ring(page_, slots_, reply_);
    const std::string name(kMaxChunkBytes - 64, 'n');
    SlotStream stream;
    for (uint32_t id = 1; id < 6000; ++id) {
      stream.Clear();
      stream.Function(id, absl::StrCat(name, id), false);
      while (!ring.TryPush(stream.slots())) usleep(100);
    }
    // Two long tables in turn, at another place each time.
    for (uint32_t id = 1; id <= 2; ++id) {
      const std::string code = SlotStream::CodeBytes(
          "f.py", absl::StrCat("f", id), 1, std::string(1 << 20, '\xf8'));
      for (size_t at = 0; at < code.size(); at += kMaxChunkBytes) {
        const absl::string_view rest = absl::string_view(code).substr(at);
        stream.Clear();
        stream.Payload(rest.size() > kMaxChunkBytes ? ControlKind::kChunk
                                                    : ControlKind::kCode,
                       id, rest.substr(0, kMaxChunkBytes));
        while (!ring.TryPush(stream.slots())) usleep(100);
      }
    }
    for (uint32_t i = 0; i < 200000; ++i) {
      stream.Clear();
      stream.Row(0, 1 + i % 2, i, 0, 0);
      while (!ring.TryPush(stream.slots())) usleep(100);
    }
    SayEnd(0);
    pause();
  });
  ExpectTookAtMost(uint64_t{256} << 20, before);
}

TEST_F(HostileProgramTest, NamesSlotsAndTimesThatNeverCome) {
  const uint64_t before = PeakBytes();
  TraceAll([&] {
    StartTracing();
    SideProducer side = MakeSideProducer();
    for (uint32_t i = 0; i < 3000000; ++i) {
      while (page_->side_head - reply_->side_tail > kSideCells - 8) usleep(100);
      if (i % 2 == 0) {
        side.Free(7, MonotonicNs(), UINT64_MAX - i, i * 16);
      } else {
        side.Range(RangeAction::kUnmapped, 7, UINT64_MAX - i, i * 4096, 4096,
                   {});
      }
    }
    SayEnd(0);
    pause();
  });
  ExpectTookAtMost(uint64_t{512} << 20, before);
}

TEST_F(HostileProgramTest, ClaimsMoreMemoryThanThereIs) {
  SetText(
      {"output=run.pb", "page_period=10", "page_weight=10", "page_counters=0"});
  const uint64_t begin_ns = MonotonicNs();
  Trace([&] {
    StartTracing();
    AwaitLarger(output_fd_, 0);
    SideProducer side = MakeSideProducer();
    for (uint32_t i = 0; i < 20000; ++i) {
      while (page_->side_head - reply_->side_tail > kSideCells - 8) usleep(100);
      const uint64_t bytes = uint64_t{1} << (i % 2 == 0 ? 30 : 50);
      side.Range(RangeAction::kPopulated, 7, MonotonicNs(), 0, bytes, {});
    }
    SayEnd(0);
    pause();
  });
  EXPECT_LT(MonotonicNs() - begin_ns, 30 * kSecond);
  const FileContents file = ReadDamaged();
  EXPECT_TRUE(file.result.has_footer);
  EXPECT_GT(file.footer.page_stacks_lost(), 10000u);
}

}  // namespace
}  // namespace pymemrun
