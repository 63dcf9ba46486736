// Which memory is a thread's stack. The kernel says so of the main thread's
// alone.
//
// glibc maps the others as anonymous memory of the default size, right above a
// guard page that nobody may touch. What is mapped above it later may look like
// part of the same mapping. Stacks of sizes that the program chose are not
// known.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_THREAD_STACK_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_THREAD_STACK_H_

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>

#include "absl/strings/string_view.h"

namespace pymemrun {

// As kernels before 4.5 began such names.
inline constexpr absl::string_view kThreadStackName = "[stack of a thread]";

// Of threads that are made with default attributes, as glibc computes it, in a
// process that had this one's limits when it began.
inline uint64_t DefaultThreadStackBytes() {
  constexpr uint64_t kWithoutLimit = uint64_t{2} << 20;
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return kWithoutLimit;
  if (limit.rlim_cur == RLIM_INFINITY) return kWithoutLimit;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (limit.rlim_cur + page - 1) / page * page;
}

// What is mapped somewhere, as far as it matters here.
struct PrivateMemory {
  uint64_t begin = 0, end = 0;
  bool anonymous =
      false;  // private, and of no file; the rest says nothing else
  bool readable = false, writable = false;
};

// How much from the beginning of `memory` is a thread's stack, if `below` is
// what lies before it in the list of mappings.
inline uint64_t ThreadStackBytes(const PrivateMemory& below,
                                 const PrivateMemory& memory,
                                 uint64_t default_bytes) {
  constexpr uint64_t kLargestPage = uint64_t{64} << 10;
  const bool is_guard = below.anonymous && !below.readable && !below.writable &&
                        below.end - below.begin <= kLargestPage;
  const bool is_stack = memory.anonymous && memory.readable &&
                        memory.writable && memory.begin == below.end &&
                        memory.end - memory.begin >= default_bytes;
  return is_guard && is_stack ? default_bytes : 0;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_THREAD_STACK_H_
