#include "tracer/objects/graph_names.h"

#ifndef PYMEMRUN_NO_OBJECTS
#include <string.h>

#include <initializer_list>

namespace pymemrun {

// Multiply-and-fold over words of 8 bytes: the two halves of a 128-bit product
// are combined by xor. Not cryptographic: equal hashes only make two cut texts
// look equal.
uint64_t HashBytes(const void* data, size_t bytes) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;
  const char* at = static_cast<const char*>(data);
  uint64_t hash = bytes * kFactor;
  const auto mix = [&hash](uint64_t word) {
    const __uint128_t product =
        static_cast<__uint128_t>(hash ^ word) * (kFactor | 1);
    hash = static_cast<uint64_t>(product) ^
           static_cast<uint64_t>(product >> 64) ^ (word >> 7);
  };
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    mix(word);
  }
  uint64_t word = 0;
  memcpy(&word, at, bytes);
  mix(word + 1);
  return hash ^ hash >> 29;
}

void GraphTypes::Say(const ObjectTypeWire& wire, const char* name,
                     size_t bytes) {
  char message[sizeof(wire) + 1024];
  memcpy(message, &wire, sizeof(wire));
  memcpy(message + sizeof(wire), name, bytes);
  pipe_->Put(ObjectMessage::kType, message, sizeof(wire) + bytes, nullptr, 0);
}

void GraphTypes::DefineSynthetic() {
  for (const char* name : {"<root>", "<group>", "<frame>", "<thread>"}) {
    ObjectTypeWire wire = {};
    wire.id = ++last_id_;
    wire.synthetic = 1;
    Say(wire, name, strlen(name));
  }
}

// Reads the facts of a type once, for all its objects, and sends its
// definition.
uint32_t GraphTypes::Define(PyTypeObject* type, uint32_t base) {
  Type entry;
  PymemrunTypeFactsOf(type, &entry.facts);
  const uint32_t members = PymemrunMembersOf(type, nullptr, 0);
  if (members > 0) {
    auto* const list = static_cast<PymemrunMember*>(
        arena_.Allocate(members * sizeof(PymemrunMember)));
    PymemrunMembersOf(type, list, members);
    entry.facts.members = list;
    entry.facts.member_count = members;
  }
  entry.id = ++last_id_;
  types_.Push(entry);
  by_address_.Add(reinterpret_cast<uint64_t>(type),
                  static_cast<uint32_t>(types_.size()));
  ObjectTypeWire wire = {};
  wire.address = reinterpret_cast<uint64_t>(type);
  wire.id = entry.id;
  wire.base = base;
  wire.head_bytes = static_cast<uint32_t>(entry.facts.head_bytes);
  char text[1024];
  const size_t module = PymemrunTypeModule(type, text, 400);
  const size_t name = PymemrunTypeName(type, text + module, 400);
  wire.module_bytes = static_cast<uint32_t>(module);
  Say(wire, text, module + name);
  return entry.id;
}

const GraphTypes::Type& GraphTypes::Find(PyTypeObject* type) {
  uint32_t index = by_address_.Find(reinterpret_cast<uint64_t>(type));
  // Defines base types first, as a type refers to the id of its base. Without
  // recursion, because hierarchies may be deep.
  while (index == 0) {
    PyTypeObject* first = type;
    uint32_t base = 0;
    while (first->tp_base != nullptr) {
      const uint32_t known =
          by_address_.Find(reinterpret_cast<uint64_t>(first->tp_base));
      if (known != 0) {
        base = types_[known - 1].id;
        break;
      }
      first = first->tp_base;
    }
    Define(first, base);
    index = by_address_.Find(reinterpret_cast<uint64_t>(type));
  }
  last_type_ = type;
  last_ = index - 1;
  return types_[last_];
}

// Ids of names. A small cache by address comes first: names are interned, so
// the same attribute has the same address in most objects.
uint32_t GraphNames::Of(PyObject* name) {
  const uint64_t hash = PointerMap::HashOf(reinterpret_cast<uint64_t>(name));
  Recent& recent = recent_[hash % kRecent];
  if (recent.name == name) return recent.id;
  char text[kPymemrunTextBytes];
  const int bytes = PymemrunNameText(name, text);
  const uint32_t id = bytes < 0 ? 0 : OfText(text, static_cast<size_t>(bytes));
  recent = {name, id};
  return id;
}

uint32_t GraphNames::Of(const char* ascii) {
  Recent& recent =
      recent_[PointerMap::HashOf(reinterpret_cast<uint64_t>(ascii)) % kRecent];
  if (recent.name == ascii) return recent.id;
  recent = {ascii, OfText(ascii, strlen(ascii))};
  return recent.id;
}

// Names are found by their text, so equal names have one id.
uint32_t GraphNames::OfText(const char* text, size_t bytes) {
  if (slots_ == nullptr || size_t{2} * count_ > mask_) Grow();
  size_t at = HashBytes(text, bytes) & mask_;
  for (; slots_[at].id != 0; at = (at + 1) & mask_) {
    const Text& there = slots_[at];
    if (there.bytes == bytes && memcmp(there.at, text, bytes) == 0) {
      return there.id;
    }
  }
  // Too many names: further ones are left out.
  if (count_ + 1 >= kMaxWireNames) return 0;
  char* copy = static_cast<char*>(arena_.Allocate(bytes));
  memcpy(copy, text, bytes);
  slots_[at] = {copy, static_cast<uint32_t>(bytes), ++count_};
  pipe_->Put(ObjectMessage::kName, text, bytes, nullptr, 0);
  return count_;
}

void GraphNames::Grow() {
  constexpr size_t kFirstSlots = 8192;
  const size_t slots = slots_ == nullptr ? 0 : mask_ + 1;
  Text* const before = slots_;
  const size_t more = slots == 0 ? kFirstSlots : 2 * slots;
  slots_ = static_cast<Text*>(MapChildMemory(more * sizeof(Text)));
  mask_ = more - 1;
  for (size_t i = 0; i < slots; ++i) {
    if (before[i].id == 0) continue;
    size_t at = HashBytes(before[i].at, before[i].bytes) & mask_;
    while (slots_[at].id != 0) at = (at + 1) & mask_;
    slots_[at] = before[i];
  }
  if (slots != 0) UnmapChildMemory(before, slots * sizeof(Text));
}

}  // namespace pymemrun
#endif
