// Reads the run file of a forked process for who replays its heap, which begins
// with the parent's live blocks.
#ifndef PYMEMRUN_READERS_RUN_FORKED_RUN_H_
#define PYMEMRUN_READERS_RUN_FORKED_RUN_H_

#include <memory>
#include <string>

#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Whether the process of `child` was forked from that of `parent`, or begun by
// it.
bool IsParent(const Header& parent, const Header& child);

// A visitor of the file at `path` that gives `to` its records, after the blocks
// that the process's parent had at the fork. These come with the parent's
// definitions, and the file's own ids are above them. The parent's file is
// looked for beside it, and its parent's, too. Without it nothing is
// inherited. Pages are not handed on. `to` must outlive it.
std::unique_ptr<RecordVisitor> WithInherited(const std::string& path,
                                             ReplayVisitor* to);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_FORKED_RUN_H_
