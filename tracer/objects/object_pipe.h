// The child's messages (object_wire.h) on their way into the pipe.
#ifndef PYMEMRUN_TRACER_OBJECTS_OBJECT_PIPE_H_
#define PYMEMRUN_TRACER_OBJECTS_OBJECT_PIPE_H_

#include <cstddef>
#include <cstdint>

#include "tracer/wire/object_wire.h"

namespace pymemrun {

// For one thread. Calls cannot fail: if the reader is gone, the process ends.
class ObjectPipe {
 public:
  // REQUIRES: the child's memory can be had.
  void Open(int fd);

  // One message: its head, then a tail that may be empty.
  void Put(ObjectMessage kind, const void* head, size_t head_bytes,
           const void* tail, size_t tail_bytes);
  void PutEdge(ObjectEdgeWire edge);
  // One larger than a message of others may be: the launch text.
  void PutLarge(ObjectMessage kind, const void* data, size_t bytes);
  int fd() const { return fd_; }
  // What is whole goes into the pipe. Async-signal-safe.
  void Flush();

 private:
  static constexpr size_t kBytes = size_t{1} << 18;

  void MakeRoom(size_t bytes);
  void CloseEdges();
  void WriteAll(const char* data, size_t bytes);

  int fd_ = -1;
  char* buffer_ = nullptr;
  size_t whole_ = 0;         // bytes in whole messages
  size_t edges_at_ = 0;      // the head of the open message of edges...
  uint32_t edge_bytes_ = 0;  // ...and what it holds so far; 0: none is open
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_OBJECT_PIPE_H_
