#include "readers/objects/findings/collapse.h"

#include <utility>
#include <vector>

#include "readers/objects/graph/parents.h"

namespace pymemrun {
namespace {

class Collapser {
 public:
  explicit Collapser(const ObjectGraph& graph)
      : graph_(graph), made_(std::make_unique<ObjectGraph>()) {}

  Collapsed Collapse() {
    FindDicts();
    CopyDefinitions();
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (owner_[node] == kNoNode) CopyNode(node);
    }
    made_->Finish();
    made_->facts() = graph_.facts();
    return {std::move(made_), dicts_};
  }

 private:
  bool IsDict(NodeId node) const {
    return graph_.type_name(graph_.type(node)) == "dict";
  }
  // A dictionary that something else refers to, as a variable does, stays an
  // object of its own.
  void FindDicts() {
    const Parents parents(graph_);
    owner_.assign(graph_.nodes(), kNoNode);
    new_number_.resize(graph_.nodes());
    NodeId number = 0;
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (parents.count(node) == 1) {
        const uint32_t edge = parents.EdgesTo(node)[0];
        const NodeId owner = graph_.SourceOf(edge);
        if (graph_.kind(edge) == EDGE_DICT && !graph_.is_synthetic(owner) &&
            IsDict(node) && !IsDict(owner)) {
          owner_[node] = owner;
          ++dicts_;
          continue;
        }
      }
      new_number_[node] = number++;
    }
  }
  // Id 0 of types and names is there already.
  void CopyDefinitions() {
    for (size_t i = 1; i < graph_.types().size(); ++i) {
      made_->AddType(graph_.types()[i]);
    }
    for (uint32_t i = 1; i < graph_.name_count(); ++i) {
      made_->AddName(graph_.name(i));
    }
  }
  void CopyNode(NodeId node) {
    const NodeDetails details = graph_.details(node);
    ObjectNode copy;
    copy.address = graph_.address(node);
    copy.size_bytes = graph_.size_bytes(node);
    copy.length = details.length;
    if (details.text.has_value()) copy.text = *details.text;
    copy.text_hash = details.hash;
    copy.type = graph_.type(node);
    copy.flags = graph_.flags(node);
    copy.line = details.line;
    for (uint32_t e = graph_.first_edge(node); e < graph_.first_edge(node + 1);
         ++e) {
      if (owner_[graph_.target(e)] == node) {
        copy.size_bytes += graph_.size_bytes(graph_.target(e));
      }
    }
    made_->AddNode(copy);
    CopyReferences(node, new_number_[node]);
  }
  // The references of a folded dictionary take the place of the reference to
  // it. It folds no dictionary itself: one level of recursion.
  void CopyReferences(NodeId node, NodeId from) {
    for (uint32_t e = graph_.first_edge(node); e < graph_.first_edge(node + 1);
         ++e) {
      const NodeId target = graph_.target(e);
      if (owner_[target] == node) {
        CopyReferences(target, from);
        continue;
      }
      // There are no more than in the other graph.
      made_
          ->AddReference(
              {from, new_number_[target], graph_.name_id(e), graph_.kind(e)})
          .IgnoreError();
    }
  }

  const ObjectGraph& graph_;
  std::unique_ptr<ObjectGraph> made_;
  std::vector<NodeId> owner_;  // of folded dictionaries
  std::vector<NodeId> new_number_;
  uint64_t dicts_ = 0;
};

}  // namespace

Collapsed CollapseInstanceDicts(const ObjectGraph& graph) {
  return Collapser(graph).Collapse();
}

}  // namespace pymemrun
