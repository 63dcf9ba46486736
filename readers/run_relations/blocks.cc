#include <algorithm>
#include <utility>

#include "readers/heap/heap_places.h"
#include "readers/moments/moment_reading.h"
#include "readers/places/place_table.h"
#include "readers/relations/columns.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

struct LiveBlock {
  uint64_t address, size;
  double weight;
  uint32_t source;
};

// What was alive at a moment, by address. Without tracing's own.
class LiveBlocks {
 public:
  // Null: it is not known, which has been said.
  static std::unique_ptr<LiveBlocks> Read(RelationRun* run) {
    int code = kExitOk;
    std::vector<HeapMoment> found =
        FindHeapMoments({run->at()}, run->file(), run->console(), &code);
    if (found.empty()) return nullptr;
    HeapMoments moment(std::move(found), /*to_end=*/true);
    if (!run->file()->Read(&moment)) return nullptr;
    auto blocks = std::make_unique<LiveBlocks>();
    blocks->replay_.KnowWaits(moment.moment(0).waits);
    blocks->replay_.LookAt(moment.TimeOf(0), [&blocks] { blocks->Look(); });
    return run->file()->Read(&blocks->replay_) ? std::move(blocks) : nullptr;
  }
  const std::vector<LiveBlock>& all() const { return all_; }
  const HeapSource::Key& KeyOf(const LiveBlock& block) const {
    return replay_.model().sources()[block.source].key;
  }
  const RunIndex& index() const { return replay_.index(); }

 private:
  void Look() {
    const HeapModel& model = replay_.model();
    for (const auto& [address, block] : model.blocks()) {
      if (!model.sources()[block.source].counts()) continue;
      all_.push_back(
          {address, block.size, model.WeightOf(block), block.source});
    }
    std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
      return a.address < b.address;
    });
  }

  HeapReplay replay_;
  std::vector<LiveBlock> all_;
};

struct BlockRow {
  const LiveBlock& block;
  const HeapSource::Key& key;
  const RunIndex& index;
  std::string* made;

  SourceLocation Innermost() const {
    return key.stack == 0 ? SourceLocation() : index.ResolveStack(key.stack);
  }
  // Nothing, where no line is yours.
  SourceLocation Own() const {
    const uint32_t own = OwnStackOf(index, OriginOf(key));
    return own == 0 ? SourceLocation() : index.ResolveStack(own);
  }
};

constexpr ColumnOf<BlockRow> kColumns[] = {
    {"address", kText, "0x...",
     [](const BlockRow& row) {
       return AddressOf(row.block.address, row.made);
     }},
    {"size_bytes", kBytes, "as it was asked for",
     [](const BlockRow& row) { return IntegerOf(row.block.size); }},
    {"weight", kReal, "how many it stands for, where some were sampled",
     [](const BlockRow& row) { return RelationValue(row.block.weight); }},
    {"allocator", kText, "obj, mem, raw, malloc",
     [](const BlockRow& row) {
       return RelationValue(HeapAllocatorName(row.key.allocator));
     }},
    {"file", kText, "of the innermost frame",
     [](const BlockRow& row) { return TextOrNot(row.Innermost().file); }},
    {"line", kInteger, "of the innermost frame",
     [](const BlockRow& row) { return IntegerOrNot(row.Innermost().line); }},
    {"function", kText, "of the innermost frame",
     [](const BlockRow& row) { return TextOrNot(row.Innermost().qualname); }},
    {"own_file", kText, "of your line that it is of",
     [](const BlockRow& row) { return TextOrNot(row.Own().file); }},
    {"own_line", kInteger, "your line that it is of",
     [](const BlockRow& row) { return IntegerOrNot(row.Own().line); }},
    {"thread", kText, "name#id",
     [](const BlockRow& row) {
       return TextOrNot(row.index.LatestThreadLabel(row.key.thread));
     }},
    {"stack", kInteger, "an id of stacks",
     [](const BlockRow& row) { return IntegerOrNot(row.key.stack); }},
    {"caller_module", kText, "the library whose code called malloc",
     [](const BlockRow& row) {
       return row.key.code == 0
                  ? RelationValue()
                  : RelationValue(row.index.MappingName(row.key.code));
     }}};

class Blocks final : public NumberedRelation<BlockRow> {
 public:
  explicit Blocks(RelationRun* run)
      : NumberedRelation(
            {"blocks", "a recorded block that was alive at --at", kColumns}),
        run_(run) {}
  std::string Missing() override { return run_->Lacks(Recorded::kHeap); }

 private:
  absl::StatusOr<uint64_t> End() override {
    if (!was_read_) blocks_ = LiveBlocks::Read(run_);
    was_read_ = true;
    if (blocks_ == nullptr) {
      return absl::InvalidArgumentError("blocks: the moment is not known");
    }
    return blocks_->all().size();
  }
  BlockRow RowAt(uint64_t number, std::string* made) override {
    const LiveBlock& block = blocks_->all()[number];
    return {block, blocks_->KeyOf(block), blocks_->index(), made};
  }

  RelationRun* const run_;
  std::unique_ptr<LiveBlocks> blocks_;
  bool was_read_ = false;
};

}  // namespace

std::unique_ptr<Relation> BlocksRelation(RelationRun* run) {
  return std::make_unique<Blocks>(run);
}

}  // namespace pymemrun
