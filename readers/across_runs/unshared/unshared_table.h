// The tables of `pymemreport unshared`.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_UNSHARED_UNSHARED_TABLE_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_UNSHARED_UNSHARED_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/across_runs/unshared/copy_ledger.h"
#include "readers/output/table.h"

namespace pymemrun {

// What a forked process has un-shared. The ledger is settled, and must outlive
// it.
struct UnsharedPages {
  const CopyLedger* ledger;
  std::string file;  // the run file's name, for people
  GroupBy by;
  std::vector<CopyPlace> places;
  CopiedPages copied, collected;  // all, and by garbage collection

  // `group_by`: kLine, kLibraryLine, kFunction, kFile or kPackage.
  UnsharedPages(const CopyLedger* from, const std::string& file_name,
                GroupBy group_by);
  uint64_t BytesOf(uint64_t pages) const {
    return pages * ledger->page_bytes();
  }
};

// All are grouped alike. For people: a row for each process, at most `limit`
// (0: all) that have most; one for each place in all of them.
Table UnsharedProcesses(const std::vector<UnsharedPages>& processes,
                        uint64_t limit);
// At most `limit` places (0: all); what is left is summed up. For machines a
// row for each place in each process.
Table UnsharedPlaces(const std::vector<UnsharedPages>& processes,
                     uint64_t limit, TableFormat format);

// Makes one row of the places of such a table behind the first `limit` (0: none
// of them), whatever its order is. It names what they have in common.
void FoldUnshared(uint64_t limit, Table* places);

// What stands above the tables in text, and below. Lines, each ended.
std::string UnsharedHeading(const std::vector<UnsharedPages>& processes);
std::string UnsharedNotes(const std::vector<UnsharedPages>& processes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_UNSHARED_UNSHARED_TABLE_H_
