#include "tracer/session/parts.h"

#include <new>

namespace pymemrun {

constinit Parts g_parts;

// In a forked child: all parts begin anew, except what belongs to the
// interpreter.
void Parts::Renew() {
  const Startup started = startup;
  const HeapModule module = heap;
  new (this) Parts;
  new (&startup) Startup(started);
  new (&heap) HeapModule(module);
}

}  // namespace pymemrun
