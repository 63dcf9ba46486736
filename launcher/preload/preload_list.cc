#include "launcher/preload/preload_list.h"

#include <stdlib.h>

#include <algorithm>
#include <cstring>

namespace pymemrun {

std::string PreloadsWithout(std::string_view list, std::string_view object) {
  std::string rest;
  while (!list.empty()) {
    const size_t end = list.find_first_of(kPreloadSeparators);
    const std::string_view one = list.substr(0, end);
    list.remove_prefix(one.size() + (end != std::string_view::npos));
    if (one.empty() || one == object) continue;
    if (!rest.empty()) rest += ':';
    rest += one;
  }
  return rest;
}

void LeaveOutOfPreloads(const std::string& object) {
  char* const list = getenv(kPreloadVariable);
  if (list == nullptr) return;
  const std::string rest = PreloadsWithout(list, object);
  if (rest.empty()) return ForgetVariable(kPreloadVariable);
  // It is shorter, or the same.
  const size_t size = std::strlen(list);
  std::memset(list, 0, size);
  rest.copy(list, std::min(size, rest.size()));
}

void ExchangeInPreloads(const std::string& object, const std::string& other) {
  const char* const list = getenv(kPreloadVariable);
  if (list == nullptr) return;
  std::string text = list;
  const size_t at = text.find(object);
  if (at == std::string::npos) return;
  text.replace(at, object.size(), other);
  setenv(kPreloadVariable, text.c_str(), 1);
}

void ForgetVariable(const char* name) {
  char* const value = getenv(name);
  if (value == nullptr) return;
  unsetenv(name);
  char* const text = value - std::strlen(name) - 1;
  std::memset(text, 0, std::strlen(text));
}

}  // namespace pymemrun
