// For a pymemrun that embeds no interpreter, as that of the wheel.
#include "launcher/python_runtime.h"

namespace pymemrun {

int RunPython(const PythonStart&, const TraceRequest*) { return 2; }

EmbeddedPython PythonEmbedded() { return {"", "", ""}; }

}  // namespace pymemrun
