#include "readers/summary/facts_reader.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "readers/places/thread_filter.h"
#include "readers/run/input_file.h"
#include "text/terminal_text.h"

namespace pymemrun {

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
  auto reader = absl::WrapUnique(new FactsReader(&console, name));
  if (!threads.empty()) reader->KeepThreads(threads);
  FdSource source((*file)->fd());
  ReadResult result;
  const absl::Status status =
      ReadStream(&source, StreamReader::Options(), reader.get(), &result);
  reader->file_bytes_ = std::max((*file)->size_bytes(), source.bytes_read());
  *code = std::max(*code, SayResult(console, name, status, result));
  if (!status.ok() && !result.has_header) return nullptr;
  const absl::Status known = ThreadFilter(threads, &reader->index()).Check();
  if (known.ok()) return reader;
  console.Say(absl::StrCat(name, ": ", known.message()));
  *code = std::max(*code, kExitUsage);
  return nullptr;
}

void FactsReader::AddCost(OwnCost* cost) const {
  const ObjectsMade made = MadeObjects();
  cost->bytes += TracingBytes();
  cost->frames_made += made.frames;
  cost->bound_made += made.bound;
}

}  // namespace pymemrun
