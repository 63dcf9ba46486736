#include "tracer/code/own_stack.h"

#include <atomic>

#include "tracer/code/known_codes.h"
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {
namespace {

// State that signal handlers use: only atomics, and a lock-free table.
struct Own {
  std::atomic<bool> allowed{false};
  KnownCodes codes;  // that the side ring has defined
};
constinit Own g_own;

// Longest text sent in a definition.
constexpr size_t kMaxText = 16 * 1024;

// Whether there is a code object at this address; reading never faults.
bool IsCode(const PyCodeObject* code) {
  PyObject head;
  return ReadSafely(code, &head, sizeof(head)) &&
         Py_TYPE(&head) == &PyCode_Type;
}

// Whether the frame and its code object can be read. Frames in the used part of
// the thread's frame stack can. Others belong to generators, or to a call that
// was interrupted halfway.
bool IsReadable(PyThreadState* tstate, const PymemrunFrame* frame,
                ReadablePages* readable) {
  if (PymemrunIsOnFrameStack(tstate, frame) != 0) return true;
  if (reinterpret_cast<uintptr_t>(frame) % sizeof(void*) != 0 ||
      !readable->Has(frame, PYMEMRUN_FRAME_HEAD_BYTES)) {
    return false;
  }
  if (PymemrunFrameIsC(frame)) return true;
  const PyCodeObject* code = PymemrunFrameCode(frame);
  return g_own.codes.Find(code) != 0 || IsCode(code);
}

// Calls visit(frame) for each frame of the thread that runs Python code, the
// innermost first, until it returns false. Returns whether every frame could be
// read.
template <typename Visit>
bool EachFrame(PyThreadState* tstate, ReadablePages* readable, Visit visit) {
  const PymemrunFrame* frame = PymemrunInnermostFrame(tstate);
  // From 3.12 on a call that makes a generator frees its frame while it is
  // still the current one. Its memory may be gone with it.
  if (frame != nullptr && !IsReadable(tstate, frame, readable)) return false;
  for (; frame != nullptr; frame = PymemrunFramePrevious(frame)) {
    if (PymemrunFrameIsC(frame)) continue;
    if (!IsReadable(tstate, frame, readable)) return false;
    if (PymemrunFrameRuns(frame) && !visit(frame)) break;
  }
  return true;
}

// Length of the text in UTF-8, cut to kMaxText.
size_t TextBytes(PyObject* text) {
  char none;
  const size_t bytes = PymemrunCopyUtf8(text, &none, 0);
  return bytes < kMaxText ? bytes : kMaxText;
}

// Appends length and text by a small buffer: this also runs in signal handlers,
// which must not allocate.
void AppendText(PyObject* text, size_t bytes, SideItem* item) {
  const uint32_t length = static_cast<uint32_t>(bytes);
  item->Append(&length, sizeof(length));
  Py_ssize_t at = 0;
  while (bytes > 0) {
    char piece[128];
    size_t n = PymemrunUtf8Piece(text, &at, piece, sizeof(piece));
    if (n > bytes) n = bytes;
    if (n == 0) break;
    item->Append(piece, n);
    bytes -= n;
  }
}

// Sends the definition of a code object and remembers its id. Returns 0 if the
// ring has no room. A line table that does not fit is left out.
uint32_t Define(PyCodeObject* code) {
  PymemrunCodeFacts facts;
  PymemrunCodeFactsOf(reinterpret_cast<PyObject*>(code), &facts);
  PyObject* const texts[] = {facts.file, facts.name, facts.qualname, nullptr};
  size_t bytes[4];
  size_t total = sizeof(CodePayload) + 5 * sizeof(uint32_t);
  for (int i = 0; i < 4; ++i) total += bytes[i] = TextBytes(texts[i]);
  if (total + facts.line_table_bytes > SideRing::max_definition()) {
    facts.line_table_bytes = 0;
  }
  total += facts.line_table_bytes;
  SideItem item(SideKind::kCode, total);
  if (!item.ok()) return 0;
  const uint32_t id = g_own.codes.NewId();
  item.Fill(SideCode{{}, id, total});
  // No taker of the side ring asks for the start of calls, so start_position is
  // left at its default.
  const CodePayload payload = {facts.first_line, facts.line_table_kind};
  item.Append(&payload, sizeof(payload));
  for (int i = 0; i < 4; ++i) AppendText(texts[i], bytes[i], &item);
  const uint32_t table_bytes = static_cast<uint32_t>(facts.line_table_bytes);
  item.Append(&table_bytes, sizeof(table_bytes));
  item.Append(facts.line_table, table_bytes);
  item.Commit();
  g_own.codes.Add(code, id);
  return id;
}

SideFrame FrameOf(const PymemrunFrame* frame) {
  return {g_own.codes.Find(PymemrunFrameCode(frame)),
          PymemrunFramePosition(frame)};
}

// The state of the calling thread, or null. The GIL's holder may be another
// thread.
PyThreadState* OwnThreadState() {
  if (!g_own.allowed.load(std::memory_order_relaxed) ||
      Py_IsInitialized() == 0) {
    return nullptr;
  }
  return PyGILState_GetThisThreadState();
}

}  // namespace

bool OwnStack::Create() { return g_own.codes.Create(); }

void OwnStack::Forget() {
  g_own.allowed.store(false, std::memory_order_relaxed);
  g_own.codes.Forget();
}

void OwnStack::Allow() {
  if (!kAnyPython) g_own.allowed.store(true, std::memory_order_relaxed);
}

void OwnStack::CodeDied(const void* code) {
  while (const uint32_t id = g_own.codes.Remove(code)) {
    SideItem item(SideKind::kCodeGone, 0);
    if (!item.ok()) continue;
    item.Fill(SideCodeGone{{}, id});
    item.Commit();
  }
}

bool OwnStack::IsCollecting() {
  const PyThreadState* tstate = OwnThreadState();
  return tstate != nullptr && PymemrunIsCollecting(tstate) != 0;
}

uint32_t OwnStack::IdOf(const void* code) {
  const uint32_t known = g_own.codes.Find(code);
  if (known != 0 || code == nullptr ||
      !g_own.allowed.load(std::memory_order_relaxed)) {
    return known;
  }
  return Define(static_cast<PyCodeObject*>(const_cast<void*>(code)));
}

// First pass over the frames: counts them and defines their code objects.
// PutInto() makes the second pass, when the size of the item is known.
OwnStack::OwnStack() {
  PyThreadState* tstate = OwnThreadState();
  if (tstate == nullptr) {
    const bool main = getpid() == static_cast<pid_t>(syscall(SYS_gettid));
    flags_ = main ? 0 : kSideNoPython;
    return;
  }
  const bool whole =
      EachFrame(tstate, &readable_, [this](const PymemrunFrame* frame) {
        if (frames_ == kMaxSideFrames) {
          flags_ |= kSideCut;
          return false;
        }
        ++frames_;
        PyCodeObject* code = PymemrunFrameCode(frame);
        if (g_own.codes.Find(code) == 0) Define(code);
        return true;
      });
  if (!whole) flags_ |= kSideUnknownFrame;
}

size_t OwnStack::payload_bytes() const { return SideFrameBytes(frames_); }

void OwnStack::PutInto(SideItem* item) {
  if (frames_ == 0) return;
  uint32_t i = 0;
  EachFrame(OwnThreadState(), &readable_, [&](const PymemrunFrame* frame) {
    const SideFrame made = FrameOf(frame);
    if (i < kSideFramesInHead) {
      item->head<SideAny>().frame = made;
    } else {
      item->Append(&made, sizeof(made));
    }
    return ++i < frames_;
  });
}

}  // namespace pymemrun
