// The call tree of `pymemreport gil --off`: where threads wait for the GIL.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_OFF_GIL_TREE_H_
#define PYMEMRUN_READERS_REPLAY_GIL_OFF_GIL_TREE_H_

#include <cstdint>
#include <string>

#include "readers/places/place_tree.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/gil/wait_stacks.h"

namespace pymemrun {

// Fills a tree. Not thread safe; the replay must outlive it.
class OffGilTree {
 public:
  struct Options {
    WaitsBy by = WaitsBy::kWaiter;  // as the replay was made with
    bool merge_threads = false;     // else each thread is an outermost frame
    bool inverted = false;          // not of kBoth
    bool keep_imports = false;      // else an import is one frame
  };
  OffGilTree(const WaitStacks* replay, Options options);

  // The waits of threads that are kept.
  void Add(ThreadFilter* keep);
  // Sleeps for something else, which have no stack. By first ThreadDef.id.
  void AddSleeps(uint32_t thread, const std::string& what, uint64_t ns,
                 uint64_t sleeps);
  // To be called when everything was added.
  void SumUp() { tree_.SumUp(); }
  const PlaceTree& tree() const { return tree_; }
  // Sums over everything that was added.
  uint64_t waited_ns() const { return waited_ns_; }
  uint64_t without_stack_ns() const { return without_stack_ns_; }
  uint64_t slept_ns() const { return slept_ns_; }

 private:
  uint32_t NodeOf(const WaitStacks::Key& key, bool is_large);
  uint32_t WaiterNode(const WaitStacks::Key& key);
  uint32_t HolderNode(const WaitStacks::Key& key, uint32_t root);
  uint32_t Root(std::string name);

  const WaitStacks& replay_;
  const Options options_;
  PlaceTree tree_;
  uint64_t waited_ns_ = 0, without_stack_ns_ = 0, slept_ns_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_OFF_GIL_TREE_H_
