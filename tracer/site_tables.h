// What the run knows code objects and C functions by: the entries of the
// registry's tables, and the few of them that the hot path looks at. GIL held.
#ifndef PYMEMRUN_TRACER_SITE_TABLES_H_
#define PYMEMRUN_TRACER_SITE_TABLES_H_

#include "tracer/cpython_compat.h"
#include "tracer/pointer_table.h"

namespace pymemrun {

struct SiteId {
  uint32_t id;     // 0: its definition found no room in the ring
  uint32_t flags;  // kPasses*: what the filters say
};

inline constexpr uint32_t kPassesFile = 1;
inline constexpr uint32_t kPassesName = 2;

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
  // another one made at its address.
  PyCFunction implementation;
  uint32_t id;
  uint16_t flags;
  uint16_t name_check;  // low bits of the name's address or, where names are
                        // made at run time, a hash of the name
  bool empty() const { return method == nullptr; }
  uint64_t hash() const { return HashTwo(method, self_type); }
};
static_assert(sizeof(FunctionEntry) == 32);
// The name's text must be compared, not its address: only the slow half does.
inline constexpr uint16_t kVerifyName = 0x8000;

using CodeTable = PointerTable<CodeEntry, 1u << 16>;
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

#endif  // PYMEMRUN_TRACER_SITE_TABLES_H_
