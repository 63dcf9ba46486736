// The extension module pymemrun_reader._reader.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "format/summary/gauge_text.h"
#include "pybind11/pybind11.h"
#include "readers/output/whole_number.h"
#include "readers/python/arguments.h"
#include "readers/python/event_records.h"
#include "readers/python/heap_answers.h"
#include "readers/python/object_dump.h"
#include "readers/python/relation_object.h"
#include "readers/python/run_object.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

using RunClass = py::class_<RunObject>;

// A property with a text of the header.
template <typename Get>
void DefineText(RunClass* run, const char* name, Get get, const char* doc) {
  run->def_property_readonly(
      name,
      [get](const RunObject& self) {
        return PythonText(std::invoke(get, self.header()));
      },
      doc);
}
template <typename Get>
void DefineNumber(RunClass* run, const char* name, Get get, const char* doc) {
  run->def_property_readonly(
      name,
      [get](const RunObject& self) { return std::invoke(get, self.header()); },
      doc);
}

void DefineProgram(RunClass* run) {
  DefineNumber(run, "pid", &Header::pid, "The process id.");
  DefineNumber(run, "parent_pid", &Header::parent_pid,
               "The process id of the parent process.");
  run->def_property_readonly("argv", &RunObject::Argv,
                             "sys.orig_argv; empty with --no-argv.");
  DefineText(run, "script", &Header::script,
             "The script or command in short; empty with --no-argv.");
  DefineText(run, "python", &Header::python, "The path of the interpreter.");
  DefineText(run, "python_version", &Header::python_version,
             "Its sys.version.");
  DefineText(run, "host", &Header::host, "The machine's name.");
  DefineText(run, "cwd", &Header::cwd,
             "The folder that the program was started in.");
  DefineText(run, "kernel", &Header::kernel, "The kernel's release.");
  DefineText(run, "tool_version", &Header::tool_version,
             "The version of pymemrun that wrote the file.");
  run->def_property_readonly(
      "start_time", &RunObject::StartTime,
      "When the run began, a datetime in UTC. All times in seconds count from "
      "here.");
}

void DefineSettings(RunClass* run) {
  DefineNumber(run, "page_bytes", &Header::page_bytes,
               "Bytes of a page of memory.");
  DefineNumber(run, "first_rss_bytes", &Header::first_rss_bytes,
               "Resident bytes when the run began.");
  DefineNumber(run, "own_bytes", &Header::own_bytes,
               "Resident bytes of the tracer itself at the first event.");
  DefineText(
      run, "rss_source",
      [](const Header& h) { return RssSourceName(h.rss_source()); },
      "The first source of RSS values: faults, hints, rusage, statm.");
  DefineNumber(
      run, "min_drss_bytes",
      [](const Header& h) { return h.filters().min_drss_bytes(); },
      "The least change of RSS for which a call was logged; 0: all calls.");
  run->def_property_readonly("heap", &RunObject::HeapMode,
                             "Which heap events there are: off, sampled, all.");
  DefineNumber(run, "heap_native", &Header::heap_native,
               "Whether C code's own allocations are recorded, too.");
}

// What needs a reading of the whole file; the properties above need its header.
void DefineWholeFile(RunClass* run) {
  run->def_property_readonly(
      "end", &RunObject::End,
      "How the run ended, an End; None while the run goes on, or if the file "
      "was cut off. Reads the file the first time.");
  run->def_property_readonly(
      "torn", &RunObject::Torn,
      "Whether the file ends inside a frame, as after a kill or while the run "
      "goes on. Reads the file the first time.");
  run->def_property_readonly(
      "damages", &RunObject::Damages,
      "How many places in the file are damaged; the parts around them are "
      "read. Reads the file the first time.");
  run->def("summary", &RunObject::Summary,
           "What `pymemreport summary --json` prints, as a dict; units are in "
           "the names. Reads the file the first time.");
  run->def(
      "stack",
      [](RunObject& self, WholeArgument id) {
        // Otherwise a large number would be cut to a valid id.
        if (id.number < 0 || id.number > UINT32_MAX) {
          throw py::key_error(std::to_string(id.number));
        }
        return self.Stack(static_cast<uint32_t>(id.number));
      },
      py::arg("id"),
      "The frames of the stack of an event, the outermost first; [] for "
      "stack 0. Raises KeyError for one that the file does not have. Reads "
      "the file the first time.");
}

