#include "collector/events/fact_writer.h"

#include <algorithm>
#include <cstring>

namespace pymemrun {
namespace {

using Context = FactWriter::Context;

// Limits of counters.proto.
constexpr size_t kMostCounterName = 200, kMostCounterNames = 1024;

// A fact without a thread has 0. Any other number gets a definition here,
// unless it has one.
uint32_t ThreadOf(const Context& in, uint32_t raw_thread) {
  return raw_thread == 0 ? 0 : in.definitions->Thread(raw_thread);
}

Record MarkOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<MarkPayload>();
  const absl::string_view label = payload.TakeName();
  Record record;
  Mark* mark = record.mutable_mark();
  mark->set_time_us(in.clock->Micros(head.tsc));
  mark->set_next_number(head.next_number);
  mark->set_thread(ThreadOf(in, head.thread));
  mark->mutable_label()->assign(label.data(), label.size());
  mark->set_rss_bytes(head.rss_pages * in.page_bytes);
  return record;
}

Record GapOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<GapPayload>();
  Record record;
  ProfilerGap* gap = record.mutable_profiler_gap();
  gap->set_thread(ThreadOf(in, head.thread));
  gap->set_from_us(in.clock->Micros(head.from_tsc));
  gap->set_to_us(in.clock->Micros(head.to_tsc));
  gap->set_from_number(head.from_number);
  gap->set_to_number(head.to_number);
  return record;
}

Record LossOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<LossPayload>();
  Record record;
  Loss* loss = record.mutable_loss();
  loss->set_rows(head.rows);
  loss->set_from_number(head.from_number);
  loss->set_to_number(head.to_number);
  loss->set_time_us(in.clock->Micros(head.tsc));
  return record;
}

Record PeakOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<PeakPayload>();
  Record record;
  Peak* peak = record.mutable_peak();
  peak->set_hwm_bytes(head.hwm_pages * in.page_bytes);
  peak->set_after_number(head.after_number);
  peak->set_before_number(head.before_number);
  peak->set_time_us(in.clock->Micros(head.tsc));
  return record;
}

Record GaugeOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<GaugePayload>();
  const absl::string_view reason = payload.TakeName();
  Record record;
  GaugeChange* change = record.mutable_gauge();
  change->set_time_us(in.clock->Micros(head.tsc));
  change->set_number(head.number);
  change->set_rss_source(static_cast<RssSource>(head.source));
  change->set_old_rss_source(static_cast<RssSource>(head.old_source));
  change->mutable_reason()->assign(reason.data(), reason.size());
  return record;
}

Record PauseOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<PausePayload>();
  Record record;
  Pause* pause = record.mutable_pause();
  pause->set_from_us(in.clock->Micros(head.from_tsc));
  pause->set_to_us(in.clock->Micros(head.to_tsc));
  pause->set_next_number(head.next_number);
  pause->set_from_rss_bytes(head.from_rss_pages * in.page_bytes);
  pause->set_to_rss_bytes(head.to_rss_pages * in.page_bytes);
  return record;
}

Record ObjectsOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<ObjectsPayload>();
  const absl::string_view file = payload.TakeName();
  const absl::string_view problem = payload.TakeName();
  Record record;
  ObjectsDumped* dumped = record.mutable_objects_dumped();
  dumped->set_time_us(in.clock->MicrosOfMonotonic(head.monotonic_ns));
  dumped->set_reason(static_cast<ObjectsReason>(head.reason));
  dumped->set_pause_us(head.pause_us);
  dumped->set_duration_us(head.duration_us);
  dumped->set_file_bytes(head.file_bytes);
  dumped->set_objects(head.objects);
  dumped->set_references(head.references);
  dumped->mutable_file()->assign(file.data(), file.size());
  dumped->mutable_problem()->assign(problem.data(), problem.size());
  return record;
}

Record ObjectsUnderWayOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<ObjectsUnderWayPayload>();
  const absl::string_view path = payload.TakeName();
  const absl::string_view problem = payload.TakeName();
  Record record;
  ObjectsUnderWay* under_way = record.mutable_objects_under_way();
  under_way->set_time_us(in.clock->MicrosOfMonotonic(head.monotonic_ns));
  under_way->set_pause_us(head.pause_us);
  under_way->mutable_path()->assign(path.data(), path.size());
  under_way->mutable_problem()->assign(problem.data(), problem.size());
  return record;
}

