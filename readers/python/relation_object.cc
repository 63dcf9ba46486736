#include "readers/python/relation_object.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/python/python_values.h"
#include "readers/relations/engine/arrow_stream.h"
#include "readers/relations/engine/sql_query.h"
#include "readers/relations/run/run_relations.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

constexpr char kCapsuleName[] = "arrow_array_stream";

py::object PythonValue(const RelationValue& value) {
  if (const auto* text = std::get_if<absl::string_view>(&value)) {
    return PythonText(*text);
  }
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return py::int_(*integer);
  }
  if (const auto* real = std::get_if<double>(&value)) return py::float_(*real);
  return py::none();
}

// A run, and the relations that read it.
struct RunAndRelations {
  std::unique_ptr<RelationRun> run;
  Relations relations;
};

}  // namespace

RelationObject::RelationObject(std::shared_ptr<const Relations> all,
                               absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const auto& relation : *all) {
    // Shares the ownership of all of them, see shared_ptr's aliasing
    // constructor.
    if (relation->name() == name) relation_ = {all, relation.get()};
    names.push_back(relation->name());
  }
  if (relation_ != nullptr) return;
  throw py::value_error(absl::StrCat(
      "expected one of ", absl::StrJoin(names, ", "), ", found '", name, "'"));
}

py::list RelationObject::Columns() const {
  py::list columns;
  for (const RelationColumn& column : relation_->columns()) {
    const absl::string_view unit = UnitName(column.type.unit);
    columns.append(
        py::make_tuple(column.name, PythonText(KindName(column.type.kind)),
                       unit.empty() ? py::object(py::none()) : PythonText(unit),
                       column.about));
  }
  return columns;
}

// The PyCapsule interface of Arrow: the consumer moves the struct out and calls
// release() itself. Otherwise the capsule's destructor does.
py::capsule RelationObject::ArrowStream() const {
  auto stream = std::make_unique<ArrowArrayStream>();
  {
    const py::gil_scoped_release others_may_run;
    ExportArrowStream(relation_, stream.get());
  }
  // A consumer that took the stream has marked it released.
  return py::capsule(stream.release(), kCapsuleName, [](PyObject* capsule) {
    auto* const stream = static_cast<ArrowArrayStream*>(
        PyCapsule_GetPointer(capsule, kCapsuleName));
    if (stream->release != nullptr) stream->release(stream);
    delete stream;
  });
}

// Rows() may read the whole file, so other threads run.
RowTuples::RowTuples(const RelationObject& relation)
    : relation_(relation.shared()), rows_([&] {
        const py::gil_scoped_release others_may_run;
        return relation.shared()->Rows();
      }()) {}

// After an error or the end, StopIteration for ever, as iterators must.
py::tuple RowTuples::Next() {
  if (ended_) throw py::stop_iteration();
  const absl::StatusOr<bool> more = rows_->Next();
  ended_ = !more.ok() || !*more;
  if (!more.ok()) throw py::value_error(std::string(more.status().message()));
  if (ended_) throw py::stop_iteration();
  py::tuple row(relation_->columns().size());
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = PythonValue(rows_->At(static_cast<int>(i)));
  }
  return row;
}

// Relations read the run by RelationRun, which prints its messages: here
// nowhere. A moment is looked up now, so that a wrong one raises at once.
std::shared_ptr<const Relations> RelationsOf(const RunFile& file,
                                             const std::string& at) {
  const absl::StatusOr<Moment> moment = ParseMoment(at);
  if (!moment.ok()) {
    throw py::value_error(std::string(moment.status().message()));
  }
  static FdSink nowhere(-1);
  static const Console silent = {"", &nowhere, -1, -1};
  auto all = std::make_shared<RunAndRelations>();
  absl::Status found;
  {
    const py::gil_scoped_release others_may_run;
    // The file that was opened, even if its name is another's now.
    all->run = RelationRun::Read(absl::StrCat("/proc/self/fd/", file.fd()),
                                 *moment, silent);
    if (all->run != nullptr && moment->kind != Moment::kPeak) {
      found = all->run->FindAt().status();
    }
  }
  if (all->run == nullptr) {
    throw py::value_error(absl::StrCat(file.shown_name(), ": cannot be read"));
  }
  if (!found.ok()) throw py::value_error(std::string(found.message()));
  all->relations = RunRelations(all->run.get());
  return {all, &all->relations};
}

// _query.py makes the class of named tuples, as columns are known only now.
py::object QueryRows(const std::string& sql, const Relations& relations) {
  const auto answer = RunSql(sql, /*most_rows=*/0, relations);
  if (!answer.ok()) {
    throw py::value_error(std::string(answer.status().message()));
  }
  py::list names, rows;
  for (const Table::Heading& heading : answer->table.headings) {
    names.append(PythonText(heading.name));
  }
  for (const std::vector<Cell>& cells : answer->table.rows) {
    py::tuple row(cells.size());
    for (size_t i = 0; i < cells.size(); ++i)
      row[i] = PythonValue(ValueOf(cells[i]));
    rows.append(row);
  }
  return py::module_::import("pymemrun_reader._query")
      .attr("named")(names, rows);
}

void DefineRelations(py::module_* module) {
  py::class_<RowTuples>(*module, "RowIterator", "What iter(Relation) gives.")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &RowTuples::Next);
  py::class_<RelationObject>(
      *module, "Relation",
      "Rows with named columns, read as they are asked for: tuples to iterate "
      "over. pyarrow, polars, DuckDB and pandas take them by Arrow's C stream "
      "interface, as in pyarrow.table(run.relation(\"places\")).")
      .def_property_readonly(
          "name",
          [](const RelationObject& self) { return self.relation().name(); })
      .def_property_readonly(
          "about",
          [](const RelationObject& self) { return self.relation().about(); },
          "What a row is.")
      .def_property_readonly(
          "columns", &RelationObject::Columns,
          "Each column as a tuple: name, type, unit or None, meaning.")
      .def("__repr__",
           [](const RelationObject& self) {
             return absl::StrCat("<pymemrun_reader.Relation ",
                                 self.relation().name(), ": ",
                                 self.relation().about(), ">");
           })
      .def("__iter__",
           [](const RelationObject& self) {
             return std::make_unique<RowTuples>(self);
           })
      .def(
          "__arrow_c_stream__",
          // The consumer may ask for other types; the interface lets a producer
          // ignore that.
          [](const RelationObject& self, const py::object&) {
            return self.ArrowStream();
          },
          py::arg("requested_schema") = py::none(),
          "The rows by Arrow's C stream interface. Integers are int64, reals "
          "float64, text is utf8.");
}

}  // namespace pymemrun
