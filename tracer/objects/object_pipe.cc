#include "tracer/objects/object_pipe.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/objects/child_memory.h"

namespace pymemrun {

void ObjectPipe::Open(int fd) {
  fd_ = fd;
  buffer_ = static_cast<char*>(MapChildMemory(kBytes));
}

// Without a reader there is nothing left to do for the copy.
void ObjectPipe::WriteAll(const char* data, size_t bytes) {
  while (bytes > 0) {
    const long done = syscall(SYS_write, fd_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) _exit(1);  // the reader is gone
    data += done;
    bytes -= static_cast<size_t>(done);
  }
}

void ObjectPipe::Flush() {
  const size_t bytes = whole_;
  whole_ = 0;
  WriteAll(buffer_, bytes);
}

// The head of an open run of references is written last, when their number is
// known.
void ObjectPipe::CloseEdges() {
  if (edge_bytes_ == 0) return;
  const WireHead head = {static_cast<uint32_t>(ObjectMessage::kEdges),
                         edge_bytes_};
  memcpy(buffer_ + edges_at_, &head, sizeof(head));
  whole_ = edges_at_ + sizeof(head) + edge_bytes_;
  edge_bytes_ = 0;
}

// Only whole messages are flushed.
void ObjectPipe::MakeRoom(size_t bytes) {
  CloseEdges();
  if (whole_ + bytes > kBytes) Flush();
}

void ObjectPipe::Put(ObjectMessage kind, const void* head, size_t head_bytes,
                     const void* tail, size_t tail_bytes) {
  const WireHead message = {static_cast<uint32_t>(kind),
                            static_cast<uint32_t>(head_bytes + tail_bytes)};
  MakeRoom(sizeof(message) + message.bytes);
  char* at = buffer_ + whole_;
  memcpy(at, &message, sizeof(message));
  memcpy(at + sizeof(message), head, head_bytes);
  if (tail_bytes > 0) {
    memcpy(at + sizeof(message) + head_bytes, tail, tail_bytes);
  }
  whole_ += sizeof(message) + message.bytes;
}

// References of an object follow each other, so they share one head, up to 16
// KiB. Any other message ends the run.
void ObjectPipe::PutEdge(ObjectEdgeWire edge) {
  constexpr uint32_t kMostBytes = 16384;
  if (edge_bytes_ == 0) {
    MakeRoom(sizeof(WireHead) + kMostBytes);
    edges_at_ = whole_;
  }
  memcpy(buffer_ + edges_at_ + sizeof(WireHead) + edge_bytes_, &edge,
         sizeof(edge));
  edge_bytes_ += sizeof(edge);
  if (edge_bytes_ == kMostBytes) CloseEdges();
}

// A message larger than the buffer goes to the pipe directly.
void ObjectPipe::PutLarge(ObjectMessage kind, const void* data, size_t bytes) {
  MakeRoom(0);
  Flush();
  const WireHead message = {static_cast<uint32_t>(kind),
                            static_cast<uint32_t>(bytes)};
  WriteAll(reinterpret_cast<const char*>(&message), sizeof(message));
  WriteAll(static_cast<const char*>(data), bytes);
}

}  // namespace pymemrun
