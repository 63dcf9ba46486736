#include "readers/across_runs/processes/process_family.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace pymemrun {
namespace {

constexpr size_t kNobody = SIZE_MAX;

// Whether two files are of the same run: one may be a copy, or a link.
bool AreSame(const ProcessRun& a, const ProcessRun& b) {
  return a.start_ticks != 0 && a.start_ticks == b.start_ticks &&
         a.begin_us == b.begin_us && a.pid == b.pid && a.host == b.host;
}

// Orders the runs as a tree.
class TreeMaker {
 public:
  explicit TreeMaker(std::vector<ProcessRun> runs) : runs_(std::move(runs)) {
    // By start, so that a parent precedes its children, and copies of a file
    // are adjacent.
    std::stable_sort(runs_.begin(), runs_.end(),
                     [](const ProcessRun& a, const ProcessRun& b) {
                       return std::tie(a.begin_us, a.pid) <
                              std::tie(b.begin_us, b.pid);
                     });
    runs_.erase(std::unique(runs_.begin(), runs_.end(), AreSame), runs_.end());
    // A pid may have been used by several processes.
    for (size_t i = 0; i < runs_.size(); ++i) {
      of_pid_.emplace(std::pair(runs_[i].host, runs_[i].pid), i);
    }
    children_.resize(runs_.size());
  }

  std::vector<FamilyMember> Make() {
    std::vector<size_t> roots;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const size_t parent = ParentOf(i);
      (parent == kNobody ? roots : children_[parent]).push_back(i);
    }
    // Iterative, as a file can make the tree arbitrarily deep.
    std::vector<std::pair<size_t, size_t>> todo;
    for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
      todo.emplace_back(*root, 0);
    }
    while (!todo.empty()) {
      const auto [i, depth] = todo.back();
      todo.pop_back();
      members_.push_back({std::move(runs_[i]), depth});
      const std::vector<size_t>& children = children_[i];
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        todo.emplace_back(*child, depth + 1);
      }
    }
    return std::move(members_);
  }

 private:
  // The process that started `child`. It must have started earlier, so that
  // there is no cycle. A process that called exec has several files: the last
  // one before the child counts.
  size_t ParentOf(size_t child) const {
    const ProcessRun& run = runs_[child];
    size_t parent = kNobody;
    const auto [first, last] =
        of_pid_.equal_range(std::pair(run.host, run.parent_pid));
    for (auto it = first; it != last; ++it) {
      if (it->second < child && MayBegin(runs_[it->second], run)) {
        parent = it->second;
      }
    }
    return parent;
  }
  // Start times in ticks identify a process; pids alone may be reused.
  static bool MayBegin(const ProcessRun& parent, const ProcessRun& child) {
    if (child.parent_start_ticks != 0 && parent.start_ticks != 0) {
      return child.parent_start_ticks == parent.start_ticks;
    }
    return true;
  }

  std::vector<ProcessRun> runs_;
  std::multimap<std::pair<std::string, uint32_t>, size_t> of_pid_;
  std::vector<std::vector<size_t>> children_;
  std::vector<FamilyMember> members_;
};

}  // namespace

ProcessFamily::ProcessFamily(std::vector<ProcessRun> runs)
    : members_(TreeMaker(std::move(runs)).Make()) {}

uint64_t ProcessFamily::BeginUs() const {
  uint64_t begin_us = UINT64_MAX;
  for (const FamilyMember& member : members_) {
    begin_us = std::min(begin_us, member.run.begin_us);
  }
  return begin_us;
}

uint64_t ProcessFamily::EndUs() const {
  uint64_t end_us = 0;
  for (const FamilyMember& member : members_) {
    end_us = std::max(end_us, member.run.end_us);
  }
  return end_us;
}

// One pass over all changes keeps the sum of what every process has now.
FamilyPeak ProcessFamily::Peak() const {
  FamilyPeak peak;
  const std::vector<Change> changes = Changes();
  // Processes by their memory now; the highest of each for the sum of peaks.
  std::vector<uint64_t> now(members_.size()), highest = now;
  uint64_t sum = 0;
  size_t until = 0;  // the changes up to the peak
  for (size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    sum += change.bytes - std::exchange(now[change.member], change.bytes);
    highest[change.member] = std::max(highest[change.member], change.bytes);
    if (sum <= peak.bytes) continue;
    peak.bytes = sum;
    peak.time_us = change.time_us;
    until = i + 1;
  }
  peak.shares.resize(members_.size());
  // Repeats the changes up to the peak, for the share of each process.
  for (size_t i = 0; i < until; ++i) {
    peak.shares[changes[i].member] = changes[i].bytes;
  }
  peak.sum_of_peaks_bytes =
      std::accumulate(highest.begin(), highest.end(), uint64_t{0});
  return peak;
}

// By time. At equal times a process ends before another one grows.
std::vector<ProcessFamily::Change> ProcessFamily::Changes() const {
  std::vector<Change> changes;
  for (size_t i = 0; i < members_.size(); ++i) {
    const ProcessRun& run = members_[i].run;
    for (const MemoryStep& step : run.steps) {
      // After its end a process has nothing, even if the file goes on.
      if (step.time_us >= run.end_us) break;
      changes.push_back({step.time_us, i, step.bytes});
    }
    changes.push_back({run.end_us, i, 0});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) {
                     return std::pair(a.time_us, a.bytes != 0) <
                            std::pair(b.time_us, b.bytes != 0);
                   });
  return changes;
}

// Members are in depth-first order: a tree is one piece of the vector.
// Processes without a known parent are trees of their own. They belong to a
// root's family if they started while it ran.
void ProcessFamily::KeepTreeOf(const std::string& file) {
  const auto first = std::find_if(
      members_.begin(), members_.end(),
      [&file](const FamilyMember& member) { return member.run.file == file; });
  const size_t depth = first->depth;
  const uint64_t begin_us = first->run.begin_us;
  uint64_t end_us = 0;
  std::set<std::pair<uint32_t, uint64_t>> processes;
  std::vector<FamilyMember> kept;
  // Moves a process and those below it, which follow it, to the result.
  const auto keep_tree = [&](std::vector<FamilyMember>::iterator top,
                             size_t new_depth) {
    const size_t old_depth = top->depth;
    do {
      end_us = std::max(end_us, top->run.end_us);
      processes.emplace(top->run.pid, top->run.start_ticks);
      kept.push_back(std::move(*top));
      kept.back().depth += new_depth - old_depth;
      ++top;
    } while (top != members_.end() && top->depth > old_depth);
    return top;
  };
  const auto last = keep_tree(first, 0);
  // The processes between may not be traced, such as a shell.
  for (auto top = last; top != members_.end();) {
    const ProcessRun& run = top->run;
    const auto is_parent = [&run](const std::pair<uint32_t, uint64_t>& one) {
      return one.first == run.parent_pid;  // or was, in another run
    };
    // Started while the family ran, not by fork, and not by a known parent.
    const bool is_meanwhile =
        run.begin_us >= begin_us && run.begin_us <= end_us && !run.forked &&
        std::none_of(processes.begin(), processes.end(), is_parent);
    const bool became_it = processes.count({run.pid, run.start_ticks}) > 0;
    if (depth == 0 && top->depth == 0 && (is_meanwhile || became_it)) {
      top = keep_tree(top, 1);
    } else {
      ++top;
    }
  }
  members_ = std::move(kept);
}

}  // namespace pymemrun
