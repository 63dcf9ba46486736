// The messages of a small walk, and what readers make of the records. For tests
// only.
#ifndef PYMEMRUN_COLLECTOR_OBJECTS_WALK_FOR_TESTS_H_
#define PYMEMRUN_COLLECTOR_OBJECTS_WALK_FOR_TESTS_H_

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tracer/wire/object_wire.h"

namespace pymemrun {

template <typename Head>
std::string BytesOf(const Head& head) {
  return std::string(reinterpret_cast<const char*>(&head), sizeof(head));
}

inline std::string Message(ObjectMessage kind, const std::string& payload) {
  const WireHead head = {static_cast<uint32_t>(kind),
                         static_cast<uint32_t>(payload.size())};
  return BytesOf(head) + payload;
}

inline std::string TypeMessage(uint32_t id, uint32_t base, bool synthetic,
                               const std::string& module,
                               const std::string& name) {
  ObjectTypeWire wire = {};
  wire.id = id;
  wire.base = base;
  wire.address = synthetic ? 0 : 0x1000 + id;
  wire.head_bytes = synthetic ? 0 : 16;
  wire.synthetic = synthetic ? 1 : 0;
  wire.module_bytes = static_cast<uint32_t>(module.size());
  return Message(ObjectMessage::kType, BytesOf(wire) + module + name);
}

inline std::string NodeMessage(uint32_t type, uint64_t address, uint64_t size,
                               const std::string& text = "") {
  ObjectNodeWire wire = {};
  wire.type = type;
  wire.address = address;
  wire.size_bytes = size;
  wire.has = text.empty() ? 0 : kNodeHasText;
  return Message(ObjectMessage::kNode, BytesOf(wire) + text);
}

inline ObjectEdgeWire EdgeTo(uint32_t target, uint32_t kind,
                             uint32_t name = 0) {
  return {target, kind << kEdgeKindShift | name};
}

inline std::string EdgesMessage(const std::vector<ObjectEdgeWire>& edges) {
  std::string payload;
  for (const ObjectEdgeWire& edge : edges) payload += BytesOf(edge);
  return Message(ObjectMessage::kEdges, payload);
}

inline std::string WalkBegin() {
  ObjectBeginWire begin = {};
  begin.monotonic_ns = 5000000;
  begin.start_monotonic_ns = 1000000;
  begin.start_realtime_ns = 77;
  begin.rss_bytes = 1 << 20;
  begin.reason = 5;
  std::string launch = "pid=42";
  launch += '\0';
  launch += "start_ticks=7";
  launch += '\0';
  return Message(ObjectMessage::kLaunchText, launch) +
         Message(ObjectMessage::kBegin, BytesOf(begin));
}

inline std::string WalkEnd() {
  ObjectEndWire end = {};
  end.duration_us = 99;
  return Message(ObjectMessage::kEnd, BytesOf(end));
}

// The root leads to a list, that twice to a string; and late to another one.
inline std::string SmallWalk() {
  const uint64_t root = 0;
  return WalkBegin() + TypeMessage(1, 0, true, "", "<root>") +
         NodeMessage(1, 0, 0) + Message(ObjectMessage::kName, "top") +
         EdgesMessage({EdgeTo(1, 13, 1)}) +
         TypeMessage(2, 0, false, "builtins", "list") +
         NodeMessage(2, 0x7f0010, 88) +
         EdgesMessage({EdgeTo(2, 4), EdgeTo(2, 4)}) +
         TypeMessage(3, 2, false, "builtins", "str") +
         NodeMessage(3, 0x7f0100, 54, "hello") +
         Message(ObjectMessage::kContinue, BytesOf(root)) +
         EdgesMessage({EdgeTo(3, 13)}) + NodeMessage(3, 0x7f0200, 50, "x") +
         WalkEnd();
}

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OBJECTS_WALK_FOR_TESTS_H_
