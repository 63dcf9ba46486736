#include "tracer/hot_state.h"

namespace pymemrun {

constinit HotPage g_hot_page = {};
constinit SharedSigns g_signs = {};
constinit thread_local uint32_t t_thread_id = 0;

}  // namespace pymemrun
