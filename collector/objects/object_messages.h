// Bytes of the pipe, in pieces of any size, to messages.
#ifndef PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_MESSAGES_H_
#define PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_MESSAGES_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "collector/objects/object_recorder.h"

namespace pymemrun {

// Not thread safe.
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

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_MESSAGES_H_
