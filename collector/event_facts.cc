// The encoder's facts: records that stand between rows. One function each.
#include "collector/event_encoder.h"
#include "collector/payload_reader.h"

namespace pymemrun {

void EventEncoder::WriteFact(ControlKind kind, absl::string_view payload) {
  switch (kind) {
    case ControlKind::kMark:
      return WriteMark(payload);
    case ControlKind::kProfilerGap:
      return WriteGap(payload);
    case ControlKind::kLoss:
      return WriteLoss(payload);
    case ControlKind::kPeak:
      return WritePeak(payload);
    case ControlKind::kGauge:
      return WriteGauge(payload);
    case ControlKind::kPause:
      return WritePause(payload);
    case ControlKind::kOutput: {
      const absl::string_view path = PayloadReader(payload).TakeString();
      output_.assign(path.data(), path.size());
      return;
    }
    default:
      ++bad_slots_;
  }
}

void EventEncoder::WriteMark(absl::string_view payload) {
  PayloadReader in(payload);
  const auto head = in.Take<MarkPayload>();
  const absl::string_view label = in.TakeString();
  Record record;
  Mark* mark = record.mutable_mark();
  mark->set_time_us(clock_->Micros(head.tsc));
  mark->set_next_number(head.next_number);
  mark->set_thread(head.thread == 0 ? 0 : definitions_.Thread(head.thread));
  mark->mutable_label()->assign(label.data(), label.size());
  mark->set_rss_bytes(head.rss_pages * page_bytes_);
  out_->Write(record);
}

void EventEncoder::WriteGap(absl::string_view payload) {
  PayloadReader in(payload);
  const auto head = in.Take<GapPayload>();
  Record record;
  ProfilerGap* gap = record.mutable_profiler_gap();
  gap->set_thread(head.thread == 0 ? 0 : definitions_.Thread(head.thread));
  gap->set_from_us(clock_->Micros(head.from_tsc));
  gap->set_to_us(clock_->Micros(head.to_tsc));
  gap->set_from_number(head.from_number);
  gap->set_to_number(head.to_number);
  out_->Write(record);
}

void EventEncoder::WriteLoss(absl::string_view payload) {
  PayloadReader in(payload);
  const auto head = in.Take<LossPayload>();
  Record record;
  Loss* loss = record.mutable_loss();
  loss->set_rows(head.rows);
  loss->set_from_number(head.from_number);
  loss->set_to_number(head.to_number);
  loss->set_time_us(clock_->Micros(head.tsc));
  out_->Write(record);
}

void EventEncoder::WritePeak(absl::string_view payload) {
  PayloadReader in(payload);
  const auto head = in.Take<PeakPayload>();
  Record record;
  Peak* peak = record.mutable_peak();
  peak->set_hwm_bytes(head.hwm_pages * page_bytes_);
  peak->set_after_number(head.after_number);
  peak->set_before_number(head.before_number);
  peak->set_time_us(clock_->Micros(head.tsc));
  out_->Write(record);
  if (peak->hwm_bytes() <= totals_.peak.hwm_bytes()) return;
  totals_.peak = *peak;
  // The row before the peak names its place only if it is that very event.
  if (totals_.rows > 0 && last_site_ != 0 &&
      number_offset_ == head.after_number + 1) {
    definitions_.Keep(DefinitionTable::kPeak, DecodeSite(last_site_), thread_);
  } else {
    definitions_.KeepNothing(DefinitionTable::kPeak);
  }
}

void EventEncoder::WriteGauge(absl::string_view payload) {
  PayloadReader in(payload);
  const auto head = in.Take<GaugePayload>();
  const absl::string_view reason = in.TakeString();
  Record record;
  GaugeChange* change = record.mutable_gauge();
  change->set_time_us(clock_->Micros(head.tsc));
  change->set_number(head.number);
  change->set_rss_source(static_cast<RssSource>(head.source));
  change->set_old_rss_source(static_cast<RssSource>(head.old_source));
  change->mutable_reason()->assign(reason.data(), reason.size());
  out_->Write(record);
  totals_.gauge_change = *change;
  ++totals_.gauge_changes;
}

void EventEncoder::WritePause(absl::string_view payload) {
  PayloadReader in(payload);
  const auto head = in.Take<PausePayload>();
  Record record;
  Pause* pause = record.mutable_pause();
  pause->set_from_us(clock_->Micros(head.from_tsc));
  pause->set_to_us(clock_->Micros(head.to_tsc));
  pause->set_next_number(head.next_number);
  pause->set_from_rss_bytes(head.from_rss_pages * page_bytes_);
  pause->set_to_rss_bytes(head.to_rss_pages * page_bytes_);
  out_->Write(record);
}

}  // namespace pymemrun
