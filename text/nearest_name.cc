#include "text/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace pymemrun {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  }
  return lower;
}

// The number of single-character changes from `a` to `b` (Levenshtein
// distance). Only one row of the algorithm's table is kept.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

// Whether both have the same letters, in a different order.
bool HasSwapped(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::is_permutation(a.begin(), a.end(), b.begin());
}

}  // namespace

// The name with the fewest changes wins, the first one among equals. A name
// that begins with the word counts as equal to it, if the word has two letters
// or more besides its dashes. Two swapped letters count as one change. `least`
// is above the most changes allowed, which grow with the word: 1 below 5
// letters, 2 below 8. Words above 64 bytes are not compared, since the distance
// takes quadratic time.
std::string NearestName(std::string_view word,
                        const std::vector<std::string>& names) {
  constexpr size_t kLongestWord = 64;
  constexpr size_t kFewestLetters = 2;
  std::string nearest;
  if (word.size() > kLongestWord) return nearest;
  const std::string typed = LowerCase(word);
  const size_t dashes = std::min(typed.find_first_not_of('-'), typed.size());
  const bool may_begin = typed.size() - dashes >= kFewestLetters;
  // In a short word two changed letters already make another word.
  const size_t letters = typed.size() - dashes;
  size_t least = letters < 5 ? 2 : letters < 8 ? 3 : letters / 2;
  for (const std::string& name : names) {
    const std::string known = LowerCase(name);
    const bool begins = may_begin && known.compare(0, typed.size(), typed) == 0;
    size_t distance = begins ? 0 : EditDistance(typed, known);
    if (distance == 2 && HasSwapped(typed, known)) distance = 1;
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

// Cuts words of more than `longest` bytes to their first 100 bytes and dots.
// What follows a closing quote, such as a colon, is kept. Then the whole
// message is cut to ten times `longest`. No character is cut in two.
std::string ShortWords(std::string_view message, size_t longest) {
  constexpr size_t kShown = 100;
  const auto begin_of = [](std::string_view text, size_t size) {
    // Bytes of one character.
    while (size > 0 && (text[size] & 0xc0) == 0x80) --size;
    return std::string(text.substr(0, size)) + "...";
  };
  std::string text;
  for (size_t at = 0; at < message.size();) {
    const size_t end = std::min(message.find(' ', at), message.size());
    const std::string_view word = message.substr(at, end - at);
    if (word.size() <= longest) {
      text += word;
    } else {
      const size_t quote = word.front() == '\'' ? word.rfind('\'') : 0;
      text += begin_of(word, kShown);
      if (quote > kShown) text += word.substr(quote);
    }
    if (end < message.size()) text += ' ';
    at = end + 1;
  }
  const size_t most = 10 * longest;
  return text.size() > most ? begin_of(text, most) : text;
}

}  // namespace pymemrun
