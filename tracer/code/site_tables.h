// What the run knows code objects and C functions by: the entries of the
// registry's tables, and the few of them that the hot path looks at. GIL held.
#ifndef PYMEMRUN_TRACER_CODE_SITE_TABLES_H_
#define PYMEMRUN_TRACER_CODE_SITE_TABLES_H_

#include "tracer/base/pointer_table.h"
#include "tracer/cpython/compat.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

struct SiteId {
  uint32_t id;     // 0: its definition found no room in the ring
  uint32_t flags;  // kPasses*: what the filters say
};

inline constexpr uint32_t kPassesFile = 1;
inline constexpr uint32_t kPassesName = 2;
// Of code objects: it gives a thread another name.
inline constexpr uint32_t kRenamesThread = 4;

// The tables' entries, here for the hot path.
struct CodeEntry {
  const void* code;
  uint32_t id;
  uint32_t flags;
  bool empty() const { return code == nullptr; }
  uint64_t hash() const { return HashAddress(code); }
};
static_assert(sizeof(CodeEntry) == 16);

struct FunctionEntry {
  const PyMethodDef* method;
  const void* self_type;
  // The definition's contents, in case the PyMethodDef itself was freed and
  // another one made at its address: its implementation's address and the low
  // bits of its name's. Of a definition made at run time, whose name may be
  // freed and replaced as well: a hash of the implementation and the name.
  uint64_t contents;
  uint32_t id;
  uint16_t flags;
  uint16_t name_address;
  bool empty() const { return method == nullptr; }
  uint64_t hash() const { return HashTwo(method, self_type); }
};
static_assert(sizeof(FunctionEntry) == 32);
// Made at run time: only the slow half compares its contents.
inline constexpr uint16_t kVerifyContents = 0x8000;

inline uint64_t AddressOf(PyCFunction implementation) {
  return reinterpret_cast<uintptr_t>(implementation);
}

using CodeTable = PointerTable<CodeEntry, 1u << 16>;
static_assert(CodeTable::kMaxUsed == kMaxCodes);
using FunctionTable = PointerTable<FunctionEntry, 1u << 13>;

// Copies of the entries met last, each in the one place its hash gives. The
// hot path looks here: this is six pages, while the tables proper are spread
// over hundreds, more than the processor's first TLB holds.
struct RecentSites {
  static constexpr uint32_t kSize = 512;
  static uint32_t Index(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32) & (kSize - 1);
  }
  CodeEntry codes[kSize];
  FunctionEntry functions[kSize];
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_SITE_TABLES_H_
