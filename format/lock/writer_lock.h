// Shows in a run file itself that somebody writes it: a lock, which the kernel
// drops when its holder ends, however that ends. Readers only look at it. The
// launcher, the collector and the readers use this.
#ifndef PYMEMRUN_FORMAT_LOCK_WRITER_LOCK_H_
#define PYMEMRUN_FORMAT_LOCK_WRITER_LOCK_H_

#include <fcntl.h>
#include <unistd.h>

namespace pymemrun {

enum class Writing : short {
  kNo = F_UNLCK,  // or the file system has no such locks
  kRecording = F_RDLCK,
  kFinishing =
      F_WRLCK,  // what is recorded is over; the file will soon be whole
};

// Best effort. The lock belongs to the open file, with all descriptors that
// share it. REQUIRES: `fd` may be read and written.
inline void SetWriting(int fd, Writing writing) {
  struct flock lock = {};
  lock.l_type = static_cast<short>(writing);
  lock.l_whence = SEEK_SET;  // l_start and l_len are 0: the whole file
  fcntl(fd, F_OFD_SETLK, &lock);
}

// What others do with the file.
inline Writing WritingOf(int fd) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd, F_OFD_GETLK, &lock) != 0) return Writing::kNo;
  return static_cast<Writing>(lock.l_type);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_LOCK_WRITER_LOCK_H_
