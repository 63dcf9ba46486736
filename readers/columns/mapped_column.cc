#include "readers/columns/mapped_column.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace pymemrun {
namespace {

constexpr size_t kWordBits = 64;
// Which numbers stand apart: a bit for each.
constexpr size_t kMapWords = kColumnBlock / kWordBits;

size_t WordsFor(size_t bits) { return (bits + kWordBits - 1) / kWordBits; }

uint64_t LowBits(uint64_t value, unsigned width) {
  return width == 64 ? value : value & ((uint64_t{1} << width) - 1);
}

// The number of `width` bits at this position.
uint64_t TakeBits(const uint64_t* words, size_t i, unsigned width) {
  if (width == 0) return 0;
  const size_t bit = i * width, word = bit / kWordBits, in = bit % kWordBits;
  uint64_t value = words[word] >> in;
  if (in + width > kWordBits) value |= words[word + 1] << (kWordBits - in);
  return LowBits(value, width);
}

void PutBits(uint64_t* words, size_t i, unsigned width, uint64_t value) {
  if (width == 0) return;
  const size_t bit = i * width, word = bit / kWordBits, in = bit % kWordBits;
  words[word] |= value << in;
  if (in + width > kWordBits) words[word + 1] |= value >> (kWordBits - in);
}

unsigned WidthOf(uint64_t value) {
  return value == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(value));
}

bool IsApart(const uint64_t* map, size_t i) {
  return (map[i / kWordBits] >> (i % kWordBits) & 1) != 0;
}

uint32_t CrcOf(const ColumnBlock& block, const uint64_t* words, size_t count) {
  uLong crc = crc32(0, reinterpret_cast<const Bytef*>(words),
                    static_cast<uInt>(count * sizeof(uint64_t)));
  crc = crc32(crc, reinterpret_cast<const Bytef*>(&block),
              offsetof(ColumnBlock, crc));
  return static_cast<uint32_t>(crc);
}

}  // namespace

bool MappedColumn::Open(const Place& place, ColumnDamage* damage) {
  const uint64_t blocks = (place.rows + kColumnBlock - 1) / kColumnBlock;
  const uint64_t size = place.file.size();
  if (place.offset % sizeof(uint64_t) != 0 || place.offset > size ||
      place.words > (size - place.offset) / sizeof(uint64_t) ||
      place.rows > uint64_t{1} << 40 ||
      blocks > (size - place.offset - place.words * sizeof(uint64_t)) /
                   sizeof(ColumnBlock)) {
    return false;
  }
  const char* const begin = place.file.data() + place.offset;
  words_ = reinterpret_cast<const uint64_t*>(begin);
  blocks_ = reinterpret_cast<const ColumnBlock*>(
      begin + place.words * sizeof(uint64_t));
  word_count_ = place.words;
  offset_ = place.offset;
  limit_ = place.limit;
  rises_ = place.rises;
  rows_ = place.rows;
  damage_ = damage;
  states_.assign(blocks, kNotSeen);
  return true;
}

uint64_t MappedColumn::WordsOf(const ColumnBlock& block) {
  const size_t packed = WordsFor(kColumnBlock * block.width);
  return block.apart == 0
             ? packed
             : packed + kMapWords + WordsFor(block.apart * block.apart_width);
}

uint64_t MappedColumn::Get(const ColumnBlock& block, size_t i) const {
  const uint64_t* const words = Words(block);
  if (block.apart > 0) {
    const uint64_t* const map = words + WordsFor(kColumnBlock * block.width);
    if (IsApart(map, i)) {
      size_t before = static_cast<size_t>(__builtin_popcountll(
          LowBits(map[i / kWordBits], i % kWordBits)));
      for (size_t word = 0; word < i / kWordBits; ++word) {
        before += static_cast<size_t>(__builtin_popcountll(map[word]));
      }
      return TakeBits(map + kMapWords, before, block.apart_width);
    }
  }
  return block.base + static_cast<uint64_t>(int64_t{block.slope}) * i +
         (TakeBits(words, i, block.width) << block.shift);
}

