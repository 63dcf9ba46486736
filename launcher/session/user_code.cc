#include "launcher/session/user_code.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace pymemrun {
namespace {

bool HasMain(const std::string& folder) {
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(directory)) {
    // __main__.py, .pyc, an extension module or a package: all are tried.
    found = found || std::strncmp(entry->d_name, "__main__", 8) == 0;
  }
  closedir(directory);
  return found;
}

}  // namespace

bool HasUserCode(const CommandLine& command_line) {
  if (command_line.form == ProgramForm::kNone) return false;
  if (command_line.form != ProgramForm::kScript) return true;
  const std::string& path = command_line.target;
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  if (S_ISDIR(status.st_mode)) return HasMain(path);
  // With the effective user's rights, as open(2) checks them; access(2) takes
  // the real user's.
  return faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0;
}

}  // namespace pymemrun
