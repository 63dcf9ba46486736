// Which code objects the side ring has defined. Any thread, with or without the
// GIL, in a signal handler too: a lock-free table that was touched before.
#ifndef PYMEMRUN_TRACER_CODE_KNOWN_CODES_H_
#define PYMEMRUN_TRACER_CODE_KNOWN_CODES_H_

#include <atomic>
#include <cstdint>

namespace pymemrun {

class KnownCodes {
 public:
  // Makes and touches the table. Returns false with errno set.
  bool Create();
  // In a forked child: none is known, and the table is gone, until Create().
  void Forget();

  // The id that `code` was defined by, or 0.
  uint32_t Find(const void* code) const;
  // An id that none had, for a definition under way.
  uint32_t NewId();
  // From here on Find(code) is `id`, if there is room; without, it is defined
  // again each time. Two threads may add one object: both ids are good.
  void Add(const void* code, uint32_t id);
  // `code` dies: forgets one id of it and returns that; 0 when there is no
  // more.
  uint32_t Remove(const void* code);

 private:
  struct Entry {
    std::atomic<uintptr_t> code;
    std::atomic<uint32_t> id;  // valid once `code` is an address
  };
  static_assert(sizeof(Entry) == 16);
  Entry& EntryAt(uintptr_t code, uint32_t step) const;

  Entry* entries_ = nullptr;
  std::atomic<uint32_t> last_id_{0};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_KNOWN_CODES_H_
