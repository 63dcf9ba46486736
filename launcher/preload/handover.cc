#include "launcher/preload/handover.h"

#include <charconv>

namespace pymemrun {

// As netstrings: a length, a colon, so many bytes.
std::string HandoverText(const std::vector<std::string>& strings) {
  std::string text;
  for (const std::string& string : strings) {
    text += std::to_string(string.size()) + ":" + string;
  }
  return text;
}

bool ReadHandoverText(std::string_view text,
                      std::vector<std::string>* strings) {
  strings->clear();
  while (!text.empty()) {
    size_t size = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, size);
    if (error != std::errc() || at == end || *at != ':') return false;
    text.remove_prefix(static_cast<size_t>(at - text.data()) + 1);
    if (text.size() < size) return false;
    strings->emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace pymemrun
