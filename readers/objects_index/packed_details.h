// Values, names and lengths of objects in an index: blocks of nodes, each block
// packed by zstd.
#ifndef PYMEMRUN_READERS_OBJECTS_INDEX_PACKED_DETAILS_H_
#define PYMEMRUN_READERS_OBJECTS_INDEX_PACKED_DETAILS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "readers/columns/mapped_column.h"
#include "readers/objects/node_details.h"

namespace pymemrun {

inline constexpr size_t kDetailsBlock = 1024;  // nodes
// Unpacked: each node may have a text of 1024 bytes.
inline constexpr size_t kMostDetailsBytes = kDetailsBlock * (1024 + 64);

// Unpacks blocks as they are asked for, and keeps them. Not thread safe.
class PackedDetails final : public StoredDetails {
 public:
  // `begins`: a row for each block, and one more, each within `bytes`. `offset`:
  // of the bytes in their file. All must outlive it.
  void Open(absl::string_view bytes, uint64_t offset, uint64_t nodes,
            const MappedColumn* begins, ColumnDamage* damage);
  // Nothing where the block is damaged, which is noted.
  NodeDetails Of(NodeId node) const override;

 private:
  static constexpr size_t kStep = 32;
  struct Block {
    std::string bytes;
    // Where those of each kStep-th node begin.
    std::array<uint32_t, kDetailsBlock / kStep> at = {};
    bool is_good = false;
  };
  std::unique_ptr<Block> Unpack(size_t number) const;
  bool Fill(size_t number, Block* block) const;

  absl::string_view bytes_;
  uint64_t offset_ = 0, nodes_ = 0;
  const MappedColumn* begins_ = nullptr;
  ColumnDamage* damage_ = nullptr;
  mutable std::vector<std::unique_ptr<Block>> blocks_;
};

// Packs the details of nodes, which come in their order. Not thread safe.
class DetailsPacker {
 public:
  // Appends to `bytes` when a block is full. Fails when texts are too long.
  absl::Status Add(const NodeDetails& details, std::string* bytes);
  // The rest, and the last begin.
  absl::Status Finish(std::string* bytes);
  const std::vector<uint64_t>& begins() const { return begins_; }

 private:
  absl::Status Pack(std::string* bytes);

  std::string pending_;
  size_t count_ = 0;
  uint64_t packed_ = 0;
  std::vector<uint64_t> begins_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_PACKED_DETAILS_H_
