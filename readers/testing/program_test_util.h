// Runs the readers' programs inside a test and keeps what they print.
#ifndef PYMEMRUN_READERS_TESTING_PROGRAM_TEST_UTIL_H_
#define PYMEMRUN_READERS_TESTING_PROGRAM_TEST_UTIL_H_

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "readers/cat/pymemcat.h"
#include "readers/commands/objects/pymemobj.h"
#include "readers/report/pymemreport.h"
#include "readers/run/console.h"

namespace pymemrun {

struct Printed {
  int code = -1;
  std::string out, err;
};

inline std::string TakeAll(int fd) {
  std::string text;
  char buffer[65536];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, n);
  }
  close(fd);
  return text;
}

inline Printed RunProgram(const char* name,
                          const std::function<int(const Console&)>& run) {
  const int out_fd = memfd_create("out", 0), err_fd = memfd_create("err", 0);
  FdSink out(out_fd);
  Printed printed;
  printed.code = run({name, &out, out_fd, err_fd});
  printed.out = TakeAll(out_fd);
  printed.err = TakeAll(err_fd);
  return printed;
}

// Never set: nothing interrupts --follow.
inline std::atomic<bool> never{false};

inline Printed Cat(const std::vector<std::string>& arguments) {
  return RunProgram("pymemcat", [&](const Console& console) {
    return RunPymemcat(arguments, console, &never);
  });
}

inline Printed Report(const std::vector<std::string>& arguments) {
  return RunProgram("pymemreport", [&](const Console& console) {
    return RunPymemreport(arguments, console);
  });
}

inline Printed Objects(const std::vector<std::string>& arguments) {
  return RunProgram("pymemobj", [&](const Console& console) {
    return RunPymemobj(arguments, console);
  });
}

// The lines of what was printed as CSV.
inline std::vector<std::string> CsvLines(const Printed& printed) {
  std::vector<std::string> lines = absl::StrSplit(printed.out, "\r\n");
  lines.pop_back();
  return lines;
}

// A file that is removed with the object.
class TempFile {
 public:
  explicit TempFile(absl::string_view contents) {
    fd_ = mkstemp(path_);
    Append(contents);
  }
  ~TempFile() {
    close(fd_);
    unlink(path_);
  }
  void Append(absl::string_view contents) {
    FdSink(fd_).Append(contents).IgnoreError();
  }
  std::string path() const { return path_; }

 private:
  char path_[32] = "/tmp/readers_test.XXXXXX";
  int fd_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_PROGRAM_TEST_UTIL_H_
