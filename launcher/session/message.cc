#include "launcher/session/message.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace pymemrun {
namespace {

struct FileIdentity {
  bool open = false;
  dev_t device = 0;
  ino_t inode = 0;
};
FileIdentity standard_error;  // written once, before there is a thread

FileIdentity IdentityOf(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return {};
  return {true, status.st_dev, status.st_ino};
}

}  // namespace

void RememberStandardError() { standard_error = IdentityOf(STDERR_FILENO); }

void WriteToStandardError(std::string_view text) {
  FileIdentity now = IdentityOf(STDERR_FILENO);
  if (!standard_error.open || !now.open ||
      now.device != standard_error.device ||
      now.inode != standard_error.inode) {
    return;
  }
  while (!text.empty()) {
    ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// Bytes from 0x80 on stay: they are parts of UTF-8 names.
std::string MessageText(std::string_view line) {
  std::string text = "pymemrun: ";
  for (unsigned char c : line) {
    if (c >= 0x20 && c != 0x7f) {
      text += static_cast<char>(c);
      continue;
    }
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
    text += escaped;
  }
  return text + '\n';
}

void Say(std::string_view line) { WriteToStandardError(MessageText(line)); }

// These two errors are mostly limits of the shell that a user can change.
std::string ErrorText(int error) {
  std::string text = strerror(error);
  if (error == EFBIG) text += " (ulimit -f)";
  if (error == EMFILE) text += " (ulimit -n)";
  return text;
}

}  // namespace pymemrun
