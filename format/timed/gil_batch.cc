#include "format/timed/gil_batch.h"

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

// How many entries have columns of their own. Which columns an action has is
// fixed, so nothing in the file says where their values belong.
struct Parts {
  uint64_t holds = 0, stacks = 0, by = 0;
};

absl::Status CountParts(const GilBatch& batch, Parts* parts) {
  for (const int action : batch.action()) {
    if (!GilAction_IsValid(action)) {
      return WrongColumn("gil.action", absl::StrCat("0 to ", GilAction_MAX),
                         action);
    }
    parts->holds += HasHold(static_cast<GilAction>(action));
    parts->stacks += HasGilStack(static_cast<GilAction>(action));
    parts->by += HasBy(static_cast<GilAction>(action));
  }
  return absl::OkStatus();
}

}  // namespace

// Most programs have one GIL, so its number is stated only where it changes. It
// is stated at row 0 even if it is the last batch's.
void GilBatchEncoder::Append(const GilEvent& event) {
  const auto row = static_cast<uint32_t>(entries());
  entries_.Append(event, &batch_);
  if (row == 0 || event.gil != last_gil_) {
    batch_.add_gil_at(row == 0 ? 0 : row - gil_row_);
    batch_.add_gil(event.gil);
    gil_row_ = row;
    last_gil_ = event.gil;
  }
  if (HasHold(event.action)) {
    batch_.add_free_ns(event.free_ns);
    batch_.add_pauses(event.pauses);
    batch_.add_paused_ns(event.paused_ns);
  }
  if (HasGilStack(event.action)) {
    batch_.add_stack(event.stack);
    batch_.add_function(event.function);
  }
  if (HasBy(event.action)) batch_.add_by(event.by);
}

void GilBatchEncoder::Take(GilBatch* batch) { MoveBatch(&batch_, batch); }

// The actions come first, because they say how long the other columns must be.
absl::Status GilBatchDecoder::Check(const GilBatch& b, Ids* ids) {
  const auto rows = static_cast<uint64_t>(b.action_size());
  Parts parts;
  RETURN_IF_ERROR(CountParts(b, &parts));
  RETURN_IF_ERROR(CheckTimed("gil", b, kMaxGilNanos, &ids->thread));
  RETURN_IF_ERROR(CheckAtFromZero("gil.gil_at", b.gil_at(), rows));
  RETURN_IF_ERROR(CheckLength("gil.gil", b.gil_at_size(), b.gil_size()));
  RETURN_IF_ERROR(CheckLength("gil.free_ns", parts.holds, b.free_ns_size()));
  RETURN_IF_ERROR(CheckLength("gil.pauses", parts.holds, b.pauses_size()));
  RETURN_IF_ERROR(
      CheckLength("gil.paused_ns", parts.holds, b.paused_ns_size()));
  RETURN_IF_ERROR(CheckLength("gil.stack", parts.stacks, b.stack_size()));
  RETURN_IF_ERROR(CheckLength("gil.function", parts.stacks, b.function_size()));
  RETURN_IF_ERROR(CheckLength("gil.by", parts.by, b.by_size()));
  // Sums of times stay far from overflow in a reader, for any number of batches
  // that a file can have.
  RETURN_IF_ERROR(CheckMost("gil.free_ns", b.free_ns(), kMaxGilNanos));
  RETURN_IF_ERROR(CheckMost("gil.pauses", b.pauses(), kMaxGilNanos));
  RETURN_IF_ERROR(CheckMost("gil.paused_ns", b.paused_ns(), kMaxGilNanos));
  uint32_t gil = 0;
  RETURN_IF_ERROR(CheckIds("gil.gil", b.gil(), 1, &gil));
  RETURN_IF_ERROR(CheckIds("gil.stack", b.stack(), 0, &ids->stack));
  RETURN_IF_ERROR(CheckIds("gil.by", b.by(), 0, &ids->thread));
  return CheckIds("gil.function", b.function(), 0, &ids->function);
}

// hold_, stack_ and by_ count the values taken from the columns so far.
void GilBatchDecoder::Complete(int row, GilEvent* event) {
  if (static_cast<uint64_t>(row) == gil_.next) {
    last_gil_ = batch_.gil(gil_.index);
    gil_.Advance();
  }
  event->gil = last_gil_;
  if (HasHold(event->action)) {
    event->free_ns = batch_.free_ns(hold_);
    event->pauses = batch_.pauses(hold_);
    event->paused_ns = batch_.paused_ns(hold_++);
  }
  if (HasGilStack(event->action)) {
    event->stack = batch_.stack(stack_);
    event->function = batch_.function(stack_++);
  }
  if (HasBy(event->action)) event->by = batch_.by(by_++);
}

size_t GilBatchDecoder::Next(GilEvent* events, size_t size) {
  return cursor_.Next(
      events, size, [this](int row, GilEvent* event) { Complete(row, event); });
}

}  // namespace pymemrun
