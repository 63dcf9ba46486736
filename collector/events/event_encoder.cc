#include "collector/events/event_encoder.h"

#include <algorithm>
#include <cstring>

#include "absl/base/optimization.h"
#include "format/limits.h"

namespace pymemrun {
namespace {

// Sizes are checked once per chunk. A batch is a fraction of a frame, so that
// frames can be filled well.
constexpr size_t kChunkSlots = 4096;
constexpr uint32_t kBatchRows = 65536;
constexpr size_t kBatchBytes = 512 * 1024;
constexpr size_t kMaxPlaces = 1u << 16;
// Largest definition or fact, line tables included.
constexpr size_t kMaxPayloadBytes = 12 * 1024 * 1024;

constexpr uint32_t kFirstControl = kControlWhat << kWhatShift;
constexpr uint32_t kFirstHeap = kAllocWhat << kWhatShift;
// A stamp this little below the previous one was taken by another processor at
// the same moment. Any other stamp is above it (mod 2^32).
constexpr uint32_t kBackwardStep = 0xffff0000;

// A site that is too large to be encoded is passed beside its encoding 0.
uint32_t SiteOf(EncodedSite encoded, uint32_t large_site) {
  return encoded != 0 ? DecodeSite(encoded) : large_site;
}

inline uint8_t* PutSite(uint8_t* out, EncodedSite encoded,
                        uint32_t large_site) {
  if (ABSL_PREDICT_FALSE(encoded == 0)) return PutVarint(out, large_site);
  std::memcpy(out, &encoded, sizeof(encoded));
  return out + (encoded >> 24);
}

bool HasPayload(ControlKind kind) {
  return kind >= ControlKind::kCode && kind != ControlKind::kForget;
}

}  // namespace

EventEncoder::EventEncoder(uint32_t page_bytes, const ClockScale* clock,
                           RecordSink* out)
    : page_bytes_(page_bytes),
      clock_(clock),
      out_(out),
      definitions_(clock, out),
      batch_(kBatchRows + kChunkSlots),
      facts_({page_bytes, clock, &definitions_, out, &totals_}) {}

void EventEncoder::Consume(const EventSlot* slots, size_t count) {
  while (count > 0) {
    const size_t chunk = std::min(count, kChunkSlots);
    chunk_ = slots;
    ConsumeChunk(slots, chunk);
    chunk_index_ += chunk;
    if (rows_ >= kBatchRows || batch_.size_bytes() >= kBatchBytes) EndBatch();
    slots += chunk;
    count -= chunk;
  }
}

// Slots were lost: a definition that was being read is incomplete, so it is
// dropped.
void EventEncoder::SkipTo(uint64_t index) {
  chunk_index_ = index;
  payload_left_ = 0;
  chunks_.clear();
}

void EventEncoder::ConsumeChunk(const EventSlot* slot, size_t count) {
  const EventSlot* const end = slot + count;
  while (slot != end) {
    if (payload_left_ > 0) {
      TakePayload(&slot, end);
      continue;
    }
    slot = ConsumeRows(slot, end);
    if (slot == end) break;
    if (slot->what_and_code >= kFirstHeap) {
      slot = ConsumeHeap(slot, end);
      continue;
    }
    ControlSlot control;
    std::memcpy(&control, slot++, sizeof(control));
    Control(control);
  }
}

const EventSlot* EventEncoder::ConsumeRows(const EventSlot* slot,
                                           const EventSlot* end) {
  // Copies for registers: stores of bytes into the column could alias any
  // member.
  uint8_t* out = batch_.site_end();
  uint64_t stamp = stamp_;
  uint64_t next_step_stamp = next_step_stamp_;
  uint32_t row = rows_;
  uint32_t pending = pending_;
  EncodedSite encoded = last_site_;
  for (; slot != end; ++slot) {
    const uint32_t what_and_code = slot->what_and_code;
    if (ABSL_PREDICT_FALSE(what_and_code >= kFirstControl)) break;
    // A row is mostly: look up its site, add its time, write the site as a
    // varint. All else is in RowExtras(), for rows after a state slot.
    const RawPlace place = {Wide(what_and_code & ~kContextBit, slot->position),
                            slot->function};
    encoded = cache_.Find(place);
    uint32_t large_site = 0;
    if (ABSL_PREDICT_FALSE(encoded == 0)) {
      large_site = FindSite(place);
      encoded = EncodeSite(large_site);
    }
    const uint32_t step = slot->tsc_low - static_cast<uint32_t>(stamp);
    stamp += step;
    if (ABSL_PREDICT_FALSE(stamp >= next_step_stamp)) {
      stamp = StepTime(row, stamp, step);
      next_step_stamp = next_step_stamp_;
    }
    if (ABSL_PREDICT_FALSE((pending | (what_and_code & kContextBit)) != 0)) {
      RowExtras(row, what_and_code, SiteOf(encoded, large_site));
      pending = 0;
    }
    out = PutSite(out, encoded, large_site);
    ++row;
  }
  batch_.set_site_end(out);
  stamp_ = stamp;
  if (row != rows_) row_stamp_ = stamp;
  rows_ = row;
  last_site_ = encoded;
  return slot;
}

// Takes heap events, up to the first slot of another kind. Their thread is that
// of the next row.
const EventSlot* EventEncoder::ConsumeHeap(const EventSlot* slot,
                                           const EventSlot* end) {
  if (heap_ == nullptr) {
    ++bad_slots_;
    return slot + 1;
  }
  if ((pending_ & kThread) == 0) {
    pending_thread_ = thread_ != 0 ? thread_ : definitions_.Thread(0);
  }
  const EventSlot* const begin = slot;
  while (slot != end && slot->what_and_code >= kFirstHeap) ++slot;
  heap_size_high_ = heap_->TakeSlots(
      {begin, slot, chunk_index_ + static_cast<uint64_t>(begin - chunk_),
       stamp_, pending_thread_, heap_size_high_});
  return slot;
}

ABSL_ATTRIBUTE_NOINLINE uint64_t EventEncoder::StepTime(uint32_t row,
                                                        uint64_t stamp,
                                                        uint32_t step) {
  if (step >= kBackwardStep) {
    CountStepBack(-step);
    stamp -= step;
  }
  // Times of rows never fall, even if a new measurement of the clock says that
  // the time so far was a little ahead.
  const uint64_t us = clock_->Micros(stamp);
  if (us > last_us_) {
    if (row > 0) batch_.StepTime(row, us - last_us_);
    last_us_ = us;
  }
  next_step_stamp_ = clock_->StampAfter(last_us_);
  return stamp;
}

void EventEncoder::CountStepBack(uint64_t units) {
  ++totals_.clock_steps_back;
  totals_.worst_clock_step_back =
      std::max(totals_.worst_clock_step_back, units);
}

ABSL_ATTRIBUTE_NOINLINE void EventEncoder::RowExtras(uint32_t row,
                                                     uint32_t what_and_code,
                                                     uint32_t site) {
  if ((what_and_code & kContextBit) != 0) {
    batch_.SetContext(row);
    ++context_rows_;
  }
  if (pending_ == 0) return;
  const bool begin = (pending_ & kBegin) != 0;
  if ((pending_ & kThread) != 0 && pending_thread_ != thread_) {
    thread_ = pending_thread_;
    if (!begin) batch_.SetThread(row, thread_);
  }
  if ((pending_ & kNumber) != 0) {
    const uint64_t skip = pending_number_ - (number_offset_ + row);
    number_offset_ += skip;
    if (!begin && skip != 0) batch_.SkipNumbers(row, skip);
  }
  if (begin) {
    if (thread_ == 0) thread_ = definitions_.Thread(0);
    batch_.Begin(number_offset_, last_us_, thread_, rss_bytes_);
  }
  if ((pending_ & kRss) != 0) RssExtra(row, site);
  if ((pending_ & kStack) != 0) batch_.SetStack(row, pending_stack_);
  if ((pending_ & kCall) != 0) CallExtra(row, what_and_code);
  pending_ = 0;
}

// An estimate is valid until the next kRss.
void EventEncoder::MarkInexact(uint32_t rows) {
  for (uint32_t i = inexact_from_; i < rows; ++i) batch_.SetInexact(i);
}

void EventEncoder::RssExtra(uint32_t row, uint32_t site) {
  const uint64_t rss_bytes = pending_rss_.w1 * page_bytes_;
  const int64_t drss_bytes =
      static_cast<int64_t>(static_cast<int32_t>(pending_rss_.w2) *
                           static_cast<int64_t>(page_bytes_));
  batch_.StepRss(row, static_cast<int64_t>(rss_bytes - rss_bytes_), drss_bytes);
  MarkInexact(row);
  inexact_from_ = (pending_rss_.w3 & kRssInexact) != 0 ? row : kNoRow;
  rss_bytes_ = rss_bytes;
  if (rss_bytes <= totals_.max_rss_bytes) return;
  totals_.max_rss_bytes = rss_bytes;
  totals_.max_rss_number = number_offset_ + row;
  totals_.max_rss_site = site;
  totals_.max_rss_thread = thread_;
  totals_.max_rss_us = last_us_;
}

void EventEncoder::CallExtra(uint32_t row, uint32_t what_and_code) {
  const uint64_t events = Wide(pending_call_.w1, pending_call_.w2);
  const int64_t drss_bytes = static_cast<int32_t>(pending_call_.w3) *
                             static_cast<int64_t>(page_bytes_);
  constexpr auto kReturn = static_cast<uint32_t>(EventWhat::kReturn);
  if (what_and_code >> kWhatShift != kReturn || events == 0 ||
      events > number_offset_ + row ||
      rss_bytes_ - static_cast<uint64_t>(drss_bytes) > kMaxSizeBytes) {
    ++bad_slots_;
    return;
  }
  const uint64_t began_us = clock_->Micros(pending_call_stamp_);
  batch_.SetCall(row, events, last_us_ - std::min(began_us, last_us_),
                 drss_bytes);
}

ABSL_ATTRIBUTE_NOINLINE uint32_t EventEncoder::FindSite(const RawPlace& place) {
  if (places_.size() >= kMaxPlaces) places_.clear();
  const auto [known, fresh] =
      places_.try_emplace({place.code_and_position, place.function}, 0);
  if (fresh) {
    const uint32_t what_and_code =
        static_cast<uint32_t>(place.code_and_position);
    known->second = definitions_.Site(
        what_and_code >> kWhatShift, what_and_code & kIdMask,
        static_cast<uint32_t>(place.code_and_position >> 32), place.function);
  }
  const EncodedSite encoded = EncodeSite(known->second);
  if (encoded != 0) cache_.Insert(place, encoded);
  return known->second;
}

void EventEncoder::ForgetSites() {
  cache_.Clear();
  places_.clear();
}

void EventEncoder::Forget(ControlKind kind) {
  if (heap_ != nullptr) heap_->ForgetStacks();
  ForgetSites();
  definitions_.Forget(kind);
}

void EventEncoder::EndBatches() {
  EndBatch();
  if (heap_ != nullptr) heap_->WriteBatch();
}

void EventEncoder::EndBatch() {
  if (rows_ == 0) return;
  if (inexact_from_ != kNoRow) {
    MarkInexact(rows_);
    inexact_from_ = 0;
  }
  out_->Write(batch_.Serialize(rows_), {rows_, context_rows_});
  batch_.Clear();
  totals_.rows += rows_;
  number_offset_ += rows_;
  totals_.next_number = number_offset_;
  rows_ = 0;
  context_rows_ = 0;
  pending_ |= kBegin;
}

void EventEncoder::SetClock(uint64_t stamp) {
  // Heap events have advanced stamp_; context rows are older.
  if (stamp < row_stamp_) CountStepBack(row_stamp_ - stamp);
  stamp_ = stamp;
  next_step_stamp_ = 0;
}

void EventEncoder::SetCall(ControlKind kind, const ControlSlot& slot) {
  if (kind == ControlKind::kCall) {
    pending_call_ = slot;
  } else {
    pending_call_stamp_ = Wide(slot.w1, slot.w2);
    pending_ |= kCall;
  }
}

void EventEncoder::Control(const ControlSlot& slot) {
  const uint32_t kind_number = slot.what_and_kind & kIdMask;
  const auto kind = static_cast<ControlKind>(kind_number);
  if (slot.what_and_kind >> kWhatShift != kControlWhat) {
    ++bad_slots_;
  } else if (kind == ControlKind::kThread) {
    pending_thread_ = definitions_.Thread(slot.w1);
    pending_ |= kThread;
  } else if (kind == ControlKind::kNumber) {
    const uint64_t number = Wide(slot.w1, slot.w2);
    if (number >= number_offset_ + rows_) {
      pending_number_ = number;
      pending_ |= kNumber;
    } else {
      ++bad_slots_;  // numbers only rise; readers rely on it
    }
  } else if (kind == ControlKind::kRss) {
    pending_rss_ = slot;
    pending_ |= kRss;
  } else if (kind == ControlKind::kClock) {
    SetClock(Wide(slot.w1, slot.w2));
  } else if (kind == ControlKind::kStack) {
    pending_stack_ = definitions_.Stack(slot.w1);
    pending_ |= kStack;
  } else if (kind == ControlKind::kCall || kind == ControlKind::kCallClock) {
    SetCall(kind, slot);
  } else if (kind == ControlKind::kHeapSize) {
    heap_size_high_ = slot.w1;
  } else if (kind == ControlKind::kForget) {
    Forget(static_cast<ControlKind>(slot.w3));
  } else if (HasPayload(kind) && slot.w1 <= kMaxChunkBytes) {
    payload_head_ = slot;
    payload_left_ = slot.w1;
    payload_.clear();
    if (payload_left_ == 0) FinishPayload();
  } else {
    ++bad_slots_;
  }
}

void EventEncoder::TakePayload(const EventSlot** slots, const EventSlot* end) {
  const uint64_t there = (end - *slots) * sizeof(EventSlot);
  const uint64_t taken = std::min(payload_left_, there);
  payload_.append(reinterpret_cast<const char*>(*slots), taken);
  payload_left_ -= taken;
  *slots += (taken + sizeof(EventSlot) - 1) / sizeof(EventSlot);
  if (payload_left_ == 0) FinishPayload();
}

void EventEncoder::FinishPayload() {
  const auto kind =
      static_cast<ControlKind>(payload_head_.what_and_kind & kIdMask);
  if (kind == ControlKind::kChunk) {
    if (chunks_.size() + payload_.size() <= kMaxPayloadBytes) {
      chunks_ += payload_;
    } else {
      ++bad_slots_;  // the definition will be cut short
    }
    return;
  }
  absl::string_view payload = payload_;
  if (!chunks_.empty()) {
    chunks_ += payload_;
    payload = chunks_;
  }
  if (kind < ControlKind::kMark) {
    if (kind == ControlKind::kStackDef && heap_ != nullptr) {
      heap_->ForgetStack(payload_head_.w2);
    }
    if (definitions_.Define(kind, payload_head_.w2, payload)) ForgetSites();
  } else {
    EndBatches();
    // A fact keeps its place between rows, so the rows before it were written
    // above.
    if (!facts_.Write(kind, payload)) ++bad_slots_;
  }
  if (!chunks_.empty()) std::string().swap(chunks_);
}

}  // namespace pymemrun
