#include "readers/python/run_object.h"

#include <utility>
#include <variant>

#include "format/records/read_steps.h"
#include "readers/python/heap_answers.h"
#include "readers/replay/summary/run_summary.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

class HeaderVisitor final : public RecordVisitor {
 public:
  void OnHeader(const Header& found) override { header = found; }
  void OnObjectsBegin(const ObjectsBegin&) override { is_dump = true; }
  Header header;
  bool is_dump = false;
};

// Steps record by record instead of reading the file: opening must be quick.
Header HeaderOf(const RunFile& file) {
  RunFileSource source(&file);
  HeaderVisitor visitor;
  ReadSteps steps(&source, StreamReader::Options(), &visitor);
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more && !steps.result().has_header) more = steps.Step();
  if (!more.ok()) file.Raise(more.status());
  // The record after the header distinguishes a dump from a run.
  if (*more) more = steps.Step();
  if (visitor.is_dump) {
    file.Raise(absl::InvalidArgumentError(
        "a dump of the object graph, which pymemrun_reader.objects() reads"));
  }
  return visitor.header;
}

// An ExactNumber is a double that other outputs print with all its digits.
py::object CellObject(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return py::none();
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return PythonText(*text);
  }
  if (const auto* number = std::get_if<int64_t>(&cell))
    return py::cast(*number);
  if (const auto* number = std::get_if<uint64_t>(&cell)) {
    return py::cast(*number);
  }
  if (const auto* exact = std::get_if<ExactNumber>(&cell)) {
    return py::cast(exact->value);
  }
  return py::cast(std::get<double>(cell));
}

}  // namespace

RunObject::RunObject(py::handle path)
    : file_(RunFile::Open(path)), header_(HeaderOf(*file_)) {}

const std::shared_ptr<const RunFile>& RunObject::file() const {
  if (file_ == nullptr) throw py::value_error("the run file is closed");
  return file_;
}

py::list RunObject::Argv() const {
  py::list arguments;
  for (const std::string& argument : header_.argv()) {
    arguments.append(PythonText(argument));
  }
  return arguments;
}

// datetime has microseconds, so the nanoseconds are cut. Sums with timedelta
// are exact; datetime.fromtimestamp() takes a float.
py::object RunObject::StartTime() const {
  const py::module_ datetime = py::module_::import("datetime");
  const py::object epoch = datetime.attr("datetime")(
      1970, 1, 1, py::arg("tzinfo") = datetime.attr("timezone").attr("utc"));
  return epoch +
         datetime.attr("timedelta")(py::arg("microseconds") =
                                        header_.start_realtime_ns() / 1000);
}

const char* RunObject::HeapMode() const {
  switch (header_.heap()) {
    case HEAP_OFF:
      return "off";
    case HEAP_SAMPLED:
      return "sampled";
    case HEAP_ALL:
      return "all";
    default:
      return "?";
  }
}

// A run that goes on is read anew when its file has grown. The caller's pointer
// keeps the old facts while another thread replaces them.
std::shared_ptr<RunObject::WholeFile> RunObject::Facts() {
  const std::shared_ptr<const RunFile> file = this->file();
  const uint64_t file_bytes = file->SizeBytes();
  if (facts_ == nullptr || facts_->file_bytes != file_bytes) {
    auto facts = std::make_shared<WholeFile>();
    facts->file_bytes = file_bytes;
    facts->result = file->Read(facts.get());
    facts_ = std::move(facts);
  }
  return facts_;
}

// The order is that of End's fields in _records.py.
py::object RunObject::End() {
  const auto facts = Facts();
  if (!facts->footer.has_value()) return py::none();
  const Footer& footer = *facts->footer;
  return end_.Make(PythonText(EndName(footer.end())), footer.exit_status(),
                   Seconds(footer.end_us()), footer.events(), footer.rows(),
                   footer.dropped(), footer.lost_on_write(), footer.hwm_bytes(),
                   footer.own_bytes(), Seconds(footer.user_us()),
                   Seconds(footer.system_us()), footer.page_events(),
                   footer.heap_allocations(), footer.heap_frees(),
                   footer.heap_events_lost());
}

// Ids ascend in the file, so the last one that was read is the largest.
py::list RunObject::Stack(uint32_t id) {
  const auto facts = Facts();
  if (id > facts->last_stack) throw py::key_error(std::to_string(id));
  FrameBudget budget;
  return FramesOf(facts->index(), id, frame_, &facts->texts, &budget);
}

py::dict RunObject::Summary() {
  const auto facts = Facts();
  const auto moments = RunMoments::Of(ReadingOf(*file_));
  const RunPeak peak = {moments->RssPeak().time_us, moments->PeakBytes()};
  py::dict values;
  for (const auto& [name, cell] :
       SummaryValues(*facts, file_->shown_name(), facts->file_bytes, peak)) {
    values[PythonText(name)] = CellObject(cell);
  }
  return values;
}

}  // namespace pymemrun
