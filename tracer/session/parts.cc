#include "tracer/session/parts.h"

namespace pymemrun {

constinit Parts g_parts;

}  // namespace pymemrun
