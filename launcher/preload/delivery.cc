#include "launcher/preload/delivery.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "launcher/preload/activation.h"
#include "launcher/python/python_files.h"
#include "launcher/session/message.h"
#include "launcher/session/own_files.h"

extern char** environ;

namespace pymemrun {
namespace {

constexpr char kShim[] = "pymemrun-preload.so";
constexpr char kTracer[] = "pymemrun-tracer-", kObject[] = ".so";
// Programs have some ten program headers. The bound is for files that only look
// like programs.
constexpr size_t kMostHeaders = 256;
// Where the objects are, seen from the launcher or from one of them: in a wheel
// or a build, and in a package.
constexpr std::initializer_list<const char*> kPlaces = {"", "../lib/pymemrun/"};

// Within single quotes only a single quote means something to a shell.
std::string Export(const std::string& variable, const std::string& value) {
  std::string text = "export " + variable + "='";
  for (const char c : value) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'\n";
}

// Ours at the end, so that what the tracer removes leaves no hole.
std::vector<std::string> EnvironmentWith(const std::string& object,
                                         const CommandLine& command_line) {
  std::vector<std::string> environment;
  std::string preloads = object;
  // Those that `pymemrun env` has set give way to this command line.
  const std::string shim = PlainPathOf(FindOwn(kShim, kPlaces), LinkPlaces());
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with(kPreloadVariable) &&
        text.substr(std::strlen(kPreloadVariable)).starts_with("=")) {
      preloads = PreloadsWith(
          object, PreloadsWithout(
                      text.substr(std::strlen(kPreloadVariable) + 1), shim));
    } else if (!text.starts_with(kHandoverVariable) ||
               text[std::strlen(kHandoverVariable)] != '=') {
      environment.emplace_back(text);
    }
  }
  environment.push_back(std::string(kPreloadVariable) + "=" + preloads);
  environment.push_back(std::string(kHandoverVariable) + "=" +
                        HandoverText({true, WordsFor(command_line)}));
  return environment;
}

// As execve(2) wants them: a null pointer ends them. Valid as long as
// `strings`.
std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) {
    pointers.push_back(const_cast<char*>(string.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// The dynamic linker that the program names; empty: none. It is the text of the
// PT_INTERP header (elf(5)). False: no 64-bit ELF file.
bool ReadDynamicLinker(int fd, std::string* path) {
  Elf64_Ehdr header;
  if (pread(fd, &header, sizeof header, 0) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return false;
  }
  for (size_t i = 0; i < header.e_phnum && i < kMostHeaders; ++i) {
    Elf64_Phdr part;
    const off_t at = static_cast<off_t>(header.e_phoff + i * sizeof part);
    if (pread(fd, &part, sizeof part, at) != sizeof part) return false;
    if (part.p_type != PT_INTERP) continue;
    char text[256] = "";
    if (pread(fd, text, sizeof text - 1, static_cast<off_t>(part.p_offset)) <
        0) {
      return false;
    }
    *path = text;
  }
  return true;
}

// An object to preload, by a path that LD_PRELOAD can have.
bool FindObject(const std::string& name, std::string* path,
                std::string* error) {
  const std::string object = FindOwn(name.c_str(), kPlaces);
  *path = PlainPathOf(object, LinkPlaces());
  if (object.empty()) {
    *error = name + " is missing";
  } else if (path->empty()) {
    *error = object +
             ": LD_PRELOAD takes no path with a space or a colon, and no "
             "link to it can be made in /var/tmp, /tmp or $XDG_RUNTIME_DIR";
  }
  return !path->empty();
}

// Why there is no run: the file, its version.
std::string NoTracerFor(const std::string& file, const std::string& version) {
  std::string traced = TracedVersions();
  traced = traced.substr(0, traced.find("any"));  // newer than all of them
  if (traced.ends_with(", ")) traced.resize(traced.size() - 2);
  const std::string why = file + " is Python " + version +
                          ", for which this pymemrun has no tracer; it has ";
  return why + (traced.empty() ? "none" : "tracers for " + traced);
}

// Whether it is no newer than the versions that have tracers of their own.
bool IsKnown(const std::string& version) {
  int major = 0, minor = 0;
  return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 &&
         major == 3 && minor <= PYMEMRUN_NEWEST_MINOR;
}

// Why nothing can be preloaded into the program; empty: it can. LD_PRELOAD is
// the dynamic linker's work. Other C libraries, such as musl, have another
// linker, and our objects need glibc.
std::string WhyNotPreloadable(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file + ": " + std::strerror(errno);
  std::string linker;
  const bool is_program = ReadDynamicLinker(fd, &linker);
  close(fd);
  if (!is_program) return file + " is not a 64-bit program for this machine";
  if (linker.empty()) {
    return file + " is linked statically: nothing can be preloaded into it";
  }
  if (linker.find("ld-linux") == std::string::npos) {
    return file + " needs " + linker +
           ": only programs that use glibc can be traced";
  }
  return {};
}

bool Has(const std::string& object) {
  return !FindOwn(object.c_str(), kPlaces).empty();
}

}  // namespace

// The names of the objects that are installed tell. strverscmp(3) puts 3.9
// before 3.10.
std::string TracedVersions() {
  std::vector<std::string> found;
  DIR* const folder = opendir(DirectoryOf(FindOwn(kShim, kPlaces)).c_str());
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder)) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(kTracer) || !name.ends_with(kObject)) continue;
    name.remove_prefix(std::strlen(kTracer));
    name.remove_suffix(std::strlen(kObject));
    found.emplace_back(name);
  }
  if (folder != nullptr) closedir(folder);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;
  });
  std::string text;
  for (const std::string& version : found) {
    text += (text.empty() ? "" : ", ") + version;
  }
  return text;
}

