#include "tracer/interpose/started_programs.h"

#include <string.h>
#include <unistd.h>

#include "tracer/base/hot_state.h"
#include "tracer/interpose/interposed.h"

namespace pymemrun {
namespace {

constinit Interposed::Say* g_say = nullptr;
constinit const char* g_exec_notice = nullptr;

}  // namespace

// Whether a program with this environment gets the tracer preloaded.
bool HasTracer(char* const* environment) {
  constexpr char kHandover[] = "PYMEMRUN_PRELOADED=";
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (strncmp(*environment, kHandover, sizeof(kHandover) - 1) == 0) {
      return true;
    }
  }
  return false;
}

void CountStarted(char* const* environment) {
  ControlPage* const page = Hot().page;
  if (page == nullptr) return;
  page->started[HasTracer(environment) ? 1 : 0].fetch_add(
      1, std::memory_order_relaxed);
}

void TellExec(const char* path) {
  const char* const notice = g_exec_notice;
  if (notice == nullptr || g_say == nullptr) return;
  // A search tries the folders of $PATH one after the other. Only a program
  // that exists is reported.
  const bool is_path = path != nullptr && strchr(path, '/') != nullptr;
  if (is_path && access(path, X_OK) != 0) return;
  g_exec_notice = nullptr;
  g_say(notice, strlen(notice));
}

void Interposed::NoticeExec(Say* say, const char* notice) {
  g_say = say;
  g_exec_notice = notice;
}

}  // namespace pymemrun
