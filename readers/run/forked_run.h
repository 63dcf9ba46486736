// Reads the run file of a forked process for a heap replay, which starts with
// the parent's live blocks.
#ifndef PYMEMRUN_READERS_RUN_FORKED_RUN_H_
#define PYMEMRUN_READERS_RUN_FORKED_RUN_H_

#include <memory>
#include <string>

#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Whether the process of `child` was forked or started by that of `parent`.
bool IsParent(const Header& parent, const Header& child);

// A visitor for the file at `path`. It passes on to `to` first the blocks that
// the parent process had at the fork, then the file's records. The blocks come
// with the parent's definitions; the ids of the file itself are moved above
// these. The parent's file is looked for in the same folder, and so is the file
// of the parent's parent. Without it no blocks are inherited. Pages are not
// passed on. `to` must outlive it.
std::unique_ptr<RecordVisitor> WithInherited(const std::string& path,
                                             ReplayVisitor* to);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_FORKED_RUN_H_
