// A column of numbers, packed so that each can be read by itself: what the index
// of an object dump is made of. FORMAT.md has the layout.
#ifndef PYMEMRUN_READERS_COLUMNS_MAPPED_COLUMN_H_
#define PYMEMRUN_READERS_COLUMNS_MAPPED_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

inline constexpr size_t kColumnBlock = 256;  // numbers

// What stands in the directory for each block. Numbers that lie on a line, about,
// take few bits: base + slope * i + (bits << shift). The few that lie elsewhere
// stand apart, as they are.
struct ColumnBlock {
  uint64_t base;
  int32_t slope;
  uint32_t first_word;  // of the column
  uint8_t shift, width, apart_width, apart;
  uint32_t crc;  // of the block's words, then of what is above
};
static_assert(sizeof(ColumnBlock) == 24);

// Where a mapped file is first found to be wrong.
struct ColumnDamage {
  bool found = false;
  uint64_t offset = 0;  // in the file
};

// Reads numbers where they lie. A block is checked when it is first read. If it
// is damaged its numbers are 0, and the damage is noted: what was made of them
// is to be thrown away. Not thread safe. The bytes must outlive it.
class MappedColumn {
 public:
  struct Place {
    absl::string_view file;
    uint64_t offset = 0, words = 0, rows = 0;
    uint64_t limit = 0;   // all numbers are below it; 0: any
    bool rises = false;   // none is below the one before it
  };

  MappedColumn() = default;
  // False: the place is not within the file, or the rows are not within the
  // place. `damage` must outlive the column.
  bool Open(const Place& place, ColumnDamage* damage);

  size_t size() const { return rows_; }
  // REQUIRES: i < size().
  uint64_t operator[](size_t i) const {
    const size_t block = i / kColumnBlock;
    if (states_[block] != kGood && !Check(block)) return 0;
    return Get(blocks_[block], i % kColumnBlock);
  }
  // The first row with this number; nothing: none has it.
  std::optional<size_t> Find(uint64_t number) const;

 private:
  enum State : uint8_t { kNotSeen, kGood, kBad };

  const uint64_t* Words(const ColumnBlock& block) const {
    return words_ + block.first_word;
  }
  uint64_t Get(const ColumnBlock& block, size_t i) const;
  static uint64_t WordsOf(const ColumnBlock& block);
  bool Check(size_t block) const;
  bool IsGood(size_t block) const;
  bool MayHold(const ColumnBlock& block, uint64_t number) const;

  const uint64_t* words_ = nullptr;
  const ColumnBlock* blocks_ = nullptr;
  uint64_t word_count_ = 0, offset_ = 0, limit_ = 0;
  size_t rows_ = 0;
  bool rises_ = false;
  ColumnDamage* damage_ = nullptr;
  mutable std::vector<State> states_;  // of each block
};

// Packs numbers into bytes: words, and behind them the directory. Not thread
// safe.
class ColumnPacker {
 public:
  // The words come in `words` as they are made; whoever takes them clears it.
  // A column may have 2^32 words.
  void Add(uint64_t number, std::string* words) {
    pending_[count_++ % kColumnBlock] = number;
    if (count_ % kColumnBlock == 0) Pack(kColumnBlock, words);
  }
  // The rest, then the directory. Gives how many words there were; `rows()`
  // stays.
  absl::Status Finish(std::string* bytes);
  uint64_t rows() const { return count_; }
  uint64_t words() const { return word_count_; }

 private:
  void Pack(size_t count, std::string* words);

  uint64_t pending_[kColumnBlock];
  uint64_t count_ = 0, word_count_ = 0;
  std::vector<ColumnBlock> blocks_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COLUMNS_MAPPED_COLUMN_H_
