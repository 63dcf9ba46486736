#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "readers/places/place_table.h"
#include "readers/relations/engine/relation_columns.h"
#include "readers/relations/run/run_relations.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/moments/moment_reading.h"

namespace pymemrun {
namespace {

struct LiveBlock {
  uint64_t address, size;
  double weight;
  uint32_t source;
};

// Reads up to the event at the peak of live bytes. A time is not enough: later
// events may have the same microsecond.
class UntilHeapPeak final : public HeapReplay {
 public:
  // `found`: has read the whole run.
  explicit UntilHeapPeak(const HeapModel& found)
      : time_us_(found.peak_us()), bytes_(found.peak_bytes()) {}

 private:
  bool OnHeap(const HeapEvent* events, size_t count) override {
    const HeapEvent* const end = events + count;
    const HeapEvent* event = std::find_if(
        events, end,
        [this](const HeapEvent& one) { return one.time_us >= time_us_; });
    if (event != events) HeapReplay::OnHeap(events, event - events);
    for (; event != end; ++event) {
      // A forked process may have had its peak at its start.
      if (model().peak_us() == time_us_ && model().peak_bytes() == bytes_) {
        EndAt(time_us_);
        return false;
      }
      HeapReplay::OnHeap(event, 1);
    }
    return true;
  }

  const uint64_t time_us_;
  const double bytes_;
};

// What was alive at a moment, by address, without tracing's own. The model
// keeps only live blocks, so it is read up to the moment, and then kept.
class LiveBlocks {
 public:
  // When the peak was is known only at the end of a reading, so a peak takes
  // two.
  static absl::StatusOr<std::unique_ptr<LiveBlocks>> Read(RelationRun* run) {
    const absl::StatusOr<HeapMoment> at =
        FindHeapMoment(run->at(), ReadingOf(run->file()));
    if (!at.ok()) return RelationRun::NoMoment(at.status());
    std::unique_ptr<HeapReplay> replay =
        std::make_unique<HeapMoments>(std::vector<HeapMoment>{*at});
    if (!run->file()->Read(replay.get())) return RelationRun::NotRead();
    if (at->kind == HeapMoment::kPeak) {
      auto again = std::make_unique<UntilHeapPeak>(replay->model());
      again->KnowWaits(at->waits);
      replay = std::move(again);
      if (!run->file()->Read(replay.get())) return RelationRun::NotRead();
    }
    return std::make_unique<LiveBlocks>(std::move(replay));
  }

  explicit LiveBlocks(std::unique_ptr<HeapReplay> replay)
      : replay_(std::move(replay)) {
    const HeapModel& model = replay_->model();
    for (const auto& [address, block] : model.blocks()) {
      if (!model.sources()[block.source].counts()) continue;
      all_.push_back(
          {address, block.size, model.WeightOf(block), block.source});
    }
    std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
      return a.address < b.address;
    });
  }
  const std::vector<LiveBlock>& all() const { return all_; }
  const HeapSource::Key& KeyOf(const LiveBlock& block) const {
    return replay_->model().sources()[block.source].key;
  }
  const RunIndex& index() const { return replay_->index(); }

 private:
  const std::unique_ptr<HeapReplay> replay_;
  std::vector<LiveBlock> all_;
};

// Refers to the block, and to what the columns need of its source.
struct BlockRow {
  const LiveBlock& block;
  const HeapSource::Key& key;
  const RunIndex& index;
  std::string* made;

  SourceLocation Innermost() const {
    return key.stack == 0 ? SourceLocation() : index.ResolveStack(key.stack);
  }
  // Unknown if no frame is the user's own.
  SourceLocation Own() const {
    const uint32_t own = OwnStackOf(index, OriginOf(key));
    return own == 0 ? SourceLocation() : index.ResolveStack(own);
  }
};

constexpr ColumnOf<BlockRow> kBlockColumns[] = {
    {"address", kText, "0x...",
     [](const BlockRow& row) {
       return AddressOf(row.block.address, row.made);
     }},
    {"size_bytes", kBytes, "size as requested",
     [](const BlockRow& row) { return IntegerOf(row.block.size); }},
    {"weight", kReal, "how many blocks it represents, if blocks were sampled",
     [](const BlockRow& row) { return RelationValue(row.block.weight); }},
    {"allocator", kText, "obj, mem, raw, malloc",
     [](const BlockRow& row) {
       return RelationValue(HeapAllocatorName(row.key.allocator));
     }},
    {"file", kText, "file of the innermost frame",
     [](const BlockRow& row) { return TextOrNot(row.Innermost().file); }},
    {"line", kInteger, "line of the innermost frame",
     [](const BlockRow& row) { return IntegerOrNot(row.Innermost().line); }},
    {"function", kText, "function of the innermost frame",
     [](const BlockRow& row) { return TextOrNot(row.Innermost().qualname); }},
    {"own_file", kText, "file of your line that allocated it",
     [](const BlockRow& row) { return TextOrNot(row.Own().file); }},
    {"own_line", kInteger, "your line that allocated it",
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

// Reads the run when rows are first asked for, and keeps them for later
// queries.
class Blocks final : public NumberedRelation<BlockRow> {
 public:
  explicit Blocks(RelationRun* run)
      : NumberedRelation({"blocks", "a recorded block that was alive at --at",
                          kBlockColumns}),
        run_(run) {}
  std::string Missing() override { return run_->Lacks(Recorded::kHeap); }
  bool of_moment() const override { return true; }

 private:
  absl::StatusOr<uint64_t> End() override {
    if (!blocks_.has_value()) blocks_ = LiveBlocks::Read(run_);
    if (!blocks_->ok()) return blocks_->status();
    return all().all().size();
  }
  BlockRow RowAt(uint64_t number, std::string* made) override {
    const LiveBlock& block = all().all()[number];
    return {block, all().KeyOf(block), all().index(), made};
  }
  const LiveBlocks& all() const { return ***blocks_; }

  RelationRun* const run_;
  // Nothing: not read yet.
  std::optional<absl::StatusOr<std::unique_ptr<LiveBlocks>>> blocks_;
};

}  // namespace

std::unique_ptr<Relation> BlocksRelation(RelationRun* run) {
  return std::make_unique<Blocks>(run);
}

}  // namespace pymemrun
