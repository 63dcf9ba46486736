// Messages of the child that walks the objects (object_wire.h) to records of a
// dump. Believes nothing that it is told.
#ifndef PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_RECORDER_H_
#define PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_RECORDER_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/objects/object_batch.h"
#include "format/trace.pb.h"
#include "tracer/wire/object_wire.h"

namespace pymemrun {

// Not thread safe.
class ObjectRecorder {
 public:
  // Gets each serialised Record, valid during the call.
  using Out = std::function<absl::Status(absl::string_view record)>;
  // For how long the program stood still; asked once, when the dump begins.
  using Pause = std::function<uint64_t()>;

  ObjectRecorder(Out out, Pause pause);

  // Takes a message. Fails with kInvalidArgument for one that must not come,
  // and as `out` does; nothing is taken after that.
  absl::Status Take(ObjectMessage kind, absl::string_view payload);
  // Writes what there is and ObjectsEnd. Where the child has not said how it
  // ended, or is not believed, the dump is STOPPED. Only after kBegin has come.
  absl::Status Finish();

  bool has_begun() const { return begun_; }
  // The child has said that it is done.
  bool has_ended() const { return ended_; }
  const ObjectsEnd& end() const { return end_; }
  // zstd's level that the run is written by.
  int compress_level() const { return compress_level_; }

 private:
  absl::Status TakeLaunchText(absl::string_view payload);
  absl::Status TakeBegin(absl::string_view payload);
  absl::Status TakeType(absl::string_view payload);
  absl::Status TakeName(absl::string_view payload);
  absl::Status TakeNode(absl::string_view payload);
  absl::Status TakeEdges(absl::string_view payload);
  absl::Status TakeContinue(absl::string_view payload);
  absl::Status TakeEnd(absl::string_view payload);
  absl::Status TakeGraph(ObjectMessage kind, absl::string_view payload);
  absl::Status Write(const Record& record);

  const Out out_;
  const Pause pause_;
  ObjectBatchEncoder encoder_;
  absl::Status status_;
  Header header_;
  int compress_level_ = 1;
  bool has_header_ = false, begun_ = false, ended_ = false;
  uint64_t start_monotonic_ns_ = 0;
  uint32_t types_ = 0, synthetic_types_ = 0, names_ = 0;
  uint64_t objects_ = 0;
  ObjectsEnd end_;
};

// Bytes of the pipe, in pieces of any size, to messages. Not thread safe.
class ObjectMessages {
 public:
  // `recorder` must outlive it.
  explicit ObjectMessages(ObjectRecorder* recorder) : recorder_(recorder) {}

  // Hands each whole message on; the rest waits for more bytes. Fails as the
  // recorder does, and for a message larger than any may be; then for good.
  absl::Status Take(absl::string_view bytes);

 private:
  absl::Status TakeWhole(absl::string_view* bytes);

  ObjectRecorder* const recorder_;
  std::string rest_;
};

// Reads from a pipe for a limited time.

// As read(), and waits for at most `timeout_ms`: -1 and EAGAIN where nothing
// came. Also where a filter of system calls refuses poll(): the pipe then stays
// non-blocking.
ssize_t ReadPipe(int pipe, char* buffer, size_t size, int timeout_ms);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_RECORDER_H_
