#include "collector/definitions/mapping_table.h"

#include <errno.h>
#include <linux/ioctl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

// Names beyond this are written again should they return.
constexpr size_t kMaxNames = 1u << 16;
// A process has at most some 65530 mappings, each a line of a path.
constexpr size_t kMaxMapsBytes = size_t{64} << 20;
constexpr absl::string_view kKernelName = "[kernel]";

// ioctl PROCMAP_QUERY of /proc/PID/maps, as Linux has it since 6.11; headers of
// older systems do not.
struct ProcmapQuery {
  uint64_t size = sizeof(ProcmapQuery);
  uint64_t flags;
  uint64_t address;
  uint64_t begin;  // set by the kernel from here on: addresses
  uint64_t end;
  uint64_t permissions;
  uint64_t page_size;
  uint64_t offset;
  uint64_t inode;
  uint32_t device_major;
  uint32_t device_minor;
  uint32_t name_size;      // in: of the buffer; out: with the final 0; 0: none
  uint32_t build_id_size;  // 0: not wanted
  uint64_t name;           // address of the buffer
  uint64_t build_id;
};
static_assert(sizeof(ProcmapQuery) == 104);

constexpr unsigned long kProcmapQuery =
    _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, sizeof(ProcmapQuery));

// In flags: where nothing is mapped, the answer is the next mapping above.
// ENOENT means that no mapping was found.
constexpr uint64_t kProcmapOrNext = 1u << 4;
// In permissions.
constexpr uint64_t kProcmapReadable = 1u << 0;
constexpr uint64_t kProcmapWritable = 1u << 1;
constexpr uint64_t kProcmapExecutable = 1u << 2;
constexpr uint64_t kProcmapShared = 1u << 3;

// The properties of a mapping that show whether it is a stack.
struct PrivateMemory {
  uint64_t begin = 0, end = 0;
  // Private, and not of a file.
  bool anonymous = false;
  bool readable = false, writable = false;
};

// How much from the start of `memory` is the stack of a thread. `below` is the
// mapping before it.
uint64_t ThreadStackBytes(const PrivateMemory& below,
                          const PrivateMemory& memory, uint64_t default_bytes) {
  constexpr uint64_t kLargestPage = uint64_t{64} << 10;
  const bool is_guard = below.anonymous && !below.readable && !below.writable &&
                        below.end - below.begin <= kLargestPage;
  const bool is_stack = memory.anonymous && memory.readable &&
                        memory.writable && memory.begin == below.end &&
                        memory.end - memory.begin >= default_bytes;
  return is_guard && is_stack ? default_bytes : 0;
}

// The kernel lists these pages, but does not count them in RSS.
bool IsCounted(absl::string_view name) {
  return name != "[vvar]" && name != "[vvar_vclock]" && name != "[vsyscall]";
}

// Whether a mapping with this name is a file. Some shared memory, which is
// populated page by page, has names like files.
bool IsFile(absl::string_view name) {
  if (!absl::StartsWith(name, "/")) return false;
  for (const absl::string_view shared :
       {"/dev/shm/", "/dev/zero", "/memfd:", "/SYSV"}) {
    if (absl::StartsWith(name, shared)) return false;
  }
  return true;
}

bool TakeHex(absl::string_view* text, char end, uint64_t* value) {
  const size_t at = text->find(end);
  if (at == absl::string_view::npos) return false;
  if (!absl::SimpleHexAtoi(text->substr(0, at), value)) return false;
  text->remove_prefix(at + 1);
  return true;
}

// "begin-end perms offset device inode     name"; the name may hold spaces.
bool ParseLine(absl::string_view line, Mapping* mapping, PrivateMemory* memory,
               absl::string_view* name) {
  if (!TakeHex(&line, '-', &mapping->begin)) return false;
  if (!TakeHex(&line, ' ', &mapping->end) || line.size() < 5) return false;
  mapping->executable = line[2] == 'x';
  memory->readable = line[0] == 'r';
  memory->writable = line[1] == 'w';
  memory->anonymous = line[3] == 'p';
  for (int field = 0; field < 4; ++field) {
    const size_t space = line.find(' ');
    if (space == absl::string_view::npos) {
      line = {};
      break;
    }
    line.remove_prefix(space + 1);
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  *name = line;
  memory->begin = mapping->begin;
  memory->end = mapping->end;
  memory->anonymous &= name->empty();
  return mapping->begin < mapping->end;
}

// PROCMAP_QUERY gives the plain name; /proc/PID/maps escapes line ends.
std::string ShownName(absl::string_view name) {
  return absl::StrReplaceAll(name, {{"\n", "\\012"}});
}

PrivateMemory MemoryOf(const ProcmapQuery& query) {
  PrivateMemory memory;
  memory.begin = query.begin;
  memory.end = query.end;
  memory.anonymous =
      query.inode == 0 && (query.permissions & kProcmapShared) == 0;
  memory.readable = (query.permissions & kProcmapReadable) != 0;
  memory.writable = (query.permissions & kProcmapWritable) != 0;
  return memory;
}

// How much from the start of a mapping is the stack of a thread, for
// PROCMAP_QUERY. `maps` is the file to ask.
uint64_t StackAt(const ProcmapQuery& mapping, int maps, uint64_t stack_bytes) {
  if (mapping.end - mapping.begin < stack_bytes) return 0;
  ProcmapQuery below = {};
  below.address = mapping.begin - 1;
  if (ioctl(maps, kProcmapQuery, &below) != 0) return 0;
  return ThreadStackBytes(MemoryOf(below), MemoryOf(mapping), stack_bytes);
}

}  // namespace