bool ActivationCommands(const CommandLine& command_line, std::string* commands,
                        std::string* error) {
  std::string object;
  if (!FindObject(kShim, &object, error)) return false;
  const char* const output = getenv("PYMEMRUN_OUTPUT");
  const std::string handover = HandoverForMany(
      command_line, output != nullptr ? output : "run.{pid}.pb");
  const char* const users = getenv(kPreloadVariable);
  *commands = Export(kPreloadVariable,
                     PreloadsWith(object, users == nullptr ? "" : users)) +
              Export(kHandoverVariable, handover);
  return true;
}

bool FollowIntoPrograms(const CommandLine& command_line,
                        const std::string& output, std::string* error) {
  std::string object;
  if (!FindObject(kShim, &object, error)) return false;
  TraceStartedPrograms(object, command_line, output);
  return true;
}

std::string WhyNotTraced(const std::string& file) {
  std::string why = WhyNotPreloadable(file);
  // Nothing that runs can be traced, and it is no matter of the version.
  if (OwnPath().empty()) return why;
  const std::string version = PythonVersionOf(file);
  // Names of files do not say whether it is free-threaded: the shim finds out.
  if (why.empty() && IsKnown(version) && !Has(kTracer + version + kObject) &&
      !Has(kTracer + version + "t" + kObject)) {
    why = NoTracerFor(file, version);
  }
  return why;
}

// Replaces this process, so pid, parent and terminal are the program's as
// without pymemrun. All else happens in the tracer, tracer_main.cc.
std::string RunPreloaded(const PythonChoice& choice,
                         const CommandLine& command_line, bool traced) {
  if (traced && OwnPath().empty()) {
    Say(std::string("/proc is not mounted") + kRunsUntraced);
    traced = false;
  }
  std::string error =
      traced ? WhyNotTraced(choice.file) : WhyNotPreloadable(choice.file);
  if (!error.empty()) return error;
  const std::string tracer = kTracer + PythonVersionOf(choice.file) + kObject;
  // A tracer that turns out to be another version's gives way to the shim.
  std::string object;
  if (traced && !FindObject(Has(tracer) ? tracer : kShim, &object, &error)) {
    return error;
  }
  std::vector<std::string> words = {choice.program};
  words.insert(words.end(), command_line.python.begin(),
               command_line.python.end());
  std::vector<std::string> environment;
  if (traced) environment = EnvironmentWith(object, command_line);
  execve(choice.file.c_str(), Pointers(words).data(),
         traced ? Pointers(environment).data() : environ);
  return choice.file + ": " + std::strerror(errno);
}

namespace {

bool IsPlain(std::string_view path) {
  return path.find_first_of(kPreloadSeparators) == std::string_view::npos;
}

// The same for each start of one installation. It is a hash (FNV-1a of 64 bits)
// of the folder's path.
std::string LinkName(std::string_view folder) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : folder) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  char name[17];
  std::snprintf(name, sizeof name, "%016llx",
                static_cast<unsigned long long>(hash));
  return name;
}

// Opens the user's own folder there, made if need be; negative: it is another
// user's, or others may write to it, or it cannot be made.
int OpenOwnFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return -1;
  const int fd =
      open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_uid != geteuid() ||
                  (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
    close(fd);
    return -1;
  }
  return fd;
}

// Whether the link of that name in the folder leads to `target`.
bool HasLink(int folder, const std::string& name, const std::string& target) {
  if (symlinkat(target.c_str(), folder, name.c_str()) == 0) return true;
  char found[PATH_MAX];
  const ssize_t size = readlinkat(folder, name.c_str(), found, sizeof found);
  return size > 0 &&
         std::string_view(found, static_cast<size_t>(size)) == target;
}

}  // namespace

std::vector<std::string> LinkPlaces() {
  std::vector<std::string> places = {"/var/tmp", "/tmp"};
  const char* const runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') places.emplace_back(runtime);
  return places;
}

// LD_PRELOAD separates by spaces and colons and knows no escape (ld.so(8)). So
// a path with one of them is named through a link to its folder. The link is
// only used if it leads where it should, and nobody else could have made it.
std::string PlainPathOf(const std::string& object,
                        const std::vector<std::string>& places) {
  if (IsPlain(object)) return object;
  const std::string folder = DirectoryOf(object);
  const std::string file = object.substr(object.rfind('/') + 1);
  const std::string name = LinkName(folder);
  for (const std::string& place : places) {
    const std::string own = place + "/pymemrun-" + std::to_string(geteuid());
    const int fd = IsPlain(own + file) ? OpenOwnFolder(own) : -1;
    if (fd < 0) continue;
    const bool linked = HasLink(fd, name, folder);
    close(fd);
    if (linked) return own + "/" + name + "/" + file;
  }
  return {};
}

}  // namespace pymemrun
