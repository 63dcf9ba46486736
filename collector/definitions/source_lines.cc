#include "collector/definitions/source_lines.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "collector/process/monotonic_clock.h"
#include "format/source/source_code.h"

namespace pymemrun {
namespace {

// Records stay far below the limit of their size.
constexpr size_t kLinesOfRecord = 1 << 16;
constexpr size_t kTextOfRecord = size_t{1} << 20;
constexpr size_t kMostTextOfLine = 4096;

}  // namespace

SourceLines::SourceLines()
    : SourceLines(Limits(), [] { return ClockNs(CLOCK_REALTIME); }) {}

SourceLines::SourceLines(const Limits& limits, Clock realtime_ns)
    : limits_(limits),
      realtime_ns_(std::move(realtime_ns)),
      bytes_left_(limits.read_bytes) {}

void SourceLines::Start(absl::string_view folder, bool store_text,
                        pid_t traced) {
  folder_ = std::string(folder);
  store_text_ = store_text;
  user_.emplace(traced);
}

void SourceLines::AddCode(uint32_t code, absl::string_view file) {
  if (code >= limits_.codes || SourcePath(file, "/").empty()) return;
  const auto [known, is_new] =
      numbers_.try_emplace(file, static_cast<uint32_t>(files_.size()));
  if (is_new && files_.size() > limits_.files) {
    numbers_.erase(known);
    return;
  }
  if (is_new) {
    files_.emplace_back();
    files_.back().name = std::string(file);
    files_.back().seen_ns = realtime_ns_();
  }
  if (code >= file_of_.size()) file_of_.resize(code + 1 + code / 2);
  file_of_[code] = known->second;
}

void SourceLines::Name(uint32_t file, uint32_t line) {
  if (named_.size() >= limits_.lines) return;
  const bool is_new = named_.insert(uint64_t{file} << 32 | line).second;
  if (is_new) files_[file].named.push_back(line);
}

bool SourceLines::Read(uint64_t time_us, size_t most_bytes) {
  if (!user_.has_value() || next_file_ == files_.size()) return false;
  const TracedUser::Rights rights(&*user_);
  size_t done = 0;
  while (next_file_ < files_.size() && done < most_bytes) {
    done += ReadFile(time_us, &files_[next_file_++]);
  }
  return next_file_ < files_.size();
}

// Returns what that has cost, in bytes read.
size_t SourceLines::ReadFile(uint64_t time_us, File* file) {
  constexpr size_t kOpening = 4096;
  if (bytes_left_ == 0) return 0;
  const std::optional<SourceCode> source =
      ReadSourceCode(SourcePath(file->name, folder_));
  if (!source.has_value()) return kOpening;
  const size_t bytes = source->text.size();
  bytes_left_ -= std::min(bytes_left_, bytes);
  file->was_read = true;
  file->read_us = time_us;
  file->size_bytes = bytes;
  file->mtime_ns = source->mtime_ns;
  if (source->mtime_ns > file->seen_ns) return bytes + kOpening;
  for (const absl::string_view line : source->Lines()) {
    file->hashes.push_back(SourceLineHash(line));
  }
  if (store_text_) file->text = source->text;
  return bytes + kOpening;
}

void SourceLines::Write(RecordSink* out) const {
  for (const File& file : files_) {
    if (file.was_read && !file.named.empty()) WriteFile(file, out);
  }
}

void SourceLines::WriteFile(const File& file, RecordSink* out) const {
  const SourceCode source = {file.mtime_ns, file.text};
  const std::vector<absl::string_view> lines = source.Lines();
  std::vector<uint32_t> named = file.named;
  std::sort(named.begin(), named.end());
  // Code may say that it has lines that the file has not.
  const auto end =
      std::upper_bound(named.begin(), named.end(), file.hashes.size());
  auto next = named.begin();
  do {
    Record record;
    SourceFile* const written = record.mutable_source();
    written->set_time_us(file.read_us);
    written->set_file(file.name);
    written->set_size_bytes(file.size_bytes);
    written->set_mtime_ns(file.mtime_ns);
    size_t text_bytes = 0;
    for (; next != end && text_bytes < kTextOfRecord &&
           static_cast<size_t>(written->line_size()) < kLinesOfRecord;
         ++next) {
      written->add_line(*next);
      written->add_hash(file.hashes[*next - 1]);
      if (file.text.empty()) continue;
      const absl::string_view text =
          absl::StripAsciiWhitespace(lines[*next - 1])
              .substr(0, kMostTextOfLine);
      written->add_text(text.data(), text.size());
      text_bytes += text.size();
    }
    out->Write(record);
  } while (next != end);
}

}  // namespace pymemrun
