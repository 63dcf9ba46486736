// The definitions of a run file (code, C functions, sites, threads, stacks,
// mappings), which give ids names. Readers have one index for each file.
#ifndef PYMEMRUN_READERS_RUN_RUN_INDEX_H_
#define PYMEMRUN_READERS_RUN_RUN_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"
#include "format/records/record_visitor.h"
#include "readers/run/frame_budget.h"
#include "readers/run/name_pool.h"
#include "readers/run/own_code.h"
#include "readers/run/source_lines.h"

namespace pymemrun {

// The place of a row or of a frame. Names live as long as the index.
struct SourceLocation {
  absl::string_view file;
  uint32_t line = 0;            // 0: unknown
  absl::string_view function;   // as printed: the C function for C events
  absl::string_view code_name;  // the Python function that has the line
  absl::string_view qualname;   // with its classes: "Job.load"
  uint32_t first_line = 0;      // of that function
  absl::string_view module;
  What kind = CALL;
  absl::string_view what = "?";  // the kind's name
};

// "CALL", "RETURN", ...; "?" for an unknown kind.
absl::string_view WhatName(What what);

// Not thread safe. A file may have any number of definitions. Definitions
// beyond the limits are counted but not kept. Resolve() gives them, and ids
// without a definition, the name NamePool::kNoRoom.
class RunIndex {
 public:
  // Bounds of memory. A program with more definitions than these is unusual.
  struct Limits {
    size_t codes = 1 << 20;
    size_t sites = 1 << 21;
    size_t threads = 1 << 18;
    size_t stacks = 1 << 21;  // nodes of the call tree
    size_t mappings = 1 << 18;
    size_t name_bytes = 64 << 20;
  };

  RunIndex() : RunIndex(Limits()) {}
  explicit RunIndex(const Limits& limits)
      : limits_(limits), names_(limits.name_bytes) {}

  void Add(const CodeDef& code);
  void Add(const FunctionDef& function);
  void Add(const SiteDef& site);
  void Add(const ThreadDef& thread);
  void Add(const StackDef& node);
  void Add(const MappingDef& mapping);
  void Add(const SourceFile& source) { source_lines_.Add(source); }
  // To be called before a further reading, so that threads have their last
  // names.
  void AddThreadsOf(const RunIndex& earlier);

  // The place of a site.
  SourceLocation Resolve(uint32_t site) const;
  uint32_t CodeOf(uint32_t site) const;  // 0: unknown
  // "name#native_id", with the name that the thread had at that time.
  absl::string_view ThreadLabel(uint32_t thread) const;
  // The ids of the last and the first definition of a thread, as far as it was
  // read.
  uint32_t LatestThread(uint32_t thread) const;
  uint32_t FirstThread(uint32_t thread) const;
  // "name#native_id" with the last name: what reports call a thread.
  absl::string_view LatestThreadLabel(uint32_t thread) const {
    return ThreadLabel(LatestThread(thread));
  }
  absl::string_view ThreadName(uint32_t thread) const;
  uint64_t ThreadNativeId(uint32_t thread) const;
  // Whether profiling made the interpreter create an object at each such event.
  bool MakesObject(uint32_t site) const;
  // "file:line:function;...", innermost frame last; empty for stack 0. A stack
  // that exceeds 256 KiB, or the budget, loses outer frames and starts with
  // "...;".
  std::string StackText(uint32_t stack, FrameBudget* budget) const;
  // The innermost frame of a stack; its names are "?" for stack 0.
  SourceLocation ResolveStack(uint32_t stack) const;
  // The stack up to the innermost frame of OwnCode; 0: none.
  uint32_t OwnStack(uint32_t stack) const;
  // Whether the frame imports modules; the memory is then mostly a library's.
  bool Imports(uint32_t stack) const;
  // The stack without its innermost frame; 0: it had only one. Ids of parents
  // are lower than that of `stack`.
  uint32_t ParentStack(uint32_t stack) const;
  absl::string_view MappingName(uint32_t mapping) const;  // "?" for 0
  const SourceLines& source_lines() const { return source_lines_; }
  size_t mappings() const { return mappings_.size(); }
  size_t stacks() const { return stacks_.size(); }
  size_t threads() const { return threads_.size(); }
  size_t sites() const { return sites_.size(); }
  // Definitions that did not fit.
  uint64_t not_kept() const { return not_kept_; }

 private:
  void SetCode(uint32_t code_id, SourceLocation* where) const;
  // Whether the table is full for the next definition, which is then counted.
  template <typename Table>
  bool IsFull(const Table& table, size_t limit) {
    if (table.size() < limit) return false;
    ++not_kept_;
    return true;
  }

  struct Code {
    absl::string_view file, name, qualname, module;
    uint32_t first_line;
    OwnCode::Kind kind;
  };
  struct Function {
    absl::string_view qualname, module;
  };
  struct Site {
    uint32_t code, line, function;
    What what;
    bool makes_object;
  };
  struct StackNode {
    uint32_t parent, code, line;
    uint32_t own : 31, imports : 1;  // see OwnStack(), Imports()
  };
  struct Thread {
    absl::string_view label;
    size_t name_size;
    uint64_t native_id;
    // Definitions of the thread; `latest` is set at the first one.
    uint32_t first, latest;
  };

  const Limits limits_;
  NamePool names_;
  // A deque: up to a million elements are not copied as it grows.
  std::deque<Code> codes_;
  std::deque<Function> functions_;
  std::deque<Site> sites_;
  std::deque<Thread> threads_;
  std::deque<StackNode> stacks_;
  std::deque<absl::string_view> mappings_;
  CodeKinds kinds_;
  SourceLines source_lines_;
  uint64_t not_kept_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_RUN_INDEX_H_
