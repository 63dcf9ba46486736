#include <memory>
#include <vector>

#include "readers/relations/run/event_cursor.h"
#include "readers/relations/run/run_relations.h"
#include "readers/replay/resident/page_mappings.h"

namespace pymemrun {
namespace {

// Pages side by side that have an owner and a mapping in common. Address 0: it
// is not known.
struct PagePart {
  uint64_t address;
  int64_t pages, bytes;  // those that are known; what they stand for
  const PageOwner* owner;
  uint32_t mapping;
};
using PartRow = EventRow<PagePart>;

// The stack down to your own line; 0: no frame is yours.
uint32_t OwnOf(const PartRow& row) {
  return OwnStackOf(row.index(), row.of.owner->origin());
}

RelationValue MappingOf(const PartRow& row, uint32_t mapping) {
  return mapping == 0 ? RelationValue()
                      : TextOrNot(row.index().MappingName(mapping));
}

constexpr ColumnOf<PartRow> kPartColumns[] = {
    {"address", kText, "address of the first page, 0x...",
     [](const PartRow& row) {
       return row.of.address == 0 ? RelationValue()
                                  : AddressOf(row.of.address, row.made);
     }},
    {"pages", kInteger, "how many",
     [](const PartRow& row) { return RelationValue(row.of.pages); }},
    {"bytes", kBytes,
     "bytes that these pages represent: all rows add up to RSS",
     [](const PartRow& row) { return RelationValue(row.of.bytes); }},
    {"weight", kInteger, "how many pages each recorded page represents",
     [](const PartRow& row) { return IntegerOf(row.of.owner->weight); }},
    {"before_tracing", kInteger, "1: resident before tracing began",
     [](const PartRow& row) {
       return IntegerOf(row.of.owner->before_tracing());
     }},
    {"inferred", kInteger,
     "1: the stack is the nearest one of the thread, not that of the page "
     "fault",
     [](const PartRow& row) { return IntegerOf(row.of.owner->inferred); }},
    {"file", kText,
     "file of the innermost frame; empty where pages were scanned",
     [](const PartRow& row) { return row.File(row.of.owner->stack); }},
    {"line", kInteger, "line of the innermost frame",
     [](const PartRow& row) { return row.Line(row.of.owner->stack); }},
    {"function", kText, "function of the innermost frame",
     [](const PartRow& row) { return row.Function(row.of.owner->stack); }},
    {"own_file", kText, "file of your line that added the pages",
     [](const PartRow& row) { return row.File(OwnOf(row)); }},
    {"own_line", kInteger, "your line that added the pages",
     [](const PartRow& row) { return row.Line(OwnOf(row)); }},
    {"thread", kText, "name#id",
     [](const PartRow& row) {
       const uint32_t thread = row.of.owner->thread;
       return thread == 0 ? RelationValue() : row.Thread(thread);
     }},
    {"stack", kInteger, "an id of stacks",
     [](const PartRow& row) { return IntegerOrNot(row.of.owner->stack); }},
    {"mapping", kText, "what the pages are part of",
     [](const PartRow& row) { return MappingOf(row, row.of.mapping); }},
    {"module", kText, "the file whose instruction touched the pages",
     [](const PartRow& row) {
       return MappingOf(row, row.of.owner->code_mapping);
     }}};

// By address. Then come two rows without an address: what was there before
// tracing and no scan has listed yet, and what has no owner. The latter may be
// negative. Adjacent pages are one row, however many they are. The model is
// freed once it was read.
class Pages final : public NumberedRelation<PartRow> {
 public:
  explicit Pages(RelationRun* run)
      : NumberedRelation({"pages",
                          "adjacent pages of one owner that are resident at "
                          "--at; the last rows have no address, or no owner",
                          kPartColumns}),
        run_(run) {}
  std::string Missing() override { return run_->Lacks(Recorded::kPages); }
  bool of_moment() const override { return true; }

 private:
  absl::StatusOr<uint64_t> End() override {
    if (!read_.has_value())
      read_ = Missing().empty() ? Read() : absl::OkStatus();
    if (!read_->ok()) return *read_;
    return parts_.size();
  }
  PartRow RowAt(uint64_t number, std::string* made) override {
    return {parts_[number], *run_, made};
  }
  absl::Status Read();
  void Take(const ResidentReplay& replay);

  RelationRun* const run_;
  std::optional<absl::Status> read_;  // nothing: not read yet
  std::vector<PagePart> parts_;
  std::vector<PageOwner> owners_;
};

absl::Status Pages::Read() {
  const absl::StatusOr<RunAt>& at = run_->FindAt();
  if (!at.ok()) return at.status();
  ResidentReplay replay(at->moment.UntilUs(), at->hindsight);
  if (!run_->file()->Read(&replay)) return RelationRun::NotRead();
  Take(replay);
  return absl::OkStatus();
}

// Runs of the model that differ only in their time are joined here.
void Pages::Take(const ResidentReplay& replay) {
  const ResidentModel& model = replay.model();
  const auto page_bytes = static_cast<int64_t>(model.page_bytes());
  owners_ = model.owners();
  owners_.push_back({.by_scan = true});  // it is unknown who brought it
  uint64_t end = 0;                      // of the last part
  ForEachMapped(replay, [&](const PageMap::Range& range, uint32_t owner,
                            uint32_t mapping) {
    const PageOwner* const by = &owners_[owner];
    const bool goes_on = !parts_.empty() && end == range.begin &&
                         parts_.back().owner == by &&
                         parts_.back().mapping == mapping;
    if (!goes_on) {
      parts_.push_back({range.begin * model.page_bytes(), 0, 0, by, mapping});
    }
    const auto pages = static_cast<int64_t>(range.end - range.begin);
    parts_.back().pages += pages;
    parts_.back().bytes += pages * page_bytes * by->weight;
    end = range.end;
  });
  const auto add_rest = [&](int64_t bytes, const PageOwner& owner) {
    if (bytes != 0) parts_.push_back({0, bytes / page_bytes, bytes, &owner, 0});
  };
  add_rest(static_cast<int64_t>(model.UnlistedBeforeBytes()), owners_.front());
  add_rest(model.UnattributedBytes(), owners_.back());
}

}  // namespace

std::unique_ptr<Relation> PagesRelation(RelationRun* run) {
  return std::make_unique<Pages>(run);
}

}  // namespace pymemrun
