// Which code objects the side ring has defined. Any thread, with or without the
// GIL, in a signal handler too: a lock-free table that was touched before.
#ifndef PYMEMRUN_TRACER_KNOWN_CODES_H_
#define PYMEMRUN_TRACER_KNOWN_CODES_H_

#include <cstdint>

namespace pymemrun {

class KnownCodes {
 public:
  // Makes and touches the table. Returns false with errno set.
  static bool Create();

  // The id that `code` was defined by, or 0.
  static uint32_t Find(const void* code);
  // An id that none had, for a definition under way.
  static uint32_t NewId();
  // From here on Find(code) is `id`, if there is room; without, it is defined
  // again each time. Two threads may add one object: both ids are good.
  static void Add(const void* code, uint32_t id);
  // `code` dies: forgets one id of it and returns that; 0 when there is no
  // more.
  static uint32_t Remove(const void* code);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_KNOWN_CODES_H_
