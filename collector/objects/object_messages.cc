#include "collector/objects/object_messages.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "format/stream/status_util.h"
#include "tracer/wire/object_wire.h"

namespace pymemrun {
namespace {

size_t MostBytes(uint32_t kind) {
  return kind == static_cast<uint32_t>(ObjectMessage::kLaunchText)
             ? kMaxLaunchMessage
             : kMaxObjectMessage;
}

}  // namespace

absl::Status ObjectMessages::TakeWhole(absl::string_view* bytes) {
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

}  // namespace pymemrun
