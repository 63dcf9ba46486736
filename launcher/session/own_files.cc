#include "launcher/session/own_files.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string_view>

namespace pymemrun {
namespace {

// Objects need not be executable to be preloaded.
bool CanUse(const std::string& path) {
  const bool is_object = std::string_view(path).ends_with(".so");
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), is_object ? R_OK : X_OK) == 0;
}

// Seen from where the executable or the shared object is, in a build, in a
// package and in a wheel. Debian's folder has no version, pip's have one.
constexpr const char* kPackagePlaces[] = {
    "package/", "../package/", "../lib/python3*/*-packages/",
    "../python3*/*-packages/"};
constexpr char kPackageFile[] = "pymemrun/__init__.py";
constexpr std::string_view kUp = "../";

// For glob(): what has a meaning there stands for itself.
std::string Literal(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

// The address of `here` tells which object this code is in (dladdr(3)).
std::string OwnPath() {
  static const char here = 0;
  Dl_info info;
  void* map = nullptr;
  if (dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) != 0 && map != nullptr) {
    // Empty for the executable.
    const char* const object = static_cast<link_map*>(map)->l_name;
    if (object != nullptr && object[0] != '\0') return object;
  }
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == sizeof path) return {};
  return std::string(path, static_cast<size_t>(size));
}

std::string FindOwn(const char* name,
                    std::initializer_list<const char*> places) {
  const std::string own = OwnPath();
  if (own.empty()) return {};
  const std::string folder = own.substr(0, own.rfind('/') + 1);
  for (const char* place : places) {
    const std::string path = folder + place + name;
    if (CanUse(path)) return path;
  }
  return {};
}

// Looks only near this file, below the same prefix. The name of the Python's
// folder is not known, hence the patterns.
std::string FindPackage() {
  const std::string own = OwnPath();
  // OwnPath() may lead through a link, whose place says nothing.
  char own_folder[PATH_MAX];
  if (realpath(own.substr(0, own.rfind('/') + 1).c_str(), own_folder) ==
      nullptr) {
    return {};
  }
  std::string found;
  for (std::string_view place : kPackagePlaces) {
    std::string_view folder = own_folder;
    while (place.starts_with(kUp)) {
      place.remove_prefix(kUp.size());
      folder = folder.substr(0, folder.rfind('/'));
    }
    const std::string pattern =
        Literal(folder) + "/" + std::string(place) + kPackageFile;
    glob_t files = {};
    if (found.empty() && glob(pattern.c_str(), 0, nullptr, &files) == 0) {
      found = files.gl_pathv[0];
    }
    globfree(&files);
  }
  return found.substr(0, found.rfind('/'));
}

}  // namespace pymemrun
