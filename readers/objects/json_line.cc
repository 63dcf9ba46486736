#include "readers/objects/json_line.h"

#include <charconv>

#include "absl/strings/match.h"

namespace pymemrun {
namespace {

constexpr int kMostDepth = 16;

void AppendUtf8(uint32_t code, std::string* out) {
  const auto put = [out](uint32_t byte) {
    out->push_back(static_cast<char>(byte));
  };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// Takes values off the front of a text. Each method is false where there is no
// such value.
class Json {
 public:
  explicit Json(absl::string_view text) : text_(text) {}

  void SkipSpace() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t' ||
                              text_[0] == '\r' || text_[0] == '\n')) {
      text_.remove_prefix(1);
    }
  }
  bool Take(char c) {
    SkipSpace();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool AtEnd() {
    SkipSpace();
    return text_.empty();
  }
  bool IsString() {
    SkipSpace();
    return absl::StartsWith(text_, "\"");
  }
  bool TakeNumber(uint64_t* value) {
    SkipSpace();
    const char* const end = text_.data() + text_.size();
    const auto [at, error] = std::from_chars(text_.data(), end, *value);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(at - text_.data()));
    return text_.empty() || absl::StrContains(",]} \r\t", text_[0]);
  }
  bool TakeString(std::string* out) {
    out->clear();
    if (!Take('"')) return false;
    while (!text_.empty()) {
      const char c = text_[0];
      text_.remove_prefix(1);
      if (c == '"') return true;
      if (c != '\\') {
        out->push_back(c);
      } else if (!TakeEscape(out)) {
        return false;
      }
    }
    return false;
  }
  // A number, a word or a string as text.
  bool TakeText(std::string* out) {
    if (IsString()) return TakeString(out);
    const size_t end = text_.find_first_of(",]} \r\t");
    if (end == 0 || end == absl::string_view::npos) return false;
    out->assign(text_.data(), end);
    text_.remove_prefix(end);
    return true;
  }
  bool TakeNumbers(std::vector<uint64_t>* numbers) {
    if (!Take('[')) return false;
    if (Take(']')) return true;
    do {
      numbers->emplace_back();
      if (!TakeNumber(&numbers->back())) return false;
    } while (Take(','));
    return Take(']');
  }
  bool SkipValue(int depth = 0) {
    std::string ignored;
    SkipSpace();
    const bool is_list = absl::StartsWith(text_, "[");
    if (!is_list && !absl::StartsWith(text_, "{")) return TakeText(&ignored);
    if (depth == kMostDepth) return false;
    const char end = is_list ? ']' : '}';
    text_.remove_prefix(1);
    if (Take(end)) return true;
    do {
      if (!is_list && (!TakeString(&ignored) || !Take(':'))) return false;
      if (!SkipValue(depth + 1)) return false;
    } while (Take(','));
    return Take(end);
  }

 private:
  bool TakeCode(uint32_t* code) {
    if (text_.size() < 4) return false;
    const char* const end = text_.data() + 4;
    const auto [at, error] = std::from_chars(text_.data(), end, *code, 16);
    if (error != std::errc() || at != end) return false;
    text_.remove_prefix(4);
    return true;
  }
  bool TakeEscape(std::string* out) {
    static constexpr absl::string_view kFrom = "nrtbf", kTo = "\n\r\t\b\f";
    if (text_.empty()) return false;
    const char c = text_[0];
    text_.remove_prefix(1);
    if (c != 'u') {
      const size_t at = kFrom.find(c);
      out->push_back(at == absl::string_view::npos ? c : kTo[at]);
      return true;
    }
    uint32_t code, low;
    if (!TakeCode(&code)) return false;
    if (code >= 0xD800 && code < 0xDC00 && absl::StartsWith(text_, "\\u")) {
      const absl::string_view before = text_;
      text_.remove_prefix(2);
      if (TakeCode(&low) && low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      } else {
        text_ = before;
      }
    }
    AppendUtf8(code, out);
    return true;
  }

  absl::string_view text_;
};

bool TakeField(const std::string& key, Json* json, MeliaeObject* object) {
  if (key == "address") return json->TakeNumber(&object->address.emplace());
  if (key == "size") return json->TakeNumber(&object->size_bytes.emplace());
  if (key == "len") return json->TakeNumber(&object->length.emplace());
  if (key == "type") return json->TakeString(&object->type);
  if (key == "refs") return json->TakeNumbers(&object->references);
  if (key == "value") return json->TakeText(&object->text.emplace());
  if (key == "name" && !object->text.has_value()) {
    return json->TakeText(&object->text.emplace());
  }
  return json->SkipValue();
}

}  // namespace

bool ParseMeliaeLine(absl::string_view line, MeliaeObject* object) {
  *object = MeliaeObject();
  Json json(line);
  std::string key;
  if (!json.Take('{')) return false;
  do {
    if (!json.TakeString(&key) || !json.Take(':')) return false;
    if (!TakeField(key, &json, object)) return false;
  } while (json.Take(','));
  if (!json.Take('}')) return false;
  json.Take(',');  // lines of a list have one behind them
  return json.AtEnd() && object->address.has_value() &&
         object->size_bytes.has_value();
}

}  // namespace pymemrun
