// A run for Python code: its header, its footer and its call stacks.
#ifndef PYMEMRUN_READERS_PYTHON_RUN_OBJECT_H_
#define PYMEMRUN_READERS_PYTHON_RUN_OBJECT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "pybind11/pybind11.h"
#include "readers/python/python_values.h"
#include "readers/python/run_file.h"
#include "readers/replay/summary/run_facts.h"

namespace pymemrun {

// All of it requires the GIL; what reads the file releases it.
class RunObject {
 public:
  // Reads the header only. Raises OSError, ValueError.
  explicit RunObject(pybind11::handle path);

  // Drops the file: what needs it raises ValueError from then on.
  void Close() { file_ = nullptr; }
  // Raises ValueError once it is closed.
  const std::shared_ptr<const RunFile>& file() const;
  const Header& header() const { return header_; }
  pybind11::list Argv() const;
  // datetime.datetime, with UTC as its time zone.
  pybind11::object StartTime() const;
  const char* HeapMode() const;

  // The methods below read the whole file at their first call, and again when
  // it has grown.

  // An End record; None if there is no footer.
  pybind11::object End();
  bool Torn() { return Facts()->result.torn; }
  uint64_t Damages() { return Facts()->result.damages; }
  // Frame records, outermost first; empty for stack 0. Raises KeyError for an
  // unknown id.
  pybind11::list Stack(uint32_t id);
  // The values of `pymemreport summary --json` as a dict.
  pybind11::dict Summary();

 private:
  struct WholeFile final : public RunFacts {
    void OnStack(const StackDef& node) override {
      RunFacts::OnStack(node);
      last_stack = node.id();
    }
    uint32_t last_stack = 0;
    ReadResult result;
    uint64_t file_bytes = 0;
    PythonTexts texts;  // of frames; destroyed before what they refer to
  };
  std::shared_ptr<WholeFile> Facts();

  std::shared_ptr<const RunFile> file_;
  Header header_;
  std::shared_ptr<WholeFile> facts_;
  const RecordType frame_{"Frame"}, end_{"End"};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_RUN_OBJECT_H_
