// What `pymemreport graph` draws: a line for each thread, and peaks on them.
#ifndef PYMEMRUN_READERS_THREAD_GRAPH_THREAD_GRAPH_H_
#define PYMEMRUN_READERS_THREAD_GRAPH_THREAD_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/chart/line_chart.h"
#include "readers/output/table.h"
#include "readers/threads/thread_curves.h"

namespace pymemrun {

// What is to be drawn.
struct ThreadGraph {
  Header header;
  std::string meaning;  // of a thread's line
  ThreadCurves curves;
  std::vector<uint64_t> rss_bytes;  // at each moment
  uint64_t rebase_bytes = 0;
  std::vector<ThreadPeak> peaks;
  bool knows_calls = false;    // the peaks are calls
  bool counts_others = false;  // what other threads did meanwhile is in these
};

// The picture. Peaks have a label on their thread's line, and a line of the
// legend.
LineChart GraphChart(const ThreadGraph& graph);
// A row for each moment.
Table GraphTable(const ThreadGraph& graph);
// Leaves out what is more than `most`: of each part of the time the largest
// stays.
void ThinPeaks(uint64_t from_us, uint64_t to_us, size_t most,
               std::vector<ThreadPeak>* peaks);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_THREAD_GRAPH_THREAD_GRAPH_H_