// Stamps of two CPUs may differ by a little, so the end is never before the
// begin.
Record GcRunOf(const Context& in, PayloadReader payload) {
  const auto head = payload.Take<GcRunPayload>();
  Record record;
  GcRun* run = record.mutable_gc_run();
  const uint64_t begin_us = in.clock->Micros(head.from_tsc);
  run->set_begin_us(begin_us);
  run->set_time_us(std::max(begin_us, in.clock->Micros(head.to_tsc)));
  run->set_thread(ThreadOf(in, head.thread));
  run->set_generation(head.generation);
  run->set_collected(head.collected);
  run->set_uncollectable(head.uncollectable);
  run->set_next_number(head.next_number);
  run->set_stack(in.definitions->Stack(head.stack));
  return record;
}

// KIND_NOT_SET: not the kind of a fact.
Record RecordOf(const Context& in, ControlKind kind, PayloadReader payload) {
  switch (kind) {
    case ControlKind::kMark:
      return MarkOf(in, payload);
    case ControlKind::kProfilerGap:
      return GapOf(in, payload);
    case ControlKind::kLoss:
      return LossOf(in, payload);
    case ControlKind::kPeak:
      return PeakOf(in, payload);
    case ControlKind::kGauge:
      return GaugeOf(in, payload);
    case ControlKind::kPause:
      return PauseOf(in, payload);
    case ControlKind::kObjects:
      return ObjectsOf(in, payload);
    case ControlKind::kObjectsUnderWay:
      return ObjectsUnderWayOf(in, payload);
    case ControlKind::kGcRun:
      return GcRunOf(in, payload);
    default:
      return Record();
  }
}

}  // namespace

// The program may use any names and any number of them, so both are limited.
void FactWriter::WriteCounter(PayloadReader payload) {
  const auto head = payload.Take<CounterPayload>();
  const absl::string_view name = payload.TakeName().substr(0, kMostCounterName);
  if (!counters_.contains(name)) {
    if (counters_.size() >= kMostCounterNames) {
      ++refused_counters_;
      return;
    }
    counters_.emplace(name);
  }
  Record record;
  CounterValue* const counter = record.mutable_counter();
  counter->set_time_us(in_.clock->Micros(head.tsc));
  counter->set_thread(ThreadOf(in_, head.thread));
  counter->mutable_name()->assign(name.data(), name.size());
  if (head.is_real != 0) {
    double value;
    // The bits of a double, as the tracer copied them.
    std::memcpy(&value, &head.bits, sizeof(value));
    counter->set_real(value);
  } else {
    counter->set_whole(static_cast<int64_t>(head.bits));
  }
  in_.out->Write(record);
}

// A dump at a peak replaces the previous one in its file, so it is counted
// once.
void DumpsMade::Take(const ObjectsDumped& dump) {
  if (!dump.problem().empty()) return;
  const bool replaces = has_peak && dump.reason() == OBJECTS_AT_PEAK;
  has_peak |= dump.reason() == OBJECTS_AT_PEAK;
  if (!replaces) ++count;
  last = dump.file();
}

// The path of the run file and values of counters need state of their own. All
// other facts are one record each.
bool FactWriter::Write(ControlKind kind, absl::string_view payload) {
  if (kind == ControlKind::kOutput) {
    output_ = std::string(PayloadReader(payload).TakeString());
    return true;
  }
  if (kind == ControlKind::kCounter) {
    WriteCounter(PayloadReader(payload));
    return true;
  }
  const Record record = RecordOf(in_, kind, PayloadReader(payload));
  if (record.kind_case() == Record::KIND_NOT_SET) return false;
  in_.out->Write(record);
  if (record.has_peak() &&
      record.peak().hwm_bytes() > in_.totals->peak.hwm_bytes()) {
    in_.totals->peak = record.peak();
  }
  if (record.has_objects_dumped()) dumps_.Take(record.objects_dumped());
  if (record.has_gauge()) {
    in_.totals->gauge_change = record.gauge();
    ++in_.totals->gauge_changes;
  }
  return true;
}

}  // namespace pymemrun
