#include "collector/process/counter_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "collector/process/monotonic_clock.h"
#include "collector/process/proc_file.h"

namespace pymemrun {

// The tracer's own descriptor in the traced process is not counted. The field
// holds the number + 1, so 0 is not known.
void CounterMeter::Read(uint64_t now_ns, ProcessSample* sample) {
  sample->set_counted(true);
  if (descriptors_ == nullptr) {
    descriptors_ = std::make_unique<DescriptorCount>(pid_);
  }
  const absl::optional<uint64_t> open = descriptors_->Read();
  if (open.has_value()) sample->set_descriptors(*open + 1);
  const uint64_t begin_ns = ThreadCpuNs();
  const ProportionalSet set = pss_->Read(now_ns);
  pss_cpu_ns_ = ThreadCpuNs() - begin_ns;
  if (set.pss_bytes == 0) return;
  sample->set_pss_bytes(set.pss_bytes);
  sample->set_pss_rss_bytes(set.rss_bytes);
}

void CounterMeter::Took(uint64_t now_ns, uint64_t cpu_ns) {
  const uint64_t own_ns = cpu_ns - std::min(cpu_ns, pss_cpu_ns_);
  const uint64_t due_ns = next_ns_ == 0 ? now_ns : next_ns_;
  const uint64_t beat_ns = due_ns + every_ns_;
  // Missed beats are skipped.
  next_ns_ = std::max(beat_ns > now_ns ? beat_ns : now_ns + every_ns_,
                      now_ns + kLookCostFactor * own_ns);
}

DescriptorCount::DescriptorCount(pid_t pid)
    : folder_(open(ProcPath(pid, "fd").c_str(),
                   O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

DescriptorCount::~DescriptorCount() {
  if (folder_ >= 0) close(folder_);
}

absl::optional<uint64_t> DescriptorCount::Read() {
  struct stat info;
  if (folder_ < 0 || fstat(folder_, &info) != 0) return absl::nullopt;
  // Since Linux 6.2 the size of /proc/PID/fd is the number of descriptors;
  // before that it is 0 (proc(5)).
  if (info.st_size == 0 || gauges_.empty() || !GaugeHas(gauges_)) {
    return CountNames();
  }
  return static_cast<uint64_t>(info.st_size) - 1;
}

// Whether this descriptor may be the gauge's, which is a statm of /proc. The
// program may have opened one too; then one of the two is left out.
bool DescriptorCount::GaugeHas(const std::string& name) const {
  char link[64];
  const ssize_t size = readlinkat(folder_, name.c_str(), link, sizeof(link));
  if (size <= 0) return false;
  const absl::string_view path(link, static_cast<size_t>(size));
  return absl::StartsWith(path, "/proc/") && absl::EndsWith(path, "/statm");
}

// Linear in the number of descriptors. Also finds the gauge's.
absl::optional<uint64_t> DescriptorCount::CountNames() {
  const int fd = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const names = fd < 0 ? nullptr : fdopendir(fd);
  if (names == nullptr) {
    if (fd >= 0) close(fd);
    return absl::nullopt;
  }
  uint64_t count = 0;
  gauges_.clear();
  while (const dirent* entry = readdir(names)) {
    if (entry->d_name[0] == '.') continue;
    if (gauges_.empty() && GaugeHas(entry->d_name)) {
      gauges_ = entry->d_name;
    } else {
      ++count;
    }
  }
  closedir(names);
  return count;
}

}  // namespace pymemrun
