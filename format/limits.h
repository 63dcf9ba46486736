// Limits of the run file, used by writers, readers and tests. FORMAT.md lists
// them, and format_doc_test compares. A value beyond a limit counts as damage.
#ifndef PYMEMRUN_FORMAT_LIMITS_H_
#define PYMEMRUN_FORMAT_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// Frames. Writers end a frame at about kFrameBytes of records.
inline constexpr size_t kFrameBytes = size_t{1} << 20;
inline constexpr size_t kMaxFrameBytes = size_t{32} << 20;  // compressed or not
inline constexpr int kMaxWindowLog = 23;                   // zstd window: 8 MiB
inline constexpr size_t kMaxIndexBytes = size_t{1} << 20;  // compressed or not

// Records. A record of a known kind takes many times its size in memory, so its
// limit is lower. A record of an unknown kind is skipped.
inline constexpr size_t kMaxRecordBytes = size_t{16} << 20;
inline constexpr size_t kMaxKnownRecordBytes = size_t{4} << 20;
// Longest name or text; writers cut longer ones. A definition has four of them
// and must stay below kMaxKnownRecordBytes.
inline constexpr size_t kMaxNameBytes = kMaxKnownRecordBytes / 4 - 1024;
// Most rows, page events or heap events in one record.
inline constexpr size_t kMaxBatchEntries = size_t{1} << 20;

// Memory that a file may use in its readers. Real runs stay far below.
inline constexpr uint32_t kMaxDefinitions = 1u << 24;  // of each kind
inline constexpr uint64_t kMaxDefinitionBytes = uint64_t{256} << 20;
inline constexpr uint32_t kMaxPlaceholders = 1u << 20;
// Deepest stack. The recorder keeps at most 4,096 frames, plus a frame for the
// deeper ones. Without this limit a file could make readers print a million
// callers for each of a million leaves.
inline constexpr uint32_t kMaxStackNodes = 4096 + 1;

// Object dumps: number of nodes, and bytes of the text of an object.
inline constexpr uint64_t kMaxObjects = uint64_t{1} << 31;
inline constexpr size_t kMaxObjectTextBytes = 1024;

// Largest size in bytes. The sum of two sizes cannot overflow.
inline constexpr uint64_t kMaxSizeBytes = uint64_t{1} << 62;
// Upper bound (exclusive) of page numbers, and of the ends of page ranges: an
// address space of 57 bits, the largest of x86-64, in pages of 4 KiB.
inline constexpr uint64_t kMaxPage = uint64_t{1} << 45;
// Most pages in all ranges of a Residency: 64 TiB of small pages.
inline constexpr uint64_t kMaxResidentPages = uint64_t{1} << 34;

// Largest time or count of GIL events: two years in nanoseconds.
inline constexpr uint64_t kMaxGilNanos = uint64_t{1} << 56;

// Largest time or count in StateBatch and SchedBatch, and the longest name of a
// system call.
inline constexpr uint64_t kMaxStateNanos = uint64_t{1} << 56;
inline constexpr size_t kMaxSleepNameBytes = 64;

// Largest time in TaskBatch, and the largest change of RSS in either direction:
// 32 TiB.
inline constexpr uint64_t kMaxTaskNanos = uint64_t{1} << 56;
inline constexpr int64_t kMaxTaskBytes = int64_t{1} << 45;

// Most rows or events in one call of a visitor.
inline constexpr size_t kEntriesPerCall = 4096;

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_LIMITS_H_
