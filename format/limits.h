// The limits of the run file, each named once: for who writes one, who reads
// one, and for tests. FORMAT.md lists them, and format_doc_test compares.
// Readers take what lies beyond for damage.
#ifndef PYMEMRUN_FORMAT_LIMITS_H_
#define PYMEMRUN_FORMAT_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// Frames. Writers end a frame at about kFrameBytes of records.
inline constexpr size_t kFrameBytes = size_t{1} << 20;
inline constexpr size_t kMaxFrameBytes = size_t{32} << 20;  // either way
inline constexpr int kMaxWindowLog = 23;                    // of zstd: 8 MiB
inline constexpr size_t kMaxIndexBytes = size_t{1} << 20;   // either way

// Records. One of a kind that a reader knows becomes many times its size in
// memory, one of another kind is passed over.
inline constexpr size_t kMaxRecordBytes = size_t{16} << 20;
inline constexpr size_t kMaxKnownRecordBytes = size_t{4} << 20;
// Writers cut names and texts to this: a definition has four, and must stay
// below kMaxKnownRecordBytes.
inline constexpr size_t kMaxNameBytes = kMaxKnownRecordBytes / 4 - 1024;
// Of rows, page events or heap events in one record.
inline constexpr size_t kMaxBatchEntries = size_t{1} << 20;

// What one file may make its readers hold. Real runs stay far below.
inline constexpr uint32_t kMaxDefinitions = 1u << 24;  // of a kind
inline constexpr uint64_t kMaxDefinitionBytes = uint64_t{256} << 20;
inline constexpr uint32_t kMaxPlaceholders = 1u << 20;
// The recorder keeps 4,096 frames of a stack at most, and one that stands for
// the deeper ones. A file with deeper stacks could make its readers write each
// of a million leaves with a million callers.
inline constexpr uint32_t kMaxStackNodes = 4096 + 1;

// Of an object dump: its nodes, and each text of an object.
inline constexpr uint64_t kMaxObjects = uint64_t{1} << 31;
inline constexpr size_t kMaxObjectTextBytes = 1024;

// Sizes above this are no sizes: it keeps sums of two from overflowing.
inline constexpr uint64_t kMaxSizeBytes = uint64_t{1} << 62;
// Pages are below this, and so are the ends of ranges of them: an address space
// of 57 bits, the largest of x86-64, in pages of 4 KiB.
inline constexpr uint64_t kMaxPage = uint64_t{1} << 45;
// Of all ranges of a Residency: 64 TiB of small pages.
inline constexpr uint64_t kMaxResidentPages = uint64_t{1} << 34;

// Times and counts of GIL events: two years in ns.
inline constexpr uint64_t kMaxGilNanos = uint64_t{1} << 56;

// Times and counts of StateBatches and SchedBatches: likewise. And what stands
// there for a system call.
inline constexpr uint64_t kMaxStateNanos = uint64_t{1} << 56;
inline constexpr size_t kMaxSleepNameBytes = 64;

// Times of TaskBatches: likewise. And what RSS changed by, either way: 32 TiB.
inline constexpr uint64_t kMaxTaskNanos = uint64_t{1} << 56;
inline constexpr int64_t kMaxTaskBytes = int64_t{1} << 45;

// Readers give rows and events to visitors in pieces of at most so many.
inline constexpr size_t kEntriesPerCall = 4096;

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_LIMITS_H_
