// Where libc's own functions are found behind the interposed ones, or those of
// a preloaded library that comes before libc.
#ifndef PYMEMRUN_TRACER_NEXT_FUNCTION_H_
#define PYMEMRUN_TRACER_NEXT_FUNCTION_H_

#include <atomic>

namespace pymemrun {

// The function of that name in the first object after this executable that
// defines it: what dlsym(RTLD_NEXT) finds. Null where there is none. It only
// reads the tables of the loaded objects: no lock, no memory, and no call but
// that of the function's own resolver, if it has one (an IFUNC; libc's
// functions that are asked for have none). dlsym frees the text of an earlier
// error, by our own free(). So this works at any time: inside of dlsym, in a
// signal handler, in a vfork child, and before the executable is relocated,
// when no call may leave it. An object that the program loads or drops
// meanwhile stands behind libc, so it is not looked at.
[[gnu::noinline, gnu::cold]] void* FindNext(const char* name);

// The same, found once: `cache` makes it one load later. Two threads that find
// it at a time find the same.
template <typename Function>
inline Function* Next(std::atomic<Function*>& cache, const char* name) {
  Function* function = cache.load(std::memory_order_relaxed);
  if (__builtin_expect(function == nullptr, 0)) {
    function = reinterpret_cast<Function*>(FindNext(name));
    cache.store(function, std::memory_order_relaxed);
  }
  return function;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_NEXT_FUNCTION_H_
