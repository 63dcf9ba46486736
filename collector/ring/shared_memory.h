// The collector's end of what it shares with the traced process.
#ifndef PYMEMRUN_COLLECTOR_RING_SHARED_MEMORY_H_
#define PYMEMRUN_COLLECTOR_RING_SHARED_MEMORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Maps both pieces for as long as it lives. Not thread safe.
class SharedMemory {
 public:
  // The descriptors stay the caller's. Fails when the memory is not what
  // ring_layout.h says. From then on nobody can map the reply to write.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Map(int region_fd,
                                                           int reply_fd);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // The traced program's: it may write anything there, at any time.
  const ControlPage* page() const { return page_; }
  const EventSlot* slots() const;
  // Ours.
  ReplyPage* reply() const { return reply_; }

  // Makes the pages of the region that are not there yet, for the traced
  // process, which is to have them all when its program begins.
  void MakePages();

  // From here on, until the calling thread ends or this goes, the traced
  // process sees that there is a collector. At most once.
  void ShowLife();

 private:
  SharedMemory(const ControlPage* page, ReplyPage* reply)
      : page_(page), reply_(reply) {}

  const ControlPage* const page_;
  ReplyPage* const reply_;
  bool shows_life_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RING_SHARED_MEMORY_H_
