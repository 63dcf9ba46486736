#include "collector/objects/object_collector.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "collector/objects/object_recorder.h"
#include "collector/process/detach.h"
#include "format/lock/writer_lock.h"
#include "format/stream/byte_io.h"
#include "format/stream/status_util.h"
#include "format/stream/stream_writer.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

// A walk that sends nothing for a minute is killed.
constexpr int kSilentMs = 60000;

void Futex(std::atomic<uint32_t>* word, int operation, uint32_t value,
           const timespec* timeout) {
  syscall(SYS_futex, word, operation, value, timeout, nullptr, 0);
}

// How long the fork stopped the program. The traced process stores it right
// after the fork, so this waits 200 ms at most.
uint64_t PauseOf(ObjectStatus* status) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t pause =
        status->pause_us_plus_1.load(std::memory_order_acquire);
    if (pause != 0) return pause - 1;
    usleep(1000);
  }
  return 0;
}

// The file is opened with the first record: the compression level comes with
// the launch text, which is the first message.
class DumpFile {
 public:
  explicit DumpFile(int fd) : sink_(fd) {}

  absl::Status Append(int level, absl::string_view record) {
    if (writer_ == nullptr) {
      StreamWriter::Options options;
      options.level =
          level == kNoCompression ? int{StreamWriter::kStored} : level;
      auto writer = StreamWriter::Create(&sink_, options);
      if (!writer.ok()) return writer.status();
      writer_ = *std::move(writer);
    }
    return writer_->AppendSerialized(record);
  }
  absl::Status Close() {
    return writer_ == nullptr ? absl::OkStatus() : writer_->Flush();
  }
  int write_errno() const { return sink_.last_errno(); }
  uint64_t bytes() const { return sink_.bytes_written(); }

 private:
  FdSink sink_;
  std::unique_ptr<StreamWriter> writer_;
};

// Reads messages until the pipe ends, or until nothing comes for `silent_ms`.
absl::Status ReadAll(int pipe, int silent_ms, ObjectStatus* status,
                     ObjectMessages* messages) {
  std::vector<char> buffer(size_t{1} << 20);
  while (true) {
    const ssize_t got = ReadPipe(pipe, buffer.data(), buffer.size(), silent_ms);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      return absl::DeadlineExceededError("the walk is silent");
    }
    if (got <= 0) return absl::OkStatus();
    status->heartbeat.fetch_add(1, std::memory_order_relaxed);
    RETURN_IF_ERROR(messages->Take({buffer.data(), static_cast<size_t>(got)}));
  }
}

// Publishes the result in the status page. Pairs with the acquire of the traced
// process, which waits on `done`.
void Tell(const ObjectRecorder& recorder, const DumpFile& file, bool whole,
          ObjectStatus* status) {
  const ObjectsEnd& end = recorder.end();
  status->outcome = static_cast<uint32_t>(end.outcome());
  status->signal = end.signal();
  status->whole = whole ? 1 : 0;
  status->write_errno = file.write_errno();
  status->objects = end.objects();
  status->references = end.references();
  status->duration_us = end.duration_us();
  status->file_bytes = file.bytes();
  status->done.store(1, std::memory_order_release);
  Futex(&status->done, FUTEX_WAKE, 1, nullptr);
}

// Renames the dump to the name of the earlier dump that it replaces, unless its
// own name belongs to another file by now.
void TakePlace(int output, const DumpPlace& place) {
  struct stat ours, named;
  if (fstat(output, &ours) == 0 && lstat(place.file, &named) == 0 &&
      ours.st_dev == named.st_dev && ours.st_ino == named.st_ino) {
    rename(place.file, place.replaces);
  }
}

}  // namespace

// Three processes share the status page: the traced one, its forked child that
// walks, and this one. The heartbeat tells the traced process that work goes
// on.
int CollectObjects(const ObjectFds& fds, const DumpPlace& place, int walker,
                   int silent_ms) {
  void* const page = mmap(nullptr, kObjectStatusBytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED, fds.status, 0);
  if (page == MAP_FAILED) return 1;
  auto* const status = static_cast<ObjectStatus*>(page);
  status->writer.store(static_cast<uint32_t>(getpid()));
  SetWriting(fds.output, Writing::kFinishing);
  DumpFile file(fds.output);
  ObjectRecorder* recorder_of_file = nullptr;
  ObjectRecorder recorder(
      [&](absl::string_view record) {
        status->heartbeat.fetch_add(1, std::memory_order_relaxed);
        return file.Append(recorder_of_file->compress_level(), record);
      },
      [&] { return PauseOf(status); });
  recorder_of_file = &recorder;
  ObjectMessages messages(&recorder);
  const absl::Status read = ReadAll(fds.pipe, silent_ms, status, &messages);
  if (!read.ok() && walker >= 0) {
    syscall(SYS_pidfd_send_signal, walker, SIGKILL, nullptr, 0);
  }
  absl::Status written = recorder.Finish();
  if (written.ok()) written = file.Close();
  SetWriting(fds.output, Writing::kNo);
  const bool whole = read.ok() && written.ok() && recorder.has_ended();
  const bool complete =
      whole && recorder.end().outcome() == ObjectsEnd::COMPLETE;
  // Before Tell(): the program that waits for it may use the new name at once.
  if (complete && place.file != nullptr) TakePlace(fds.output, place);
  Tell(recorder, file, whole, status);
  return whole ? 0 : 1;
}

int RunObjectCollector(const DumpPlace& place) {
  // The child has started this process and waits until everything is written,
  // so its number is valid here.
  const int walker = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
  DetachFromProgram(walker > kObjectStatusFd ? walker : kObjectStatusFd);
  return CollectObjects({kObjectPipeFd, kObjectOutputFd, kObjectStatusFd},
                        place, walker, kSilentMs);
}

}  // namespace pymemrun