uint64_t DefaultThreadStackBytes() {
  constexpr uint64_t kWithoutLimit = uint64_t{2} << 20;
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return kWithoutLimit;
  if (limit.rlim_cur == RLIM_INFINITY) return kWithoutLimit;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (limit.rlim_cur + page - 1) / page * page;
}

MappingTable::MappingTable(pid_t pid, RecordSink* out)
    : file_(pid, "maps"), out_(out), stack_bytes_(DefaultThreadStackBytes()) {}

bool MappingTable::Refresh() {
  if (file_.fd() < 0 || lseek(file_.fd(), 0, SEEK_SET) != 0) return false;
  text_.clear();
  char buffer[16384];
  while (text_.size() < kMaxMapsBytes) {
    const ssize_t got = read(file_.fd(), buffer, sizeof(buffer));
    if (got <= 0) break;
    text_.append(buffer, static_cast<size_t>(got));
  }
  if (text_.empty()) return false;
  Parse(text_);
  return true;
}

// A stack gets an entry of its own, as the kernel may have merged it with
// memory above it.
void MappingTable::Parse(absl::string_view maps) {
  mappings_.clear();
  hit_ = data_hit_ = {};
  PrivateMemory below;
  for (const absl::string_view line : absl::StrSplit(maps, '\n')) {
    Mapping mapping = {};
    PrivateMemory memory;
    absl::string_view name;
    if (!ParseLine(line, &mapping, &memory, &name)) continue;
    mapping.counted = IsCounted(name);
    mapping.file = IsFile(name);
    const uint64_t stack = ThreadStackBytes(below, memory, stack_bytes_);
    if (stack > 0) {
      mappings_.push_back(mapping);
      mappings_.back().end = mapping.begin += stack;
      mappings_.back().name = IdOf(kThreadStackName);
    }
    below = memory;
    if (mapping.begin == mapping.end) continue;
    mapping.name = IdOf(name);
    mappings_.push_back(mapping);
  }
  const auto by_begin = [](const Mapping& a, const Mapping& b) {
    return a.begin < b.begin;
  };
  if (!std::is_sorted(mappings_.begin(), mappings_.end(), by_begin)) {
    std::sort(mappings_.begin(), mappings_.end(), by_begin);
  }
}

uint32_t MappingTable::IdOf(absl::string_view name) {
  if (ids_.size() >= kMaxNames) ids_.clear();
  const auto [known, fresh] = ids_.try_emplace(name, last_id_ + 1);
  if (!fresh) return known->second;
  ++last_id_;
  Record record;
  record.mutable_mapping()->set_id(last_id_);
  record.mutable_mapping()->mutable_name()->assign(name.data(), name.size());
  out_->Write(record);
  return last_id_;
}

const Mapping* MappingTable::Find(uint64_t address) const {
  const auto above = std::upper_bound(
      mappings_.begin(), mappings_.end(), address,
      [](uint64_t value, const Mapping& m) { return value < m.begin; });
  if (above == mappings_.begin()) return nullptr;
  const Mapping& mapping = *(above - 1);
  return address < mapping.end ? &mapping : nullptr;
}

// A token bucket: next_ns_ falls behind by kept_ns_ at most.
bool MappingTable::Looks::MayLook(uint64_t now_ns) {
  if (now_ns > next_ns_ + kept_ns_) next_ns_ = now_ns - kept_ns_;
  if (now_ns < next_ns_) return false;
  next_ns_ += period_ns_;
  return true;
}

bool MappingTable::LookAgain(uint64_t now_ns, Looks* looks) {
  if (!looks->MayLook(now_ns)) return false;
  const uint64_t cpu_ns = ThreadCpuNs();
  const bool looked = Refresh();
  looks->Took(ThreadCpuNs() - cpu_ns);
  return looked;
}

// Asks about one mapping. Returns whether something is mapped there; then the
// table has it.
bool MappingTable::Query(uint64_t address, uint64_t now_ns) {
  if (!can_query_ || file_.fd() < 0 || hole_.Has(address, now_ns)) return false;
  if (!queries_.MayLook(now_ns)) return false;
  const uint64_t cpu_ns = ThreadCpuNs();
  const bool found = AskFor(address);
  queries_.Took(ThreadCpuNs() - cpu_ns);
  return found;
}

