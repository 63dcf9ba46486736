#include "launcher/preload/plain_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "launcher/preload/preload_list.h"
#include "launcher/python/python_files.h"

namespace pymemrun {
namespace {

bool IsPlain(std::string_view path) {
  return path.find_first_of(kPreloadSeparators) == std::string_view::npos;
}

// The same for each start of one installation.
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
