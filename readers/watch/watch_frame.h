// One frame of `pymemreport watch`: the data to show, and its lines.
#ifndef PYMEMRUN_READERS_WATCH_WATCH_FRAME_H_
#define PYMEMRUN_READERS_WATCH_WATCH_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pymemrun {

// Columns for the scale to the left of the curve.
inline constexpr size_t kScaleColumns = 10;

// The state of a run at one moment, ready to be laid out.
struct WatchFrame {
  // Bytes of a line of code or a thread, and their change.
  struct Amount {
    std::string name;
    double bytes = 0, change_bytes = 0;
  };
  // A child process, from its own run file.
  struct Child {
    uint32_t pid = 0;
    std::string script;
    uint64_t rss_bytes = 0;
    bool ended = false;
  };

  std::string script;  // empty: nothing has been written yet
  uint32_t pid = 0;
  uint64_t time_us = 0;
  bool ended = false;
  std::string end;                         // how it ended
  uint64_t rss_bytes = 0, peak_bytes = 0;  // 0: unknown
  std::vector<double> curve;
  std::string meaning;  // what the amounts measure; empty: there are none
  std::vector<Amount> lines, threads;
  std::vector<Child> children;
  std::vector<std::string> notes;  // such as where the program's output goes
  bool by_bytes = false;           // otherwise sorted by change
  bool frozen = false;
};

// A line of the screen and how it is drawn.
struct WatchLine {
  enum Look { kPlain, kStrong, kSoft, kCurve };
  std::string text;  // safe to print on a terminal
  Look look = kPlain;
};

// At most `rows` lines of `columns` columns; the last line explains the keys.
std::vector<WatchLine> FrameLines(const WatchFrame& frame, size_t columns,
                                  size_t rows, bool unicode);

// One line, not ended, for output that is not a terminal.
std::string FrameSummary(const WatchFrame& frame);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_WATCH_FRAME_H_
