// One look at a run: what a terminal is to show, and its lines.
#ifndef PYMEMRUN_READERS_WATCH_WATCH_FRAME_H_
#define PYMEMRUN_READERS_WATCH_WATCH_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pymemrun {

// What the curve's scale takes on its left.
inline constexpr size_t kScaleColumns = 10;

struct WatchFrame {
  // Bytes that a line of code, or a thread, has, and what they changed by.
  struct Amount {
    std::string name;
    double bytes = 0, change_bytes = 0;
  };
  struct Child {
    uint32_t pid = 0;
    std::string script;
    uint64_t rss_bytes = 0;
    bool ended = false;
  };

  std::string script;  // empty: nothing of the run has been written yet
  uint32_t pid = 0;
  uint64_t time_us = 0;
  bool ended = false;
  std::string end;                         // how it ended
  uint64_t rss_bytes = 0, peak_bytes = 0;  // 0: not known
  std::vector<double> curve;
  std::string meaning;  // of the amounts' bytes; empty: there are none
  std::vector<Amount> lines, threads;
  std::vector<Child> children;
  std::vector<std::string> notes;  // such as where the output goes
  bool by_bytes = false;           // not by change
  bool frozen = false;
};

struct WatchLine {
  enum Look { kPlain, kStrong, kSoft, kCurve };
  std::string text;  // harmless for a terminal
  Look look = kPlain;
};

// At most so many lines of so many columns; the last tells the keys.
std::vector<WatchLine> FrameLines(const WatchFrame& frame, size_t columns,
                                  size_t rows, bool unicode);

// One line for output that is no terminal, without its end.
std::string FrameSummary(const WatchFrame& frame);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_WATCH_FRAME_H_
