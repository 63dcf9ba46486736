#include "tracer/base/hot_state.h"

namespace pymemrun {

constinit HotPage g_hot_page = {};
constinit thread_local uint32_t t_thread_id = 0;

}  // namespace pymemrun