void DefineTables(RunClass* run) {
  run->def(
      "relation",
      [](const RunObject& self, const TextArgument& name,
         const TextArgument& at) {
        return RelationObject(RelationsOf(*self.file(), at.text), name.text);
      },
      py::arg("name"), py::arg("at") = "peak",
      "A table of `pymemreport query`, as docs/tables.md lists them: a "
      "Relation. `at` is the moment of blocks, pages and thread_memory, as "
      "--at has it. "
      "Reads the file. Raises ValueError for another name.");
  run->def(
      "query",
      [](const RunObject& self, const TextArgument& sql,
         const TextArgument& at) {
        return QueryRows(sql.text, *RelationsOf(*self.file(), at.text));
      },
      py::arg("sql"), py::arg("at") = "peak",
      "Answers a SELECT of SQLite over these tables: named tuples. Reads the "
      "file. Raises ValueError if the SELECT is wrong.");
}

// The result has the form that matplotlib's stackplot() takes: x, ys, labels.
void DefineHistory(RunClass* run) {
  run->def(
      "heap_history",
      [](const RunObject& self, const py::object& interval_s, WholeArgument top,
         const TextArgument& by, const py::object& from_s,
         const py::object& to_s) {
        return HeapHistoryOf(
            *self.file(), interval_s,
            static_cast<int>(std::clamp<int64_t>(top.number, -1, INT_MAX)),
            by.text, from_s, to_s);
      },
      py::arg("interval_s") = py::none(), py::arg("top") = WholeArgument{10},
      py::arg("by") = "line", py::arg("from_s") = 0,
      py::arg("to_s") = py::none(),
      "Live bytes over time, a History: x, the moments in seconds, each "
      "`interval_s` seconds and at the end (None: 60 to 120 moments); ys, a "
      "row of bytes for each of the `top` places with the highest peaks, and "
      "last one for all the others, named \"other\"; labels. Arrays are "
      "numpy's if it is installed. What tracing itself allocated is left out. "
      "`by` is line (of your own code), library-line, function, file, thread, "
      "allocator, module or stack. Reads the file. Raises ValueError for a run "
      "without heap events.");
}

// Both read the file each time they are called: a snapshot keeps its replay, a
// list of rows keeps nothing.
void DefineHeap(RunClass* run) {
  run->def(
      "snapshot",
      [](const RunObject& self, const py::object& at_s) {
        return std::make_unique<HeapSnapshot>(*self.file(), at_s);
      },
      py::arg("at_s") = "peak",
      "The blocks that were alive at a moment: seconds, or a value of --at: "
      "\"peak\" (the "
      "highest RSS), \"heap-peak\" (the most live bytes), \"end\" (of the "
      "program's code), \"exit\", \"50%\", a mark's label. Reads the file. "
      "Raises ValueError for a run without heap "
      "events.");
  run->def(
      "top",
      [](const RunObject& self, const TextArgument& by, const py::object& limit,
         const py::object& at) {
        return HeapTop(*self.file(), by.text, limit, at);
      },
      py::arg("by") = "line", py::arg("limit") = 10, py::arg("at") = "peak",
      "The places with the most live bytes at a moment, as of snapshot(): "
      "PlaceRows by line (of your own code), library-line, function or file, "
      "NameRows by thread, allocator, "
      "module or stack; `limit` of them, None: all. Reads the file. Raises "
      "ValueError for a run without heap events.");
}

using SnapshotClass = py::class_<HeapSnapshot>;

// A list does the work of __getitem__, so slices and negative indexes work.
void DefineSequence(SnapshotClass* snapshot) {
  snapshot->def("__len__",
                [](const HeapSnapshot& self) { return self.rows().size(); });
  snapshot->def("__getitem__",
                [](const HeapSnapshot& self, const py::object& index) {
                  return py::object(self.rows()[index]);
                });
  snapshot->def("__iter__",
                [](const HeapSnapshot& self) { return py::iter(self.rows()); });
  snapshot->def("stacks", &HeapSnapshot::Stacks,
                "The same by call stack: StackRows, one for each stack, thread "
                "and allocator, most bytes first.");
}

