// For what a forked child must find zeroed (MADV_WIPEONFORK): that works on
// whole pages, so it needs pages of its own.
#ifndef PYMEMRUN_TRACER_BASE_OWN_PAGE_H_
#define PYMEMRUN_TRACER_BASE_OWN_PAGE_H_

#include <cstddef>

namespace pymemrun {

// As large as pages can be: on aarch64 the kernel's are of 4, 16 or 64 KiB.
#ifdef __aarch64__
inline constexpr size_t kOwnPage = 65536;
#else
inline constexpr size_t kOwnPage = 4096;
#endif

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_OWN_PAGE_H_