bool MappedColumn::Check(size_t block) const {
  if (states_[block] == kNotSeen) {
    states_[block] = IsGood(block) ? kGood : kBad;
    if (states_[block] == kBad && !damage_->found) {
      damage_->found = true;
      damage_->offset = offset_ + word_count_ * sizeof(uint64_t) +
                        block * sizeof(ColumnBlock);
    }
  }
  return states_[block] == kGood;
}

bool MappedColumn::IsGood(size_t number) const {
  const ColumnBlock& block = blocks_[number];
  if (block.width > 64 || block.apart_width > 64 || block.shift > 63) {
    return false;
  }
  const uint64_t words = WordsOf(block);
  if (block.first_word > word_count_ ||
      words > word_count_ - block.first_word ||
      block.crc != CrcOf(block, Words(block), words)) {
    return false;
  }
  if (block.apart > 0) {
    const uint64_t* const map =
        Words(block) + WordsFor(kColumnBlock * block.width);
    int apart = 0;
    for (size_t word = 0; word < kMapWords; ++word) {
      apart += __builtin_popcountll(map[word]);
    }
    if (apart != block.apart) return false;
  }
  const size_t count = std::min(kColumnBlock, rows_ - number * kColumnBlock);
  uint64_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t value = Get(block, i);
    if ((limit_ != 0 && value >= limit_) || (rises_ && value < last)) {
      return false;
    }
    last = value;
  }
  return true;
}

// By the directory alone, unless numbers stand apart.
bool MappedColumn::MayHold(const ColumnBlock& block, uint64_t number) const {
  if (block.apart > 0 || block.width + block.shift >= 63) return true;
  const int64_t end = int64_t{block.slope} * (int64_t{kColumnBlock} - 1);
  const uint64_t below = end < 0 ? static_cast<uint64_t>(-end) : 0;
  const uint64_t above =
      (end > 0 ? static_cast<uint64_t>(end) : 0) +
      (LowBits(~uint64_t{0}, block.width) << block.shift);
  return number - (block.base - below) <= below + above;
}

std::optional<size_t> MappedColumn::Find(uint64_t number) const {
  for (size_t block = 0; block < states_.size(); ++block) {
    if (!MayHold(blocks_[block], number)) continue;
    const size_t begin = block * kColumnBlock;
    const size_t end = std::min(rows_, begin + kColumnBlock);
    for (size_t i = begin; i < end; ++i) {
      if ((*this)[i] == number) return i;
    }
  }
  return std::nullopt;
}

namespace {

// How the numbers of a block are to be packed along one slope.
struct Plan {
  uint64_t base = 0;
  int64_t slope = 0;
  unsigned shift = 0, width = 64, apart_width = 0;
  size_t apart = 0, words = ~size_t{0};
  std::array<bool, kColumnBlock> is_apart = {};
};

using Numbers = std::array<uint64_t, kColumnBlock>;

// Most lie near the median of what the line leaves. Takes the width that needs
// the fewest words, if what lies beyond it stands apart.
void ChooseWidth(const Numbers& numbers, const Numbers& rests,
                 uint64_t median, Plan* plan) {
  std::array<uint16_t, 66> by_width = {};
  std::array<uint8_t, kColumnBlock> widths;
  for (size_t i = 0; i < kColumnBlock; ++i) {
    const auto off = static_cast<int64_t>(rests[i] - median);
    const unsigned width =
        off == 0 ? 0 : WidthOf(static_cast<uint64_t>(off < 0 ? ~off : off)) + 1;
    widths[i] = static_cast<uint8_t>(std::min(width, 65u));
    ++by_width[widths[i]];
  }
  unsigned apart_width = 0;
  for (const uint64_t number : numbers) {
    apart_width = std::max(apart_width, WidthOf(number));
  }
  size_t near = 0, best = ~size_t{0};
  unsigned chosen = 65;
  for (unsigned width = 0; width < by_width.size(); ++width) {
    near += by_width[width];
    const size_t apart = kColumnBlock - near;
    if (apart >= kColumnBlock) continue;
    const size_t words =
        4 * std::min(width, 64u) +
        (apart == 0 ? 0 : kMapWords + WordsFor(apart * apart_width));
    if (words < best) {
      best = words;
      chosen = width;
    }
  }
  for (size_t i = 0; i < kColumnBlock; ++i) {
    plan->is_apart[i] = widths[i] > chosen;
  }
}

Plan PlanFor(const Numbers& numbers, int64_t slope) {
  Plan plan;
  plan.slope = slope;
  Numbers rests;
  for (size_t i = 0; i < kColumnBlock; ++i) {
    rests[i] = numbers[i] - static_cast<uint64_t>(slope) * i;
  }
  Numbers sorted = rests;
  std::nth_element(sorted.begin(), sorted.begin() + kColumnBlock / 2,
                   sorted.end());
  const uint64_t median = sorted[kColumnBlock / 2];
  ChooseWidth(numbers, rests, median, &plan);
  int64_t least = 0, most = 0;  // off the median
  uint64_t bits = 0;
  for (size_t i = 0; i < kColumnBlock; ++i) {
    if (plan.is_apart[i]) {
      ++plan.apart;
      plan.apart_width = std::max(plan.apart_width, WidthOf(numbers[i]));
      continue;
    }
    const auto off = static_cast<int64_t>(rests[i] - median);
    least = std::min(least, off);
    most = std::max(most, off);
    bits |= static_cast<uint64_t>(off);
  }
  plan.base = median + static_cast<uint64_t>(least);
  plan.shift =
      bits == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(bits));
  plan.width = WidthOf((static_cast<uint64_t>(most) -
                        static_cast<uint64_t>(least)) >>
                       plan.shift);
  plan.words =
      WordsFor(kColumnBlock * plan.width) +
      (plan.apart == 0
           ? 0
           : kMapWords + WordsFor(plan.apart * plan.apart_width));
  return plan;
}

