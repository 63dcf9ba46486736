#include "readers/watch/screen.h"

#define NCURSES_NOMACROS
#include <curses.h>
#include <locale.h>
#include <unistd.h>

#include <algorithm>

#include "absl/memory/memory.h"

namespace pymemrun {
namespace {

constexpr short kCurvePair = 1;

// curses takes streams; closing them must leave the program's own descriptors
// open.
FILE* OpenCopy(int fd, const char* mode) {
  const int copy = dup(fd);
  FILE* const file = copy < 0 ? nullptr : fdopen(copy, mode);
  if (file == nullptr && copy >= 0) close(copy);
  return file;
}

attr_t LookOf(WatchLine::Look look) {
  switch (look) {
    case WatchLine::kStrong:
      return A_BOLD;
    case WatchLine::kSoft:
      return A_DIM;
    case WatchLine::kCurve:
      return has_colors() ? COLOR_PAIR(kCurvePair) : A_NORMAL;
    case WatchLine::kPlain:
      break;
  }
  return A_NORMAL;
}

}  // namespace

// newterm() instead of initscr(), which ends the program if the terminal's type
// is unknown. If anything fails here, ~Screen() undoes the rest.
std::unique_ptr<Screen> Screen::Open(int out_fd) {
  if (isatty(STDIN_FILENO) == 0 || isatty(out_fd) == 0) return nullptr;
  auto screen = absl::WrapUnique(new Screen);
  if (tcgetattr(STDIN_FILENO, &screen->before_) != 0) return nullptr;
  screen->in_ = OpenCopy(STDIN_FILENO, "r");
  screen->out_ = OpenCopy(out_fd, "w");
  if (screen->in_ == nullptr || screen->out_ == nullptr) return nullptr;
  // curses prints UTF-8 only in the user's locale.
  setlocale(LC_CTYPE, "");
  SCREEN* const curses = newterm(nullptr, screen->out_, screen->in_);
  if (curses == nullptr) return nullptr;
  screen->curses_ = curses;
  cbreak();
  noecho();
  keypad(stdscr, TRUE);
  curs_set(0);
  if (has_colors()) {
    start_color();
    use_default_colors();
    init_pair(kCurvePair, COLOR_CYAN, -1);
  }
  return screen;
}

// endwin() writes to the terminal, so the streams are closed last.
Screen::~Screen() {
  if (curses_ != nullptr) {
    endwin();
    delscreen(static_cast<SCREEN*>(curses_));
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  if (in_ != nullptr) fclose(in_);
  if (out_ != nullptr) fclose(out_);
}

size_t Screen::columns() const { return std::max(getmaxx(stdscr), 1); }
size_t Screen::rows() const { return std::max(getmaxy(stdscr), 1); }

// curses compares with what is on the screen, and sends only what has changed.
void Screen::Show(const std::vector<WatchLine>& lines) {
  werase(stdscr);
  for (size_t i = 0; i < lines.size(); ++i) {
    wattrset(stdscr, static_cast<int>(LookOf(lines[i].look)));
    mvwaddstr(stdscr, static_cast<int>(i), 0, lines[i].text.c_str());
  }
  wrefresh(stdscr);
}

// A resize comes as KEY_RESIZE, by curses' handler of SIGWINCH.
int Screen::Key(int wait_ms) {
  wtimeout(stdscr, wait_ms);
  const int key = wgetch(stdscr);
  return key == ERR ? kNoKey : key;
}

}  // namespace pymemrun
