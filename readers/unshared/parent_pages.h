// Which of a forked process's first pages were its parent's.
#ifndef PYMEMRUN_READERS_UNSHARED_PARENT_PAGES_H_
#define PYMEMRUN_READERS_UNSHARED_PARENT_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "readers/resident/resident_replay.h"
#include "readers/unshared/copy_ledger.h"

namespace pymemrun {

// Reads the parent's file, and settles the early pages of its children by what
// was resident in it when each was begun. Not thread safe; the ledgers must
// outlive it.
class ParentPages final : public ResidentReplay {
 public:
  ParentPages(const Header& parent, const std::vector<CopyLedger*>& children);
  void Finish() override;

 private:
  void OnTime(uint64_t time_us) override { SettleUntil(time_us); }
  void SettleUntil(uint64_t time_us);

  std::vector<std::pair<uint64_t, CopyLedger*>> children_;  // by their begin
  size_t next_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_UNSHARED_PARENT_PAGES_H_
