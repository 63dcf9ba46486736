#include "launcher/preload/handover.h"

#include <charconv>

namespace pymemrun {
namespace {

constexpr std::string_view kOnce = "once", kStays = "stays";

// As netstrings: a length, a colon, so many bytes.
bool ReadStrings(std::string_view text, std::vector<std::string>* strings) {
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

void AddString(std::string_view string, std::string* text) {
  text->append(std::to_string(string.size())).append(":").append(string);
}

}  // namespace

std::string HandoverText(const Handover& handover) {
  std::string text;
  AddString(handover.once ? kOnce : kStays, &text);
  for (const std::string& option : handover.options) AddString(option, &text);
  return text;
}

bool ReadHandoverText(std::string_view text, Handover* handover) {
  std::vector<std::string> strings;
  if (!ReadStrings(text, &strings) || strings.empty()) return false;
  handover->once = strings[0] == kOnce;
  handover->options.assign(strings.begin() + 1, strings.end());
  return handover->once || strings[0] == kStays;
}

}  // namespace pymemrun
