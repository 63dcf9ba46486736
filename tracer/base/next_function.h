// Where libc's own functions are found behind the interposed ones, or those of
// a preloaded library that comes before libc.
#ifndef PYMEMRUN_TRACER_BASE_NEXT_FUNCTION_H_
#define PYMEMRUN_TRACER_BASE_NEXT_FUNCTION_H_

#include <atomic>
#include <cstddef>

namespace pymemrun {

// Returns the function of that name in the first object after this executable
// that defines it, as dlsym(RTLD_NEXT) does; null: not defined.
//
// Only reads tables of the loaded objects. Takes no lock and no memory. Calls
// only the resolver of the function, if it is an IFUNC; the functions of libc
// needed here are not. dlsym would free the text of an earlier error, by the
// interposed free(). So this works at any time: inside dlsym, in a signal
// handler, in a vfork child, and before the executable is relocated, when no
// call may leave it. Objects that the program loads or unloads are behind libc,
// so they are not looked at.
[[gnu::noinline, gnu::cold]] void* FindNext(const char* name);

// A name as a template's argument.
template <size_t kSize>
struct FunctionName {
  char text[kSize];
  constexpr FunctionName(const char (&name)[kSize]) {  // NOLINT: converts
    for (size_t i = 0; i < kSize; ++i) text[i] = name[i];
  }
};

// The same, found once for each name: after that it costs one load. Two threads
// that find it at a time find the same.
template <FunctionName kName>
constinit std::atomic<void*> g_next{nullptr};

template <FunctionName kName, typename Function>
inline Function* Next(Function*) {
  void* function = g_next<kName>.load(std::memory_order_relaxed);
  if (__builtin_expect(function == nullptr, 0)) {
    function = FindNext(kName.text);
    g_next<kName>.store(function, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function*>(function);
}

// For a function that we define under libc's name: libc's own.
#define PYMEMRUN_NEXT(name) ::pymemrun::Next<#name>(::name)

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_NEXT_FUNCTION_H_
