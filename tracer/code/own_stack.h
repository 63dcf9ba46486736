// The calling thread's own Python stack, read from its frames without the GIL,
// in a signal handler too.
#ifndef PYMEMRUN_TRACER_CODE_OWN_STACK_H_
#define PYMEMRUN_TRACER_CODE_OWN_STACK_H_

#include <cstddef>
#include <cstdint>

#include "tracer/base/safe_read.h"
#include "tracer/ring/side_ring.h"

namespace pymemrun {

class OwnStack {
 public:
  // Makes and touches the table of code objects. Returns false with errno set.
  static bool Create();
  // In a forked child: what the parent's side ring knows is not known here. No
  // frame is read until Allow() is called again.
  static void Forget();
  // Frames may be read from here on. Under the GIL, after Py_Initialize.
  static void Allow();
  // The code object dies: its address may become another's. Under the GIL. No
  // frame of the thread names it any more: the interpreter takes a frame from
  // the chain before it drops what the frame holds.
  static void CodeDied(const void* code);

  // Whether the calling thread collects cycles (gc), as far as that can be
  // known (PymemrunIsCollecting). In a signal handler too.
  static bool IsCollecting();

  // The id of a code object that is alive, sent if the side ring does not know
  // it; 0 without room. Under the GIL.
  static uint32_t IdOf(const void* code);

  // Looks at the stack, and sends the code objects that the side ring does not
  // know. It must not change until PutInto() is called.
  OwnStack();

  uint32_t frames() const { return frames_; }
  uint16_t flags() const { return flags_; }  // of SideHead
  // Bytes behind the head that PutInto() appends.
  size_t payload_bytes() const;
  // Fills the head's frame, and appends the others.
  void PutInto(SideItem* item);

 private:
  ReadablePages readable_;
  uint32_t frames_ = 0;
  uint16_t flags_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_OWN_STACK_H_
