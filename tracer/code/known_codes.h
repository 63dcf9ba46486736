// Code objects defined in the side ring. A lock-free table, touched before use.
// Any thread, with or without the GIL, also in a signal handler.
#ifndef PYMEMRUN_TRACER_CODE_KNOWN_CODES_H_
#define PYMEMRUN_TRACER_CODE_KNOWN_CODES_H_

#include <atomic>
#include <cstdint>

namespace pymemrun {

class KnownCodes {
 public:
  // Makes and touches the table. Returns false with errno set on failure.
  bool Create();
  // In a forked child: forgets all, and the table, until Create() is called.
  void Forget();

  // Returns the id of `code`, or 0 if it was not defined.
  uint32_t Find(const void* code) const;
  // Returns an unused id for a new definition.
  uint32_t NewId();
  // Adds a code object, if there is room; otherwise it is defined again each
  // time. Two threads may add the same object: both ids are valid.
  void Add(const void* code, uint32_t id);
  // `code` is destroyed: removes one of its ids and returns it; 0 if there are
  // no more.
  uint32_t Remove(const void* code);

 private:
  struct Entry {
    std::atomic<uintptr_t> code;
    std::atomic<uint32_t> id;  // valid once `code` is set
  };
  static_assert(sizeof(Entry) == 16);
  Entry& EntryAt(uintptr_t code, uint32_t step) const;

  Entry* entries_ = nullptr;
  std::atomic<uint32_t> last_id_{0};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_KNOWN_CODES_H_
