#include "readers/replay/summary/facts_reader.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "readers/places/thread_filter.h"
#include "readers/run/follow_watch.h"
#include "readers/run/input_file.h"
#include "text/terminal_text.h"

namespace pymemrun {

// The file may be a pipe: it is read once, from its start. Damage is reported,
// and what could be read is still shown.
std::unique_ptr<FactsReader> FactsReader::Read(const std::string& path,
                                               const Console& console,
                                               int* code,
                                               const std::string& threads) {
  auto file = InputFile::Open(path);
  if (!file.ok()) {
    console.Say(
        absl::StrCat(TerminalText(path), ": ", file.status().message()));
    *code = std::max(*code, kExitFailed);
    return nullptr;
  }
  const std::string& name = (*file)->shown_name();
  auto reader = absl::WrapUnique(new FactsReader(name, threads));
  reader->teller_.emplace(&console, name);
  FdSource source((*file)->fd());
  ReadResult result;
  const absl::Status status =
      ReadStream(&source, StreamReader::Options(), reader.get(), &result);
  reader->file_bytes_ = std::max((*file)->size_bytes(), source.bytes_read());
  *code = std::max(*code,
                   SayResultOf((*file)->fd(), console, name, status, result));
  if (!status.ok() && !result.has_header) return nullptr;
  if (reader->footer.has_value()) SayLosses(console, name, *reader->footer);
  return reader->HasThreads(threads, console, code) ? std::move(reader)
                                                    : nullptr;
}

std::unique_ptr<FactsReader> FactsReader::ReadAgain(
    RereadFile* file, const Console& console, int* code,
    const std::string& threads, const TaskStepsReader* tasks,
    const TimeRange& range) {
  auto reader = absl::WrapUnique(new FactsReader(file->shown_name(), threads));
  reader->KnowThreads(file->threads());
  reader->TellTasksApart(tasks);
  reader->KeepRange(range);
  const bool was_read = file->ReadAgain(reader.get());
  *code = std::max(*code, was_read ? file->code() : kExitFailed);
  reader->file_bytes_ = file->size_bytes();
  return was_read && reader->HasThreads(threads, console, code)
             ? std::move(reader)
             : nullptr;
}

// Known only after reading: a thread may get its name late in the run.
bool FactsReader::HasThreads(const std::string& threads, const Console& console,
                             int* code) const {
  const absl::Status known = ThreadFilter(threads, &index()).Check();
  if (known.ok()) return true;
  console.Say(absl::StrCat(shown_name_, ": ", known.message()));
  *code = std::max(*code, kExitUsage);
  return false;
}

void FactsReader::AddCost(OwnCost* cost) const {
  const ObjectsMade made = MadeObjects();
  cost->bytes += TracingBytes();
  cost->frames_made += made.frames;
  cost->bound_made += made.bound;
}

}  // namespace pymemrun
