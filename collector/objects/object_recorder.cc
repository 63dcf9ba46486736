#include "collector/objects/object_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/process/launch_text.h"
#include "collector/process/monotonic_clock.h"
#include "format/limits.h"
#include "format/stream/status_util.h"
#include "tracer/wire/object_wire.h"

namespace pymemrun {
namespace {

// A state machine over the messages of the child: launch text, beginning,
// graph, end. The child is not trusted, as objects of the program run C code in
// it. So each message is checked against what came before; after the first
// error nothing more is taken.
//
// Largest valid payload of a kind of message, in bytes.
size_t MostBytes(uint32_t kind) {
  return kind == static_cast<uint32_t>(ObjectMessage::kLaunchText)
             ? kMaxLaunchMessage
             : kMaxObjectMessage;
}

// Longest name of a reference, in bytes.
constexpr size_t kMaxNameText = 512;

absl::Status Refused(absl::string_view what, uint64_t found) {
  return absl::InvalidArgumentError(
      absl::StrCat("message of the walk: ", what, ", found ", found));
}

// Removes a struct from the front.
template <typename Head>
absl::Status TakeHead(absl::string_view* payload, Head* head) {
  if (payload->size() < sizeof(*head)) {
    return Refused(absl::StrCat("expected ", sizeof(*head), " bytes"),
                   payload->size());
  }
  std::memcpy(head, payload->data(), sizeof(*head));
  payload->remove_prefix(sizeof(*head));
  return absl::OkStatus();
}

void Assign(std::string* to, absl::string_view from) {
  to->assign(from.data(), from.size());
}

}  // namespace

ObjectRecorder::ObjectRecorder(Out out, Pause pause)
    : out_(std::move(out)), pause_(std::move(pause)), encoder_(out_) {
  end_.set_outcome(ObjectsEnd::STOPPED);
}

absl::Status ObjectRecorder::Write(const Record& record) {
  return out_(record.SerializeAsString());
}

absl::Status ObjectRecorder::Take(ObjectMessage kind,
                                  absl::string_view payload) {
  RETURN_IF_ERROR(status_);
  if (ended_) {
    status_ = Refused("none after the last one", static_cast<uint64_t>(kind));
  } else if (kind == ObjectMessage::kLaunchText) {
    status_ = TakeLaunchText(payload);
  } else if (kind == ObjectMessage::kBegin) {
    status_ = TakeBegin(payload);
  } else if (!begun_) {
    status_ = Refused("expected the beginning", static_cast<uint64_t>(kind));
  } else {
    status_ = TakeGraph(kind, payload);
  }
  return status_;
}

absl::Status ObjectRecorder::TakeGraph(ObjectMessage kind,
                                       absl::string_view payload) {
  switch (kind) {
    case ObjectMessage::kNode:
      return TakeNode(payload);
    case ObjectMessage::kEdges:
      return TakeEdges(payload);
    case ObjectMessage::kType:
      return TakeType(payload);
    case ObjectMessage::kName:
      return TakeName(payload);
    case ObjectMessage::kContinue:
      return TakeContinue(payload);
    case ObjectMessage::kEnd:
      return TakeEnd(payload);
    default:
      return Refused("no such kind", static_cast<uint64_t>(kind));
  }
}

absl::Status ObjectRecorder::TakeLaunchText(absl::string_view payload) {
  if (has_header_) return Refused("expected one launch text", 2);
  has_header_ = true;
  LaunchText launch = ParseLaunchText(payload);
  compress_level_ = launch.compress_level;
  header_ = std::move(launch.header);
  return absl::OkStatus();
}

// Writes the header and the start of the dump. The page size is the system's,
// not what the child says.
absl::Status ObjectRecorder::TakeBegin(absl::string_view payload) {
  ObjectBeginWire wire = {};
  RETURN_IF_ERROR(TakeHead(&payload, &wire));
  if (begun_ || !has_header_) return Refused("expected one beginning", begun_);
  if (!ObjectsReason_IsValid(static_cast<int>(wire.reason))) {
    return Refused("no such reason", wire.reason);
  }
  if (wire.start_monotonic_ns > wire.monotonic_ns) {
    return Refused("a fork before the run", wire.monotonic_ns);
  }
  begun_ = true;
  StartFacts start = {};
  start.monotonic_ns = wire.start_monotonic_ns;
  start.realtime_ns = wire.start_realtime_ns;
  start.time_is_tsc = wire.time_is_tsc;
  AddStartToHeader(&start, static_cast<uint32_t>(sysconf(_SC_PAGESIZE)),
                   &header_);
  Record record;
  *record.mutable_header() = header_;
  RETURN_IF_ERROR(Write(record));
  ObjectsBegin* const begin = record.mutable_objects_begin();
  begin->set_time_us((wire.monotonic_ns - wire.start_monotonic_ns) / 1000);
  begin->set_reason(static_cast<ObjectsReason>(wire.reason));
  begin->set_pause_us(pause_());
  begin->set_rss_bytes(wire.rss_bytes < kMaxSizeBytes ? wire.rss_bytes : 0);
  return Write(record);
}

absl::Status ObjectRecorder::TakeType(absl::string_view payload) {
  ObjectTypeWire wire = {};
  RETURN_IF_ERROR(TakeHead(&payload, &wire));
  if (wire.id != types_ + 1 || wire.id > kMaxWireTypes) {
    return Refused(absl::StrCat("expected type ", types_ + 1), wire.id);
  }
  if (wire.base > types_) return Refused("no such base", wire.base);
  if (wire.module_bytes > payload.size()) {
    return Refused("a longer module", wire.module_bytes);
  }
  // Synthetic types come first, so one comparison tells whether a type is one.
  if (wire.synthetic != 0 && types_ != synthetic_types_) {
    return Refused("a late synthetic type", wire.id);
  }
  ++types_;
  synthetic_types_ += wire.synthetic != 0 ? 1 : 0;
  Record record;
  ObjectTypeDef* const type = record.mutable_object_type();
  type->set_id(wire.id);
  Assign(type->mutable_module(), payload.substr(0, wire.module_bytes));
  Assign(type->mutable_name(), payload.substr(wire.module_bytes));
  type->set_address(wire.address);
  type->set_base(wire.base);
  type->set_head_bytes(wire.head_bytes);
  type->set_synthetic(wire.synthetic != 0);
  return Write(record);
}

absl::Status ObjectRecorder::TakeName(absl::string_view payload) {
  if (payload.size() > kMaxNameText || names_ + 1 >= kMaxWireNames) {
    return Refused("too long a name, or too many", payload.size());
  }
  Record record;
  record.mutable_object_name()->set_id(++names_);
  Assign(record.mutable_object_name()->mutable_text(), payload);
  return Write(record);
}

// Synthetic nodes, such as the root, are in the file but do not count as
// objects.
absl::Status ObjectRecorder::TakeNode(absl::string_view payload) {
  ObjectNodeWire wire = {};
  RETURN_IF_ERROR(TakeHead(&payload, &wire));
  if (wire.type == 0 || wire.type > types_) {
    return Refused("no such type", wire.type);
  }
  ObjectNode node;
  node.address = wire.address;
  node.size_bytes = wire.size_bytes;
  node.type = wire.type;
  node.flags = wire.flags;
  node.line = wire.line;
  node.text_hash = wire.text_hash;
  node.beside = wire.beside;
  node.beside_bytes = wire.beside_bytes;
  if ((wire.has & kNodeHasLength) != 0) node.length = wire.length;
  if ((wire.has & kNodeHasText) != 0) node.text = payload;
  RETURN_IF_ERROR(encoder_.AddNode(node));
  if (wire.type <= synthetic_types_) return absl::OkStatus();
  ++objects_;
  end_.set_size_bytes(end_.size_bytes() + wire.size_bytes);
  return absl::OkStatus();
}

absl::Status ObjectRecorder::TakeEdges(absl::string_view payload) {
  if (payload.size() % sizeof(ObjectEdgeWire) != 0) {
    return Refused("no whole references", payload.size());
  }
  while (!payload.empty()) {
    ObjectEdgeWire wire = {};
    RETURN_IF_ERROR(TakeHead(&payload, &wire));
    const uint32_t kind = wire.kind_and_name >> kEdgeKindShift;
    const uint32_t name = wire.kind_and_name & kEdgeNameMask;
    if (name > names_) return Refused("no such name", name);
    if (!EdgeKind_IsValid(static_cast<int>(kind))) {
      return Refused("no such kind of reference", kind);
    }
    RETURN_IF_ERROR(
        encoder_.AddReference(static_cast<EdgeKind>(kind), name, wire.target));
  }
  return absl::OkStatus();
}

absl::Status ObjectRecorder::TakeContinue(absl::string_view payload) {
  uint64_t number = 0;
  RETURN_IF_ERROR(TakeHead(&payload, &number));
  return encoder_.ContinueNode(number);
}

absl::Status ObjectRecorder::TakeEnd(absl::string_view payload) {
  ObjectEndWire wire = {};
  RETURN_IF_ERROR(TakeHead(&payload, &wire));
  if (!ObjectsEnd::Outcome_IsValid(static_cast<int>(wire.outcome)) ||
      wire.at_type > types_) {
    return Refused("no such outcome or type", wire.outcome);
  }
  const auto outcome = static_cast<ObjectsEnd::Outcome>(wire.outcome);
  // In a complete dump every node that a reference reached has arrived.
  if (outcome == ObjectsEnd::COMPLETE &&
      encoder_.nodes() != encoder_.next_new()) {
    return Refused(absl::StrCat("expected ", encoder_.next_new(), " nodes"),
                   encoder_.nodes());
  }
  ended_ = true;
  end_.set_outcome(outcome);
  end_.set_duration_us(wire.duration_us);
  end_.set_signal(wire.signal);
  end_.set_at_address(wire.at_address);
  end_.set_at_type(wire.at_type);
  return absl::OkStatus();
}

// Without an end message the outcome stays STOPPED, as set at the start.
absl::Status ObjectRecorder::Finish() {
  if (!begun_) return Refused("expected the beginning", 0);
  RETURN_IF_ERROR(encoder_.Flush());
  end_.set_objects(objects_);
  end_.set_references(encoder_.references());
  Record record;
  *record.mutable_objects_end() = end_;
  return Write(record);
}

absl::Status ObjectMessages::TakeWhole(absl::string_view* bytes) {
  // Takes all whole messages and leaves the rest for the next call.
  WireHead head;
  while (bytes->size() >= sizeof(head)) {
    std::memcpy(&head, bytes->data(), sizeof(head));
    if (head.bytes > MostBytes(head.kind)) {
      return absl::InvalidArgumentError(
          absl::StrCat("message of the walk: expected at most ",
                       MostBytes(head.kind), " bytes, found ", head.bytes));
    }
    if (bytes->size() - sizeof(head) < head.bytes) return absl::OkStatus();
    RETURN_IF_ERROR(recorder_->Take(static_cast<ObjectMessage>(head.kind),
                                    bytes->substr(sizeof(head), head.bytes)));
    bytes->remove_prefix(sizeof(head) + head.bytes);
  }
  return absl::OkStatus();
}

// Keeps the incomplete message at the end for the next call. Usually none is
// left over, and nothing is copied.
absl::Status ObjectMessages::Take(absl::string_view bytes) {
  if (rest_.empty()) {
    RETURN_IF_ERROR(TakeWhole(&bytes));
    rest_.assign(bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  rest_.append(bytes.data(), bytes.size());
  absl::string_view all = rest_;
  RETURN_IF_ERROR(TakeWhole(&all));
  rest_.erase(0, rest_.size() - all.size());
  return absl::OkStatus();
}

ssize_t ReadPipe(int pipe, char* buffer, size_t size, int timeout_ms) {
  pollfd ready = {.fd = pipe, .events = POLLIN, .revents = 0};
  const int count = poll(&ready, 1, timeout_ms);
  if (count > 0) return read(pipe, buffer, size);
  if (count == 0 || errno == EINTR) {
    errno = count == 0 ? EAGAIN : EINTR;
    return -1;
  }
  // poll() failed, as it may where the number of descriptors is limited: reads
  // without blocking, again and again until the timeout.
  const uint64_t until_ns = MonotonicNs() + uint64_t(timeout_ms) * 1000000;
  if (fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) | O_NONBLOCK) != 0) return -1;
  while (true) {
    const ssize_t got = read(pipe, buffer, size);
    if (got >= 0 || errno != EAGAIN || MonotonicNs() >= until_ns) return got;
    usleep(1000);
  }
}

}  // namespace pymemrun
