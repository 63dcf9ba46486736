#include "tracer/tasks/step_items.h"

#include <errno.h>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/base/statm.h"
#include "tracer/code/own_stack.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/tasks/task_place.h"
#include "tracer/ring/side_ring.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

constexpr size_t kMaxName = 1024;

// A task whose name the collector has. Two tasks with the same hash displace
// each other, so their names are sent again.
struct Told {
  const PyObject* task;
  const PyObject* coroutine;  // null: it is a greenlet
  const PyObject* name;
};
constexpr size_t kTold = 1024;

struct Items {
  bool calls;
  uint64_t rss_stamp, rss_bytes;
  Told told[kTold];
};
constinit Items g_items = {};

uint64_t AddressOf(const void* object) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(object));
}

Told& ToldOf(const PyObject* task) {
  const uint64_t hash = AddressOf(task) / 16 * 0x9e3779b97f4a7c15;
  return g_items.told[hash >> 54];
}
static_assert(kTold == size_t{1} << (64 - 54));

// From 3.12 on asyncio keeps the number of an unnamed task, and makes "Task-N"
// of it when asked.
size_t NumberedName(PyObject* number, char* name) {
  size_t size = 0;
  for (const char* c = "Task-"; *c != 0; ++c) name[size++] = *c;
  char digits[20];
  size_t count = 0;
  auto left = static_cast<uint64_t>(PyLong_AsUnsignedLongLongMask(number));
  do {
    digits[count++] = static_cast<char>('0' + left % 10);
    left /= 10;
  } while (left != 0);
  while (count > 0) name[size++] = digits[--count];
  return size;
}

// As many whole characters of a str as fit. Returns the number of bytes.
size_t TextOf(PyObject* text, char* name, size_t most) {
  size_t size = 0;
  Py_ssize_t at = 0;
  while (const size_t n =
             PymemrunUtf8Piece(text, &at, name + size, most - size)) {
    size += n;
  }
  return size;
}

// Sends a name and remembers that the collector has it.
void Tell(const Told& told, SideTaskKind kind, const char* text, size_t size,
          uint32_t code) {
  SideItem item(SideKind::kTask, size);
  if (!item.ok()) return;
  item.Fill(SideTask{{.detail = SideHead::Detail(/*frames=*/1, size),
                      .time_ns = TimeStamp(Hot().time_is_tsc)},
                     AddressOf(told.task),
                     AddressOf(told.coroutine),
                     static_cast<uint64_t>(kind),
                     {code, 0}});
  item.Append(text, size);
  item.Commit();
  ToldOf(told.task) = told;
}

bool IsTold(const Told& wanted) {
  const Told& told = ToldOf(wanted.task);
  return told.task == wanted.task && told.coroutine == wanted.coroutine &&
         told.name == wanted.name;
}

}  // namespace

void StepItems::Ask(bool calls) { g_items.calls = calls; }

// If calls are traced, their events keep RSS up to date. Reading it here would
// take the change away from the next event.
uint64_t StepItems::RssBytes(uint64_t stamp) {
  const HotState& hot = Hot();
  if (g_items.calls && hot.page != nullptr) {
    return static_cast<uint64_t>(RssPages(hot.rss_pages)) * hot.page_bytes;
  }
  if (stamp - g_items.rss_stamp > hot.staleness) {
    const int saved_errno = errno;
    const uint64_t pages = Statm::Read();
    if (pages != 0) g_items.rss_bytes = pages * hot.page_bytes;
    g_items.rss_stamp = stamp;
    errno = saved_errno;
  }
  return g_items.rss_bytes;
}

void StepItems::TellTask(PyObject* task, PyObject* coroutine) {
  PyObject* const name = PymemrunTaskName(task);
  const Told told = {task, coroutine, name};
  if (IsTold(told)) return;
  char text[kMaxName];
  size_t size = 0;
  if (name != nullptr) {
    size = PyUnicode_Check(name) ? TextOf(name, text, sizeof(text))
                                 : NumberedName(name, text);
  }
  Tell(told, SideTaskKind::kTask, text, size,
       OwnStack::IdOf(PymemrunCoroutineCode(coroutine)));
}

void StepItems::TellGreenlet(const PyObject* greenlet, const void* code) {
  Tell({greenlet, nullptr, nullptr}, SideTaskKind::kGreenlet, "", 0,
       OwnStack::IdOf(code));
}

bool StepItems::Knows(const PyObject* task) {
  return ToldOf(task).task == task;
}

void StepItems::Forget(const PyObject* task) {
  Told& told = ToldOf(task);
  if (told.task == task) told = {};
}

void StepItems::ForgetAll() {
  g_items.rss_stamp = 0;
  for (Told& told : g_items.told) told = {};
}

}  // namespace pymemrun
