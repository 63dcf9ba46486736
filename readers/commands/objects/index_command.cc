#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/objects/index/index_layout.h"
#include "readers/objects/index/load_dump.h"
#include "readers/output/report_output.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Whether what is there may be replaced: an index, an empty file, or nothing
// yet. A typing error after -o must not cost a user's file.
bool MayReplace(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return true;
  // Reading from a FIFO would wait for its writer.
  if (type != std::filesystem::file_type::regular) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(kIndexMagic.size(), '\0');
  file.read(&begin[0], static_cast<std::streamsize>(begin.size()));
  // One of another version, too.
  begin.back() = kIndexMagic.back();
  return file.gcount() == 0 || begin == kIndexMagic;
}

class IndexCommand final : public ObjectsCommand {
 public:
  IndexCommand()
      : ObjectsCommand(
            "index", "writes FILE.idx, which makes other commands quick",
            "Writes an index of the dump beside it. Later commands on the dump "
            "use it, and questions about one object are answered at once.\n\n"
            "It is worthwhile for dumps of millions of objects. An index of "
            "another "
            "dump is not used, and may be replaced.") {}

  void AddOptions(CLI::App* app) override {
    files_.count = 1;
    ShowBehind("FILE", app);
    app->add_option_function<std::string>(
           "FILE", [this](const std::string& path) { files_.paths = {path}; },
           "A dump of the object graph; a folder means all dumps in it.")
        ->required()
        ->option_text("");
    app->add_option("-o,--output", path_,
                    "Write the index to PATH (FILE.idx); give other commands "
                    "the same PATH with --index.")
        ->option_text("PATH");
  }

 private:
  std::string Problem() const override {
    return path_ == "-" ? "-o -: an index needs a file name" : "";
  }
  std::string OfOneRun() const override {
    return path_.empty() ? "" : "an index at PATH";
  }
  int Show(ObjectAnalysis*, const Console&, OutputBuffer*) override {
    return kExitOk;  // Run() loads it by itself
  }
  int Run(const Console& console, OutputBuffer* output) override;
  // Writes it; returns how large it is.
  static absl::StatusOr<uint64_t> WriteTo(ReplacedFile* file,
                                          const DumpStamp& stamp,
                                          std::unique_ptr<ObjectGraph> graph);

  std::string path_;
};

absl::StatusOr<uint64_t> IndexCommand::WriteTo(
    ReplacedFile* file, const DumpStamp& stamp,
    std::unique_ptr<ObjectGraph> graph) {
  ObjectAnalysis analysis(std::move(graph));
  absl::Status status = WriteIndex(stamp, &analysis, file);
  if (status.ok()) status = file->Commit();
  if (!status.ok()) return status;
  return file->bytes_written();
}

// The stamp is taken before the dump is read: if the dump changes during that
// time, the index will not fit it. What can fail quickly comes before the
// loading, which may take minutes.
int IndexCommand::Run(const Console& console, OutputBuffer* output) {
  const absl::Time began = absl::Now();
  const std::string& dump = files_.paths[0];
  const std::string path = path_.empty() ? IndexPath(dump) : path_;
  const auto fail = [&](const std::string& name, absl::string_view problem,
                        int code) {
    console.Say(absl::StrCat(TerminalText(name), ": ", TerminalText(problem)));
    return code;
  };
  std::error_code error;
  if (std::filesystem::is_directory(dump, error)) {
    return fail(dump, kNoDumps, kExitFailed);
  }
  const auto stamp = StampOf(dump);
  if (!stamp.ok()) return fail(dump, stamp.status().message(), kExitFailed);
  auto file = ReplacedFile::Create(path);
  if (!file.ok()) return fail(path, file.status().message(), kExitUsage);
  if (!MayReplace(path)) {
    return fail(path, "exists and is not an index: name another file with -o",
                kExitUsage);
  }
  int code = kExitOk;
  auto graph = LoadObjects(dump, console, &code);
  if (graph == nullptr) return code;
  // Commands that use an index do not read the dump, so none would report the
  // damage.
  if (code != kExitOk) {
    return fail(dump, "no index is made for a damaged dump", kExitFailed);
  }
  const uint64_t objects = graph->objects();
  const auto written = WriteTo(file->get(), *stamp, std::move(graph));
  if (!written.ok()) {
    return fail(path, written.status().message(), kExitFailed);
  }
  output->AppendLines(absl::StrCat(
      TerminalText(path), ": an index of ", Counted(objects, "object"), ", ",
      HumanBytes(static_cast<double>(*written)), ", written in ",
      HumanSeconds(static_cast<uint64_t>(
          absl::ToInt64Microseconds(absl::Now() - began))),
      ".\n"));
  return kExitOk;
}

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsIndexCommand() {
  return std::make_unique<IndexCommand>();
}

}  // namespace pymemrun