// The commonest step, about.
int64_t MedianStep(const Numbers& numbers) {
  std::array<int64_t, kColumnBlock - 1> steps;
  for (size_t i = 0; i + 1 < kColumnBlock; ++i) {
    steps[i] = static_cast<int64_t>(numbers[i + 1] - numbers[i]);
  }
  auto middle = steps.begin() + steps.size() / 2;
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

}  // namespace

void ColumnPacker::Pack(size_t count, std::string* words) {
  Numbers numbers;
  for (size_t i = 0; i < kColumnBlock; ++i) {
    numbers[i] = pending_[std::min(i, count - 1)];
  }
  Plan plan = PlanFor(numbers, 0);
  const int64_t step = MedianStep(numbers);
  if (plan.words > 0 && step != 0 && step >= INT32_MIN && step <= INT32_MAX) {
    const Plan other = PlanFor(numbers, step);
    if (other.words < plan.words) plan = other;
  }
  std::vector<uint64_t> packed(plan.words);
  uint64_t* const map = packed.data() + WordsFor(kColumnBlock * plan.width);
  size_t apart = 0;
  for (size_t i = 0; i < kColumnBlock; ++i) {
    if (plan.is_apart[i]) {
      map[i / kWordBits] |= uint64_t{1} << (i % kWordBits);
      PutBits(map + kMapWords, apart++, plan.apart_width, numbers[i]);
    } else {
      PutBits(packed.data(), i, plan.width,
              (numbers[i] - plan.base -
               static_cast<uint64_t>(plan.slope) * i) >>
                  plan.shift);
    }
  }
  ColumnBlock block = {};
  block.base = plan.base;
  block.slope = static_cast<int32_t>(plan.slope);
  block.first_word = static_cast<uint32_t>(word_count_);
  block.shift = static_cast<uint8_t>(plan.shift);
  block.width = static_cast<uint8_t>(plan.width);
  block.apart_width = static_cast<uint8_t>(plan.apart_width);
  block.apart = static_cast<uint8_t>(plan.apart);
  block.crc = CrcOf(block, packed.data(), packed.size());
  blocks_.push_back(block);
  word_count_ += packed.size();
  words->append(reinterpret_cast<const char*>(packed.data()),
                packed.size() * sizeof(uint64_t));
}

absl::Status ColumnPacker::Finish(std::string* bytes) {
  if (count_ % kColumnBlock != 0) Pack(count_ % kColumnBlock, bytes);
  if (word_count_ > UINT32_MAX) {
    return absl::ResourceExhaustedError("a column is too large for an index");
  }
  bytes->append(reinterpret_cast<const char*>(blocks_.data()),
                blocks_.size() * sizeof(ColumnBlock));
  return absl::OkStatus();
}

}  // namespace pymemrun
