#include "collector/definitions/source_lines.h"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
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

// Numbers of files start at 1, so 0 in file_of_ is a code object without a
// file.
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

// Returns the cost in bytes read; opening a file counts as kOpening bytes.
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
  // Changed after its code was first seen: its lines need not be those that
  // ran.
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

// A long file becomes several records. A file that has changed is one record
// without lines.
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

// The fourth number after "Uid:" or "Gid:" is that of file system access
// (proc(5)).
uint32_t LastId(absl::string_view status, absl::string_view label,
                uint32_t otherwise) {
  const size_t at = status.find(label);
  if (at == absl::string_view::npos) return otherwise;
  absl::string_view line = status.substr(at + label.size());
  line = line.substr(0, line.find('\n'));
  const std::vector<absl::string_view> ids =
      absl::StrSplit(line, absl::ByAnyChar("\t "), absl::SkipEmpty());
  uint32_t id;
  return ids.size() == 4 && absl::SimpleAtoi(ids[3], &id) ? id : otherwise;
}

std::vector<gid_t> OtherGroups(absl::string_view status) {
  constexpr absl::string_view kLabel = "\nGroups:";
  const size_t at = status.find(kLabel);
  if (at == absl::string_view::npos) return {};
  absl::string_view line = status.substr(at + kLabel.size());
  const size_t end = line.find('\n');
  if (end == absl::string_view::npos) return {};
  std::vector<gid_t> groups;
  for (const absl::string_view word : absl::StrSplit(
           line.substr(0, end), absl::ByAnyChar("\t "), absl::SkipEmpty())) {
    uint32_t id;
    if (absl::SimpleAtoi(word, &id)) groups.push_back(id);
  }
  return groups;
}

namespace {

// By system call, for the calling thread only. setgroups() of libc changes all
// threads of the process.
void SetGroups(const std::vector<gid_t>& groups) {
  syscall(SYS_setgroups, groups.size(), groups.data());
}

std::vector<gid_t> OwnGroups() {
  const int count = getgroups(0, nullptr);
  std::vector<gid_t> groups(count > 0 ? count : 0);
  const int got = getgroups(count, groups.data());
  groups.resize(got > 0 ? got : 0);
  return groups;
}

}  // namespace

void TracedUser::Look() {
  char buffer[4096];
  const absl::string_view status = status_.Read(buffer, sizeof(buffer));
  user_ = LastId(status, "\nUid:", user_);
  group_ = LastId(status, "\nGid:", group_);
  if (!status.empty()) groups_ = OtherGroups(status);
}

// A collector that runs as root reads source files with the rights of the
// traced user. So it opens no file that this user may not read.
TracedUser::Rights::Rights(TracedUser* user) {
  if (geteuid() == 0) user->Look();
  const bool is_root = geteuid() != 0 || user->user_ == 0;
  // Groups first, because another user may be refused to set them. A namespace
  // that refuses it has refused it to the program, too.
  if (!is_root) {
    has_others_ = true;
    groups_before_ = OwnGroups();
    SetGroups(user->groups_);
  }
  group_before_ =
      static_cast<gid_t>(setfsgid(is_root ? getegid() : user->group_));
  user_before_ =
      static_cast<uid_t>(setfsuid(is_root ? geteuid() : user->user_));
}

TracedUser::Rights::~Rights() {
  setfsuid(user_before_);
  setfsgid(group_before_);
  if (has_others_) SetGroups(groups_before_);
}

}  // namespace pymemrun
