#include "readers/objects_index/packed_details.h"

#include <zstd.h>

#include <algorithm>

#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

constexpr int kLevel = 3;

struct Context {
  ZSTD_CCtx* const zstd = ZSTD_createCCtx();
  ~Context() { ZSTD_freeCCtx(zstd); }
};

}  // namespace

void PackedDetails::Open(absl::string_view bytes, uint64_t offset,
                         uint64_t nodes, const MappedColumn* begins,
                         ColumnDamage* damage) {
  bytes_ = bytes;
  offset_ = offset;
  nodes_ = nodes;
  begins_ = begins;
  damage_ = damage;
  blocks_.resize((nodes + kDetailsBlock - 1) / kDetailsBlock);
}

bool PackedDetails::Fill(size_t number, Block* block) const {
  const uint64_t begin = (*begins_)[number], end = (*begins_)[number + 1];
  if (begin > end || end > bytes_.size()) return false;
  const absl::string_view packed = bytes_.substr(begin, end - begin);
  const unsigned long long size =
      ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kMostDetailsBytes) return false;  // errors are, too
  block->bytes.resize(size);
  if (ZSTD_decompress(&block->bytes[0], size, packed.data(), packed.size()) !=
      size) {
    return false;
  }
  absl::string_view rest = block->bytes;
  const size_t count = std::min<uint64_t>(
      kDetailsBlock, nodes_ - uint64_t{number} * kDetailsBlock);
  for (size_t i = 0; i < count; ++i) {
    if (i % kStep == 0) {
      block->at[i / kStep] = static_cast<uint32_t>(size - rest.size());
    }
    if (!SkipNodeDetails(&rest)) return false;
  }
  return rest.empty();
}

std::unique_ptr<PackedDetails::Block> PackedDetails::Unpack(
    size_t number) const {
  auto block = std::make_unique<Block>();
  block->is_good = Fill(number, block.get());
  if (!block->is_good) {
    block->bytes = {};
    if (!damage_->found) {
      damage_->found = true;
      damage_->offset =
          offset_ + std::min<uint64_t>((*begins_)[number], bytes_.size());
    }
  }
  return block;
}

NodeDetails PackedDetails::Of(NodeId node) const {
  std::unique_ptr<Block>& block = blocks_[node / kDetailsBlock];
  if (block == nullptr) block = Unpack(node / kDetailsBlock);
  if (!block->is_good) return NodeDetails();
  const size_t in = node % kDetailsBlock;
  absl::string_view rest = block->bytes;
  rest.remove_prefix(block->at[in / kStep]);
  NodeDetails details = TakeNodeDetails(&rest);
  for (size_t i = 0; i < in % kStep; ++i) details = TakeNodeDetails(&rest);
  return details;
}

absl::Status DetailsPacker::Add(const NodeDetails& details,
                                std::string* bytes) {
  AppendNodeDetails(details, &pending_);
  return ++count_ % kDetailsBlock == 0 ? Pack(bytes) : absl::OkStatus();
}

absl::Status DetailsPacker::Pack(std::string* bytes) {
  if (pending_.size() > kMostDetailsBytes) {
    return absl::ResourceExhaustedError(
        "the texts of objects are too long for an index");
  }
  static const Context* const context = new Context;
  if (context->zstd == nullptr) {
    return absl::ResourceExhaustedError("no memory for zstd");
  }
  ZSTD_CCtx_setParameter(context->zstd, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context->zstd, ZSTD_c_checksumFlag, 1);
  const size_t before = bytes->size();
  bytes->resize(before + ZSTD_compressBound(pending_.size()));
  const size_t size =
      ZSTD_compress2(context->zstd, &(*bytes)[before], bytes->size() - before,
                     pending_.data(), pending_.size());
  if (ZSTD_isError(size) != 0) {
    return absl::InternalError(ZSTD_getErrorName(size));
  }
  bytes->resize(before + size);
  begins_.push_back(packed_);
  packed_ += size;
  pending_.clear();
  return absl::OkStatus();
}

absl::Status DetailsPacker::Finish(std::string* bytes) {
  if (count_ % kDetailsBlock != 0) RETURN_IF_ERROR(Pack(bytes));
  begins_.push_back(packed_);
  return absl::OkStatus();
}

}  // namespace pymemrun