bool MappingTable::AskFor(uint64_t address) {
  char name[4096];
  ProcmapQuery query = {};
  query.flags = kProcmapOrNext;
  query.address = address;
  query.name = reinterpret_cast<uintptr_t>(name);
  query.name_size = sizeof(name);
  if (ioctl(file_.fd(), kProcmapQuery, &query) != 0) {
    can_query_ = errno == ENOENT || errno == ESRCH || errno == ENAMETOOLONG;
    if (errno == ENOENT) hole_ = {address, UINT64_MAX, MonotonicNs()};
    return false;
  }
  if (query.begin > address) {
    hole_ = {address, query.begin, MonotonicNs()};
    return false;
  }
  const size_t length = query.name_size > 0 ? query.name_size - 1 : 0;
  const std::string shown = ShownName({name, length});
  Mapping mapping = {};
  mapping.begin = query.begin;
  mapping.end = query.end;
  mapping.executable = (query.permissions & kProcmapExecutable) != 0;
  const uint64_t stack = StackAt(query, file_.fd(), stack_bytes_);
  if (address < query.begin + stack) {
    mapping.end = query.begin + stack;
    mapping.name = IdOf(kThreadStackName);
  } else {
    mapping.begin += stack;
    mapping.name = IdOf(shown);
  }
  mapping.counted = IsCounted(shown);
  mapping.file = IsFile(shown);
  Replace(mapping);
  return true;
}

// Puts the mapping in place of all entries that it overlaps.
void MappingTable::Replace(const Mapping& mapping) {
  const auto first = std::partition_point(
      mappings_.begin(), mappings_.end(),
      [&](const Mapping& m) { return m.end <= mapping.begin; });
  const auto end = std::partition_point(
      first, mappings_.end(),
      [&](const Mapping& m) { return m.begin < mapping.end; });
  hit_ = data_hit_ = {};
  if (first == end) {
    mappings_.insert(first, mapping);
  } else {
    *first = mapping;
    mappings_.erase(first + 1, end);
  }
}

uint32_t MappingTable::CodeAt(uint64_t address, uint64_t now_ns) {
  if (address >= hit_.begin && address < hit_.end) return hit_.name;
  if (address >= kKernelHalf) {
    hit_ = {};
    hit_.begin = kKernelHalf;
    hit_.end = UINT64_MAX;
    hit_.name = IdOf(kKernelName);
    return hit_.name;
  }
  const auto find = [&] {
    const Mapping* mapping = Find(address);
    return mapping != nullptr && mapping->executable ? mapping : nullptr;
  };
  const Mapping* mapping = find();
  if (mapping == nullptr && LookAgain(now_ns, &looks_)) mapping = find();
  if (mapping == nullptr) return 0;
  hit_ = *mapping;
  return hit_.name;
}

// In this order: file mappings that the program reported, the last result, the
// table, the kernel. An entry that was partly unmapped is asked about again.
Mapping MappingTable::DataAt(uint64_t address, uint64_t now_ns) {
  if (const FileMapping* const told = files_.At(address, now_ns)) {
    Mapping mapping = {};
    mapping.name = told->name;
    mapping.file = told->file;
    return mapping;
  }
  if (address >= data_hit_.begin && address < data_hit_.end) return data_hit_;
  const Mapping* found = Find(address);
  Mapping was = {};
  if (found != nullptr && found->gone && !found->file) was = *found;
  if (found == nullptr || found->gone) {
    const bool asked = Query(address, now_ns) ||
                       (!can_query_ && LookAgain(now_ns, &data_looks_));
    found = asked ? Find(address) : nullptr;
  }
  if (found == nullptr && was.end == 0) return {};
  data_hit_ = found != nullptr ? *found : was;
  return data_hit_;
}

void MappingTable::Came(const AddressRange& range, absl::string_view name,
                        uint64_t time_ns) {
  const std::string shown = ShownName(name);
  files_.Came({range, IdOf(shown), IsFile(shown), time_ns});
}

void MappingTable::Moved(uint64_t from, const AddressRange& to,
                         uint64_t time_ns) {
  const FileMapping* const was = files_.At(from, time_ns);
  if (was != nullptr) files_.Came({to, was->name, was->file, time_ns});
}

void MappingTable::Left(uint64_t address, uint64_t bytes, uint64_t time_ns) {
  const uint64_t end = address + bytes;
  files_.Left({address, end}, time_ns);
  auto at = std::upper_bound(
      mappings_.begin(), mappings_.end(), address,
      [](uint64_t value, const Mapping& m) { return value < m.end; });
  for (; at != mappings_.end() && at->begin < end; ++at) at->gone = true;
  data_hit_ = {};
}

}  // namespace pymemrun
