// Ids of processes and threads in a form that trace viewers accept.
#ifndef PYMEMRUN_READERS_EXPORT_TRACES_TRACE_IDS_H_
#define PYMEMRUN_READERS_EXPORT_TRACES_TRACE_IDS_H_

#include <cstdint>
#include <string>

#include "format/trace.pb.h"
#include "readers/tracks/track_sink.h"

namespace pymemrun {

// Linux uses lower ids.
inline constexpr uint32_t kFirstMadeUpId = 1 << 22;

// Viewers ignore process 0, and use 32 bits.
inline int32_t TracePid(uint32_t pid) {
  return pid == 0 || pid > INT32_MAX ? 1 : static_cast<int32_t>(pid);
}

// A thread whose id is unknown gets one that no thread has.
inline int32_t TraceTid(const TrackThread& thread) {
  const uint64_t id = thread.native_id;
  if (id != 0 && id < kFirstMadeUpId) return static_cast<int32_t>(id);
  return static_cast<int32_t>((uint64_t{kFirstMadeUpId} + thread.id) &
                              INT32_MAX);
}

// "job.py"; "python" if there is no script.
inline std::string ProcessName(const Header& header) {
  const std::string& script = header.script();
  const std::string name = script.substr(script.rfind('/') + 1);
  return name.empty() ? "python" : name;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_TRACES_TRACE_IDS_H_
