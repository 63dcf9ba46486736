#include "tracer/base/next_function.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

namespace pymemrun {
namespace {

using Symbol = ElfW(Sym);
using Word = ElfW(Word);
using Address = ElfW(Addr);

constexpr ElfW(Half) kHiddenVersion = 0x8000;  // foo@OLD, not foo@@NEWEST

// The symbol tables of a loaded object, from its dynamic section (elf(5)).
struct SymbolTables {
  const Symbol* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Half) * versions = nullptr;  // null: it has none
  const Word* gnu_hash = nullptr;         // of the two one at least
  const Word* hash = nullptr;
};

// A loop of its own: strcmp would be a call that leaves the executable.
bool AreEqual(const char* a, const char* b) {
  for (; *a == *b; ++a, ++b) {
    if (*a == '\0') return true;
  }
  return false;
}

// The hash function of DT_GNU_HASH, defined by the GNU linker.
uint32_t GnuHash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) {
    hash = hash * 33 + static_cast<unsigned char>(*name);
  }
  return hash;
}

// The dynamic linker replaces offsets by addresses, except in a read-only
// section.
template <typename T>
const T* TableAt(const link_map& object, Address value) {
  if (value < object.l_addr) value += object.l_addr;
  return reinterpret_cast<const T*>(value);
}

SymbolTables TablesOf(const link_map& object) {
  SymbolTables tables;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const Address value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = TableAt<Symbol>(object, value);
        break;
      case DT_STRTAB:
        tables.names = TableAt<char>(object, value);
        break;
      case DT_VERSYM:
        tables.versions = TableAt<ElfW(Half)>(object, value);
        break;
      case DT_GNU_HASH:
        tables.gnu_hash = TableAt<Word>(object, value);
        break;
      case DT_HASH:
        tables.hash = TableAt<Word>(object, value);
        break;
      default:
        break;
    }
  }
  return tables;
}

// Whether the symbol defines a function of that name, in its default version:
// the one that a lookup without version finds.
bool Defines(const SymbolTables& tables, Word index, const char* name) {
  const Symbol& symbol = tables.symbols[index];
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 ||
      ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ||
      (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)) {
    return false;
  }
  if (tables.versions != nullptr &&
      (tables.versions[index] & kHiddenVersion) != 0) {
    return false;
  }
  return AreEqual(tables.names + symbol.st_name, name);
}

// The table is: 4 words of head, a Bloom filter, buckets, hashes. Symbols of
// one bucket follow each other. The last one has the lowest bit of its hash
// set, which is not compared.
const Symbol* FindByGnuHash(const SymbolTables& tables, const char* name) {
  const Word buckets = tables.gnu_hash[0], first_hashed = tables.gnu_hash[1];
  const size_t filter_words = tables.gnu_hash[2] * (sizeof(Address) / 4);
  if (buckets == 0) return nullptr;
  const Word* const bucket = tables.gnu_hash + 4 + filter_words;
  const Word* const hashes = bucket + buckets;
  const uint32_t wanted = GnuHash(name);
  Word index = bucket[wanted % buckets];
  if (index < first_hashed) return nullptr;  // empty
  for (;; ++index) {
    const Word hash = hashes[index - first_hashed];
    if (((hash ^ wanted) >> 1) == 0 && Defines(tables, index, name)) {
      return &tables.symbols[index];
    }
    if ((hash & 1) != 0) return nullptr;
  }
}

// For objects made by old linkers, which are few and small. Linear in their
// symbols.
const Symbol* FindOneByOne(const SymbolTables& tables, const char* name) {
  const Word count = tables.hash[1];
  for (Word index = 1; index < count; ++index) {
    if (Defines(tables, index, name)) return &tables.symbols[index];
  }
  return nullptr;
}

const Symbol* FindIn(const SymbolTables& tables, const char* name) {
  if (tables.symbols == nullptr || tables.names == nullptr) return nullptr;
  if (tables.gnu_hash != nullptr) return FindByGnuHash(tables, name);
  return tables.hash != nullptr ? FindOneByOne(tables, name) : nullptr;
}

// An IFUNC symbol is a resolver, which returns the function for this processor.
void* AddressOf(const link_map& object, const Symbol& symbol) {
  void* const address =
      reinterpret_cast<void*>(object.l_addr + symbol.st_value);
  if (ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC) return address;
  return reinterpret_cast<void* (*)()>(address)();
}

// The loaded objects in the order of symbol lookup, the executable first. The
// dynamic linker stores the list for debuggers before it relocates anything: in
// DT_DEBUG of the executable. Other objects find it in _r_debug once they are
// relocated.
const link_map* LoadedObjects() {
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_DEBUG || entry->d_un.d_ptr == 0) continue;
    return reinterpret_cast<const r_debug*>(entry->d_un.d_ptr)->r_map;
  }
#ifdef __PIC__
  return _r_debug.r_map;
#else
  return nullptr;
#endif
}

// The object that this code is part of.
const link_map* OwnObject() {
  const link_map* object = LoadedObjects();
  while (object != nullptr && object->l_ld != _DYNAMIC) object = object->l_next;
  return object;
}

}  // namespace

void* FindNext(const char* name) {
  const link_map* object = OwnObject();
  if (object == nullptr) return nullptr;
  while ((object = object->l_next) != nullptr) {
    const Symbol* const symbol = FindIn(TablesOf(*object), name);
    if (symbol != nullptr) return AddressOf(*object, *symbol);
  }
  return nullptr;
}

}  // namespace pymemrun
