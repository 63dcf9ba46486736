// Messages of an object dump: the forked child that walks the objects writes
// them to a pipe, the dump's collector reads them. Also the status page that
// these two share with the traced process.
//
// The stream is a sequence of messages, each a WireHead and `bytes` bytes. The
// child is not trusted: the collector checks every size, id and number.
#ifndef PYMEMRUN_TRACER_WIRE_OBJECT_WIRE_H_
#define PYMEMRUN_TRACER_WIRE_OBJECT_WIRE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pymemrun {

// Descriptors of `pymemrun-collector --objects`, besides /dev/null on 0 to 2.
inline constexpr int kObjectPipeFd = 3;    // the read end
inline constexpr int kObjectOutputFd = 4;  // the dump's file, empty, writable
inline constexpr int kObjectStatusFd = 5;  // memfd: ObjectStatus

enum class ObjectMessage : uint32_t {
  kLaunchText = 1,  // launch text of the run; the first message
  kBegin = 2,       // ObjectBeginWire; the second
  kType = 3,        // ObjectTypeWire, module, name
  kName = 4,        // text; ids count up from 1
  kNode = 5,        // ObjectNodeWire, text; numbers count up from 0
  kEdges = 6,       // ObjectEdgeWire[]: references of the last node
  kContinue = 7,    // u64: the next kEdges belong to this node
  kEnd = 8,         // ObjectEndWire; the last message
};

struct WireHead {
  uint32_t kind;   // ObjectMessage
  uint32_t bytes;  // bytes after this head
};
static_assert(sizeof(WireHead) == 8);

inline constexpr uint32_t kMaxObjectMessage = 64 * 1024;
inline constexpr uint32_t kMaxLaunchMessage = 16 * 1024 * 1024;
inline constexpr uint32_t kMaxWireTypes = 1u << 22;
inline constexpr uint32_t kMaxWireNames = 1u << 24;

struct ObjectBeginWire {
  uint64_t monotonic_ns;  // of the fork
  uint64_t rss_bytes;
  uint64_t start_monotonic_ns;  // of the run...
  uint64_t start_realtime_ns;
  uint32_t reason;  // ObjectsReason of objects.proto
  uint32_t time_is_tsc;
};
static_assert(sizeof(ObjectBeginWire) == 40);

struct ObjectTypeWire {
  uint64_t address;
  uint32_t id;    // counts up from 1
  uint32_t base;  // an id, or 0
  uint32_t head_bytes;
  uint32_t synthetic;     // 0 or 1
  uint32_t module_bytes;  // then the name follows
  uint32_t unused;
};
static_assert(sizeof(ObjectTypeWire) == 32);

// Bits of ObjectNodeWire::has.
inline constexpr uint32_t kNodeHasLength = 1;
inline constexpr uint32_t kNodeHasText = 2;

struct ObjectNodeWire {
  uint64_t address;
  uint64_t size_bytes;
  uint64_t length;
  uint64_t text_hash;
  uint32_t type;
  uint32_t flags;  // of ObjectBatch::Flag
  uint32_t line;
  uint32_t has;
  uint64_t beside;        // address of the separate block of its items
  uint64_t beside_bytes;  // part of size_bytes in that block; 0: no block
};
static_assert(sizeof(ObjectNodeWire) == 64);

// Kinds of references are those of objects.proto's EdgeKind.
struct ObjectEdgeWire {
  uint32_t target;         // number of a node, at most the next new one
  uint32_t kind_and_name;  // kind << 27 | id of the name, or 0
};
static_assert(sizeof(ObjectEdgeWire) == 8);
inline constexpr uint32_t kEdgeKindShift = 27;
inline constexpr uint32_t kEdgeNameMask = (1u << kEdgeKindShift) - 1;

struct ObjectEndWire {
  uint64_t duration_us;
  uint64_t at_address;
  uint32_t outcome;  // ObjectsEnd::Outcome
  uint32_t signal;
  uint32_t at_type;
  uint32_t unused;
};
static_assert(sizeof(ObjectEndWire) == 32);

// Shared by the traced process, the child and the collector. The traced process
// reads only plain numbers from it, because the others are not trusted.
struct ObjectStatus {
  // Written by the traced process: microseconds that it stood still for the
  // fork, + 1; 0: not known yet.
  std::atomic<uint64_t> pause_us_plus_1;

  // Written by the child and, once it runs, by the collector.
  std::atomic<uint32_t> done;  // futex word; 1: all fields below are valid
  std::atomic<uint32_t> heartbeat;
  // Futex word: first 0, then the pid of the child once the child may be
  // killed, then the pid of the collector.
  std::atomic<uint32_t> writer;
  uint32_t start_errno;  // why the collector did not start
  uint32_t outcome;      // ObjectsEnd::Outcome
  uint32_t signal;
  uint32_t whole;  // 1: the file has everything that the child sent
  int32_t write_errno;
  uint64_t objects;
  uint64_t references;
  uint64_t duration_us;
  uint64_t file_bytes;
};
inline constexpr size_t kObjectStatusBytes = 4096;
static_assert(sizeof(ObjectStatus) <= kObjectStatusBytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_OBJECT_WIRE_H_
