#include <algorithm>
#include <utility>

#include "readers/heap/heap_places.h"
#include "readers/moments/moment_reading.h"
#include "readers/places/place_table.h"
#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

constexpr RelationColumn kColumns[] = {
    {"address", ValueKind::kText, Unit::kNone, "0x..."},
    {"size_bytes", ValueKind::kInteger, Unit::kBytes, "as it was asked for"},
    {"weight", ValueKind::kReal, Unit::kNone,
     "how many it stands for, where some were sampled"},
    {"allocator", ValueKind::kText, Unit::kNone, "obj, mem, raw, malloc"},
    {"file", ValueKind::kText, Unit::kNone, "of the innermost frame"},
    {"line", ValueKind::kInteger, Unit::kNone, "of the innermost frame"},
    {"function", ValueKind::kText, Unit::kNone, "of the innermost frame"},
    {"own_file", ValueKind::kText, Unit::kNone, "of your line that it is of"},
    {"own_line", ValueKind::kInteger, Unit::kNone, "your line that it is of"},
    {"thread", ValueKind::kText, Unit::kNone, "name#id"},
    {"stack", ValueKind::kInteger, Unit::kNone, "an id of stacks"},
    {"caller_module", ValueKind::kText, Unit::kNone,
     "the library whose code called malloc"}};

struct LiveBlock {
  uint64_t address, size;
  double weight;
  uint32_t source;
};

// What was alive at a moment, by address. Without tracing's own.
class LiveBlocks {
 public:
  // Null: it is not known, which has been said.
  static std::unique_ptr<LiveBlocks> Read(RelationRun* run, const Moment& at) {
    int code = kExitOk;
    std::vector<HeapMoment> found =
        FindHeapMoments({at}, run->file(), run->console(), &code);
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

class BlockCursor final : public RowCursor {
 public:
  // Null: they are not known.
  explicit BlockCursor(const LiveBlocks* blocks) : blocks_(blocks) {}
  absl::StatusOr<bool> Next() override {
    if (blocks_ == nullptr) {
      return absl::InvalidArgumentError("blocks: the moment is not known");
    }
    return ++at_ < blocks_->all().size();
  }
  RelationValue At(int column) override {
    const LiveBlock& block = blocks_->all()[at_];
    const HeapSource::Key& key = blocks_->KeyOf(block);
    switch (column) {
      case 0:
        made_ = absl::StrCat("0x", absl::Hex(block.address));
        return absl::string_view(made_);
      case 1:
        return IntegerOf(block.size);
      case 2:
        return block.weight;
      case 3:
        return HeapAllocatorName(key.allocator);
      case 9:
        return TextOrNot(blocks_->index().LatestThreadLabel(key.thread));
      case 10:
        return IntegerOrNot(key.stack);
      case 11:
        return key.code == 0 ? RelationValue()
                             : blocks_->index().MappingName(key.code);
      default:
        return OfPlace(key, column);
    }
  }

 private:
  RelationValue OfPlace(const HeapSource::Key& key, int column) const {
    const RunIndex& index = blocks_->index();
    const bool is_own = column == 7 || column == 8;
    const uint32_t stack =
        is_own ? OwnStackOf(index, OriginOf(key)) : key.stack;
    if (stack == 0) return {};
    const SourceLocation place = index.ResolveStack(stack);
    if (column == 4 || column == 7) return TextOrNot(place.file);
    return column == 6 ? TextOrNot(place.qualname) : IntegerOrNot(place.line);
  }

  const LiveBlocks* const blocks_;
  size_t at_ = SIZE_MAX;
  std::string made_;
};

class Blocks final : public Relation {
 public:
  Blocks(RelationRun* run, const Moment& at) : run_(run), moment_(at) {}
  const char* name() const override { return "blocks"; }
  const char* about() const override {
    return "a recorded block that was alive at --at";
  }
  absl::Span<const RelationColumn> columns() const override { return kColumns; }
  std::unique_ptr<RowCursor> Rows() override {
    if (!was_read_) blocks_ = LiveBlocks::Read(run_, moment_);
    was_read_ = true;
    return std::make_unique<BlockCursor>(blocks_.get());
  }
  std::string Missing() override {
    return run_->header().heap() == HEAP_OFF
               ? "has no heap events: it was made with --heap off"
               : "";
  }

 private:
  RelationRun* const run_;
  const Moment moment_;
  std::unique_ptr<LiveBlocks> blocks_;
  bool was_read_ = false;
};

}  // namespace

std::unique_ptr<Relation> BlocksRelation(RelationRun* run, const Moment& at) {
  return std::make_unique<Blocks>(run, at);
}

}  // namespace pymemrun
