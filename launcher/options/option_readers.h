// Readers of option values, for the option table. Each stores `text` in
// `options`, or returns false for an invalid value.
#ifndef PYMEMRUN_LAUNCHER_OPTIONS_OPTION_READERS_H_
#define PYMEMRUN_LAUNCHER_OPTIONS_OPTION_READERS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/options.h"

namespace pymemrun {

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

// Sets *value to that of the name `text`. Returns false for other names.
template <typename T, size_t N>
bool Choose(const std::string& text, const Named<T> (&names)[N], T* value) {
  for (const Named<T>& candidate : names) {
    if (candidate.name != text) continue;
    *value = candidate.value;
    return true;
  }
  return false;
}

// Reads one of `kNames` into a field.
template <auto kField, const auto& kNames>
bool SetChoice(const std::string& text, Options* options) {
  return Choose(text, kNames, &(options->*kField));
}

template <bool Options::*kFlag>
bool SetFlag(const std::string&, Options* options) {
  options->*kFlag = true;
  return true;
}

template <bool kOn>
bool SetNative(const std::string&, Options* options) {
  options->heap.native = kOn;
  return true;
}

template <std::string Options::*kField>
bool SetText(const std::string& text, Options* options) {
  options->*kField = text;
  return !text.empty();
}

template <std::vector<std::string> Options::*kList>
bool Append(const std::string& text, Options* options) {
  (options->*kList).push_back(text);
  return !text.empty();
}

bool ReadTrace(const std::string& text, Options* options);
bool ReadCountersEvery(const std::string& text, Options* options);
bool ReadGilMin(const std::string& text, Options* options);
bool ReadPagePeriod(const std::string& text, Options* options);
bool ReadEvents(const std::string& text, Options* options);
bool ReadMinDrss(const std::string& text, Options* options);
bool ReadMinCallDrss(const std::string& text, Options* options);
bool ReadContext(const std::string& text, Options* options);
bool ReadCompress(const std::string& text, Options* options);
bool ReadHeap(const std::string& text, Options* options);
bool ReadHeapRates(const std::string& text, Options* options);
bool ReadHeapBudget(const std::string& text, Options* options);
bool ReadHeapDomains(const std::string& text, Options* options);
bool ReadLight(const std::string& text, Options* options);
bool ReadFull(const std::string& text, Options* options);
bool ReadFollow(const std::string& text, Options* options);
bool ReadImport(const std::string& text, Options* options);
bool ReadObjects(const std::string& text, Options* options);
bool ReadOutput(const std::string& text, Options* options);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_OPTION_READERS_H_
