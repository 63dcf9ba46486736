// The Python stack of the calling thread, read from its frames without the GIL,
// also in a signal handler.
#ifndef PYMEMRUN_TRACER_CODE_OWN_STACK_H_
#define PYMEMRUN_TRACER_CODE_OWN_STACK_H_

#include <cstddef>
#include <cstdint>

#include "tracer/base/safe_read.h"
#include "tracer/ring/side_ring.h"

namespace pymemrun {

class OwnStack {
 public:
  // Makes and touches the table of code objects. Returns false with errno set
  // on failure.
  static bool Create();
  // In a forked child: forgets what the side ring of the parent knew. No frame
  // is read until Allow() is called again.
  static void Forget();
  // Allows reading frames. Call it under the GIL, after Py_Initialize.
  static void Allow();
  // A code object is destroyed: its address may be reused. Under the GIL. No
  // frame of the thread refers to it any more: the interpreter unlinks a frame
  // before it drops what the frame holds.
  static void CodeDied(const void* code);

  // Whether the calling thread is collecting cycles (gc), as far as known
  // (PymemrunIsCollecting). Also in a signal handler.
  static bool IsCollecting();

  // Returns the id of a live code object, and sends its definition if the side
  // ring does not know it; 0 without room. Under the GIL.
  static uint32_t IdOf(const void* code);

  // Reads the stack, and sends unknown code objects to the side ring. The stack
  // must not change until PutInto() is called.
  OwnStack();

  uint32_t frames() const { return frames_; }
  uint16_t flags() const { return flags_; }  // for SideHead
  // Bytes that PutInto() appends after the head.
  size_t payload_bytes() const;
  // Fills the frame of the head, and appends the others.
  void PutInto(SideItem* item);

 private:
  ReadablePages readable_;
  uint32_t frames_ = 0;
  uint16_t flags_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_OWN_STACK_H_