// Estimates are rounded to whole numbers; errors say how far they may be off.
void DefineSums(SnapshotClass* snapshot) {
  const auto define = [snapshot](const char* name, auto get, const char* doc) {
    snapshot->def_property_readonly(
        name,
        [get](const HeapSnapshot& self) { return WholeNumber(get(self)); },
        doc);
  };
  snapshot->def_property_readonly("time_s", &HeapSnapshot::time_s,
                                  "The moment, in seconds.");
  define(
      "live_bytes", [](const HeapSnapshot& s) { return s.totals().live.bytes; },
      "All live bytes.");
  define(
      "live_count", [](const HeapSnapshot& s) { return s.totals().live.count; },
      "All live blocks. Of sampled allocations there may be more: see "
      "unseen_count.");
  define(
      "error_bytes",
      [](const HeapSnapshot& s) { return s.totals().live.BytesError(); },
      "One standard error of live_bytes; 0 where it is exact.");
  define(
      "unseen_bytes", [](const HeapSnapshot& s) { return s.unseen().bytes; },
      "The most bytes of unsampled small blocks that a row may lack, in 19 of "
      "20 cases. If some sizes are never recorded it has no bound, and is "
      "2**63.");
  define(
      "unseen_count", [](const HeapSnapshot& s) { return s.unseen().count; },
      "The same in blocks.");
  define(
      "tracing_bytes",
      [](const HeapSnapshot& s) { return s.totals().tracing.bytes; },
      "Live bytes that tracing itself made the interpreter allocate. No row "
      "counts them.");
  define(
      "reserved_bytes",
      [](const HeapSnapshot& s) { return s.totals().reserved.bytes; },
      "What C code had mapped, touched or not. No row counts it. It needs a "
      "run with --native.");
}

// An iterator shares the file, so close() does not break it.
void DefineFile(RunClass* run) {
  run->def(
      "events",
      [](const RunObject& self, const py::object& kinds) {
        return std::make_unique<EventRecords>(self.file(), EventKindsOf(kinds));
      },
      py::arg("kinds") = py::none(),
      "Iterates over the run's events in the order of the file: of one kind "
      "in the order of time, of different kinds up to a second apart. `kinds` "
      "are some of \"calls\" (Row), \"heap\" (Allocation, Free, Unmap), "
      "\"pages\" (Page), \"marks\" (Mark), \"gil\" (Gil); None: all.");
  run->def("close", &RunObject::Close,
           "Closes the file. Facts of the header stay; iterators that were "
           "started go on.");
  run->def("__enter__", [](py::object self) { return self; });
  run->def("__exit__", [](RunObject& self, const py::args&) { self.Close(); });
  run->def("__repr__", [](const RunObject& self) {
    return PythonText(absl::StrCat("<pymemrun_reader.Run of ",
                                   self.header().script(), ", process ",
                                   self.header().pid(), ">"));
  });
}

}  // namespace
}  // namespace pymemrun

PYBIND11_MODULE(_reader, m) {
  using pymemrun::EventRecords;
  using pymemrun::RunObject;
  m.doc() = "Reads pymemrun's run files.";
  m.attr("__version__") = PYMEMRUN_VERSION;
  pybind11::class_<EventRecords>(m, "EventIterator", "What Run.events() gives.")
      .def("__iter__", [](pybind11::object self) { return self; })
      .def("__next__", &EventRecords::Next);
  pymemrun::RunClass run(m, "Run", "A run file that has been opened.");
  pymemrun::DefineProgram(&run);
  pymemrun::DefineSettings(&run);
  pymemrun::DefineWholeFile(&run);
  pymemrun::DefineFile(&run);
  pymemrun::DefineTables(&run);
  pymemrun::DefineHistory(&run);
  pymemrun::DefineHeap(&run);
  pymemrun::SnapshotClass snapshot(
      m, "Snapshot",
      "What was alive at a moment: a sequence of PlaceRows by line, most bytes "
      "first, without what tracing itself allocated. Where allocations were "
      "sampled the numbers are estimates.");
  pymemrun::DefineSequence(&snapshot);
  pymemrun::DefineSums(&snapshot);
  m.def(
      "open",
      [](const pybind11::object& path) {
        return std::make_unique<RunObject>(path);
      },
      pybind11::arg("path"),
      "Opens a run file. Raises OSError if the system refuses, ValueError "
      "for a file that is not a run file.");
  pymemrun::DefineRelations(&m);
  pymemrun::DefineObjects(&m);
}
