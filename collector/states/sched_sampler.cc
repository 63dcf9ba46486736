#include "collector/states/sched_sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "format/limits.h"

namespace pymemrun {
namespace {

absl::string_view ReadFile(int folder, const std::string& name, char* buffer,
                           size_t size) {
  const int fd = openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t got = read(fd, buffer, size);
  close(fd);
  return {buffer, got < 0 ? 0 : static_cast<size_t>(got)};
}

// "label:\t12\n" after a line's end.
bool NumberAfter(absl::string_view text, absl::string_view label,
                 uint64_t* number) {
  const size_t at = text.find(label);
  if (at == absl::string_view::npos) return false;
  absl::string_view rest = text.substr(at + label.size());
  rest = rest.substr(0, rest.find('\n'));
  return absl::SimpleAtoi(rest, number);
}

uint64_t Since(uint64_t now, uint64_t before) {
  return std::min(now - std::min(now, before), kMaxStateNanos);
}

}  // namespace

// /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds in a run
// queue, time slices (Documentation/scheduler/sched-stats.rst).
bool ParseSchedstat(absl::string_view text, SchedFigures* figures) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(absl::StripTrailingAsciiWhitespace(text), ' ');
  return parts.size() >= 2 && absl::SimpleAtoi(parts[0], &figures->run_ns) &&
         absl::SimpleAtoi(parts[1], &figures->runnable_ns);
}

bool ParseSwitches(absl::string_view status, SchedFigures* figures) {
  return NumberAfter(status, "\nvoluntary_ctxt_switches:",
                     &figures->voluntary) &&
         NumberAfter(status, "\nnonvoluntary_ctxt_switches:",
                     &figures->preempted);
}

bool SchedSampler::ReadOne(uint32_t thread, SchedFigures* figures) const {
  char buffer[4096];
  const std::string folder = absl::StrCat(thread, "/");
  if (!ParseSchedstat(
          ReadFile(task_fd_, folder + "schedstat", buffer, sizeof(buffer)),
          figures)) {
    return false;
  }
  return !counts_switches_ ||
         ParseSwitches(
             ReadFile(task_fd_, folder + "status", buffer, sizeof(buffer)),
             figures);
}

std::vector<uint32_t> SchedSampler::Threads() const {
  std::vector<uint32_t> threads;
  const int fd = openat(task_fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const folder = fd < 0 ? nullptr : fdopendir(fd);
  if (folder == nullptr) {
    if (fd >= 0) close(fd);
    return threads;
  }
  while (const dirent* const entry = readdir(folder)) {
    uint32_t thread = 0;
    if (absl::SimpleAtoi(entry->d_name, &thread)) threads.push_back(thread);
  }
  closedir(folder);
  return threads;
}

void SchedSampler::Add(uint32_t id, const SchedFigures& figures,
                       SchedBatch* batch) const {
  batch->add_thread(id);
  batch->add_run_ns(figures.run_ns);
  batch->add_runnable_ns(figures.runnable_ns);
  if (!counts_switches_) return;
  batch->add_voluntary(figures.voluntary);
  batch->add_preempted(figures.preempted);
}

// The figures count from the thread's start, so the present ones are subtracted
// from all later ones.
void SchedSampler::Start(IdOf id_of, SchedBatch* batch) {
  for (const uint32_t thread : Threads()) {
    SchedFigures figures;
    if (!ReadOne(thread, &figures)) continue;
    known_[thread] = {figures, figures, round_};
    Add(id_of(thread, false), {}, batch);
  }
}

// Linear in the number of threads. Those that were not seen in this round have
// ended.
std::vector<uint32_t> SchedSampler::Read(IdOf id_of, SchedBatch* batch) {
  ++round_;
  for (const uint32_t thread : Threads()) {
    SchedFigures now;
    if (!ReadOne(thread, &now)) continue;
    const auto [at, is_new] = known_.try_emplace(thread);
    Known& known = at->second;
    // Times never fall: the number belongs to a new thread.
    const bool is_other = now.run_ns < known.last.run_ns;
    if (is_other) known = {};
    known.round = round_;
    if (!is_new && !is_other && now == known.last) continue;
    known.last = now;
    Add(id_of(thread, is_new || is_other),
        {Since(now.run_ns, known.before.run_ns),
         Since(now.runnable_ns, known.before.runnable_ns),
         Since(now.voluntary, known.before.voluntary),
         Since(now.preempted, known.before.preempted)},
        batch);
  }
  std::vector<uint32_t> gone;
  for (auto at = known_.begin(); at != known_.end();) {
    const auto one = at++;
    if (one->second.round == round_) continue;
    gone.push_back(one->first);
    known_.erase(one);
  }
  return gone;
}

}  // namespace pymemrun
