// A terminal that shows lines and reads keys. It is restored at the end.
#ifndef PYMEMRUN_READERS_WATCH_SCREEN_H_
#define PYMEMRUN_READERS_WATCH_SCREEN_H_

#include <stdio.h>
#include <termios.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "readers/watch/watch_frame.h"

namespace pymemrun {

// At most one may exist at a time. Not thread safe.
class Screen {
 public:
  // What Key() returns if no key was pressed.
  static constexpr int kNoKey = -1;

  // Returns null if descriptor 0 or `out_fd` is not a terminal, or its type is
  // unknown.
  static std::unique_ptr<Screen> Open(int out_fd);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  size_t columns() const;
  size_t rows() const;
  void Show(const std::vector<WatchLine>& lines);
  // Waits for a key for up to `wait_ms`; kNoKey: none. A change of the
  // terminal's size ends the wait.
  int Key(int wait_ms);

 private:
  Screen() = default;

  struct termios before_ = {};
  FILE* in_ = nullptr;
  FILE* out_ = nullptr;
  void* curses_ = nullptr;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_SCREEN_H_
