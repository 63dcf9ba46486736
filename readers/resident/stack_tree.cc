#include "readers/resident/stack_tree.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/output/whole_number.h"
#include "readers/places/rough_rows.h"

namespace pymemrun {

StackTree::StackTree(GroupBy by, const ResidentReplay* replay,
                     ThreadFilter* threads)
    : replay_(*replay), tree_(by, &replay->index()) {
  const ResidentModel& model = replay_.model();
  const auto page_bytes = static_cast<double>(model.page_bytes());
  for (uint32_t owner = 1; owner < model.owners().size(); ++owner) {
    const auto pages = static_cast<double>(model.PagesOf(owner));
    if (pages == 0) continue;
    const PageOwner& of = model.owners()[owner];
    if (threads != nullptr && !of.before_tracing() &&
        !threads->Keeps(of.thread)) {
      tree_.AddNamed(kOtherThreads, pages * page_bytes, pages);
    } else {
      tree_.Add(NodeOf(of), pages * page_bytes, pages);
    }
  }
  const auto before = static_cast<double>(model.UnlistedBeforeBytes());
  tree_.AddNamed(kBeforeTracing, before, before / page_bytes);
  tree_.SumUp();
}

uint32_t StackTree::NodeOf(const PageOwner& owner) {
  if (!owner.before_tracing()) return tree_.NodeOf(replay_.OriginOf(owner));
  return tree_.Child(
      tree_.Child(0, NamedPlace(kBeforeTracing)),
      PlaceOf(GroupBy::kMapping, replay_.index(), owner.origin()));
}

Table StackTree::ToTable(uint64_t limit, TableFormat format) const {
  const ResidentModel& model = replay_.model();
  const auto rss = static_cast<double>(model.RssBytes());
  Table table;
  table.headings = PlaceTree::NameHeadings(format);
  table.headings.insert(table.headings.end(),
                        {{"resident_bytes", "resident", CellLook::kBytes},
                         {"self_bytes", "self", CellLook::kBytes},
                         {"share", "share", CellLook::kShare}});
  const auto add = [&](const PlaceTree::Node& node, Cell bytes, Cell self,
                       double share) {
    std::vector<Cell> cells = PlaceTree::NameCells(node, format);
    cells.push_back(std::move(bytes));
    cells.push_back(std::move(self));
    cells.emplace_back(rss > 0 ? share / rss : 0.0);
    table.rows.push_back(std::move(cells));
  };
  for (const uint32_t id : tree_.Ordered(limit)) {
    const PlaceTree::Node& node = tree_.nodes()[id];
    add(node, WholeNumber(node.bytes), WholeNumber(node.self_bytes),
        node.bytes);
  }
  PlaceTree::Node unattributed;
  unattributed.place.file = kUnattributed;
  const int64_t bytes = model.UnattributedBytes();
  add(unattributed, bytes, bytes, static_cast<double>(bytes));
  if (format == TableFormat::kText) DropRough(&table);
  return table;
}

void StackTree::PrintCollapsed(OutputBuffer* output) const {
  tree_.PrintCollapsed(output);
  const int64_t rest = replay_.model().UnattributedBytes();
  if (rest > 0) {
    output->Append(absl::StrCat(kUnattributed, " ", rest, "\n"));
  }
}

}  // namespace pymemrun
