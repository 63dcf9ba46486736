#include "readers/export/traces/perfetto_trace.h"

#include "absl/strings/str_cat.h"
#include "readers/export/traces/trace_ids.h"
#include "readers/track_event.pb.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using track_events::CounterDescriptor;
using track_events::Packet;
using track_events::TrackEvent;

// The sequence id of all packets; those of an object graph have another one.
constexpr uint32_t kTracksSequence = 2;
constexpr uint64_t kProcessTrack = 1;
// BuiltinClock in Perfetto's builtin_clock.proto.
constexpr uint32_t kRealtime = 1, kMonotonic = 3, kBoottime = 6;
// Names of a slice's arguments.
constexpr uint64_t kGrowthName = 1, kCutName = 2, kLetGoName = 3,
                   kHadGilName = 4, kRanName = 5, kWantedName = 6,
                   kEstimatedName = 7;
// The largest time that Perfetto can handle.
constexpr uint64_t kMostNs = UINT64_MAX / 4;

// Tracks are numbered from 1 on; the process has a uuid of its own.
uint64_t UuidOf(uint32_t track) { return kProcessTrack + track; }

void Define(uint64_t id, absl::string_view name,
            track_events::InternedName* interned) {
  interned->set_id(id);
  interned->set_name(std::string(name));
}

uint64_t Nanoseconds(uint64_t time_us) {
  return time_us > kMostNs / 1000 ? kMostNs : time_us * 1000;
}

}  // namespace

// Names are interned: the packet that first uses one defines its number, and
// all later packets of the sequence know it.
PerfettoTrace::PerfettoTrace(OutputBuffer* output)
    : output_(*output),
      names_(1),
      packet_(std::make_unique<Packet>()),
      pending_(std::make_unique<track_events::InternedData>()) {
  Define(SliceName::kOwn + 1, "own", pending_->add_categories());
  Define(SliceName::kLibrary + 1, "library", pending_->add_categories());
  Define(SliceName::kC + 1, "C", pending_->add_categories());
  Define(kGrowthName, "rss_growth_bytes", pending_->add_annotation_names());
  Define(kCutName, "end_not_seen", pending_->add_annotation_names());
  Define(kLetGoName, "let_go_us", pending_->add_annotation_names());
  Define(kHadGilName, "had_gil_us", pending_->add_annotation_names());
  Define(kRanName, "ran_us", pending_->add_annotation_names());
  Define(kWantedName, "wanted_cpu_us", pending_->add_annotation_names());
  Define(kEstimatedName, "estimated", pending_->add_annotation_names());
  has_pending_ = true;
}

PerfettoTrace::~PerfettoTrace() = default;

// A snapshot of three clocks at the run's start, then the process. Clocks of a
// damaged header beyond kMostNs count as 0.
void PerfettoTrace::SetProcess(const Header& header) {
  pid_ = TracePid(header.pid());
  const auto add = [&](uint32_t id, uint64_t timestamp_ns) {
    track_events::Clock* const clock = packet_->mutable_clocks()->add_clocks();
    clock->set_id(id);
    clock->set_timestamp_ns(timestamp_ns < kMostNs ? timestamp_ns : 0);
  };
  add(kBoottime, 0);
  add(kMonotonic, header.start_monotonic_ns());
  add(kRealtime, header.start_realtime_ns());
  Write();
  packet_->mutable_track()->set_uuid(kProcessTrack);
  track_events::ProcessDescriptor* const process =
      packet_->mutable_track()->mutable_process();
  process->set_pid(pid_);
  process->set_name(TerminalText(ProcessName(header)));
  for (const std::string& argument : header.argv()) {
    process->add_command(TerminalText(argument));
  }
  Write();
}

// Writes the descriptor that the caller began in `packet_`.
uint32_t PerfettoTrace::AddTrack(Packet* packet, absl::string_view name,
                                 uint64_t parent) {
  packet->mutable_track()->set_uuid(UuidOf(++tracks_));
  if (parent != 0) packet->mutable_track()->set_parent(parent);
  if (!name.empty()) packet->mutable_track()->set_name(TerminalText(name));
  Write();
  return tracks_;
}

uint32_t PerfettoTrace::AddThread(const TrackThread& thread) {
  uint32_t& track = thread_tracks_[thread.id];
  if (track != 0) return track;
  track_events::ThreadDescriptor* const of =
      packet_->mutable_track()->mutable_thread();
  of->set_pid(pid_);
  of->set_tid(TraceTid(thread));
  of->set_name(TerminalText(thread.name));
  track = AddTrack(packet_.get(), "", 0);
  thread_names_[track] = std::string(thread.name);
  return track;
}

// Perfetto's UI shows the thread's id beside the track's name, and nothing
// else.
uint32_t PerfettoTrace::AddLane(uint32_t thread_track, absl::string_view name) {
  if (thread_track == 0) return AddTrack(packet_.get(), name, kProcessTrack);
  const auto thread = thread_names_.find(thread_track);
  const bool is_named =
      thread != thread_names_.end() && !thread->second.empty();
  return AddTrack(
      packet_.get(),
      is_named ? absl::StrCat(thread->second, ": ", name) : std::string(name),
      UuidOf(thread_track));
}

uint32_t PerfettoTrace::AddCounter(absl::string_view name, CounterUnit unit) {
  CounterDescriptor* const counter =
      packet_->mutable_track()->mutable_counter();
  switch (unit) {
    case CounterUnit::kBytes:
      counter->set_unit(CounterDescriptor::SIZE_BYTES);
      break;
    case CounterUnit::kMicroseconds:
      counter->set_unit(CounterDescriptor::TIME_NS);
      counter->set_unit_multiplier(1000);
      break;
    case CounterUnit::kCount:
      counter->set_unit(CounterDescriptor::COUNT);
      break;
  }
  return AddTrack(packet_.get(), name, kProcessTrack);
}

uint32_t PerfettoTrace::AddName(const SliceName& name) {
  const auto number = static_cast<uint32_t>(names_.size());
  Name kept;
  if (name.kind != SliceName::kOther) kept.category = name.kind + 1;
  // One number serves for the name and for its location.
  Define(number, TerminalText(name.name), pending_->add_event_names());
  if (!name.file.empty()) {
    kept.location = number;
    track_events::SourceLocation* const location =
        pending_->add_source_locations();
    location->set_id(number);
    location->set_file(TerminalText(name.file));
    location->set_function(TerminalText(name.name));
    location->set_line(name.line);
  }
  has_pending_ = true;
  names_.push_back(kept);
  return number;
}

void PerfettoTrace::SetTime(uint64_t time_us) {
  packet_->set_timestamp_ns(Nanoseconds(time_us));
}

void PerfettoTrace::Begin(uint32_t track, uint64_t time_us, uint32_t name) {
  SetTime(time_us);
  TrackEvent* const event = packet_->mutable_event();
  event->set_type(TrackEvent::SLICE_BEGIN);
  event->set_track(UuidOf(track));
  event->set_name_id(name);
  const Name& of = names_[name < names_.size() ? name : 0];
  if (of.category != 0) event->add_category_ids(of.category);
  if (of.location != 0) event->set_source_location_id(of.location);
  Write();
}

// What is known only at the end of a slice becomes annotations of its end,
// which Perfetto shows as the slice's own. Zeros are left out.
void PerfettoTrace::End(uint32_t track, uint64_t time_us, const SliceEnd& end) {
  SetTime(time_us);
  TrackEvent* const event = packet_->mutable_event();
  event->set_type(TrackEvent::SLICE_END);
  event->set_track(UuidOf(track));
  const auto annotate = [event](uint64_t name, int64_t value) {
    if (value == 0) return;
    track_events::Annotation* const annotation = event->add_annotations();
    annotation->set_name_id(name);
    annotation->set_int_value(value);
  };
  annotate(kGrowthName, end.growth_bytes);
  annotate(kLetGoName, static_cast<int64_t>(end.let_go_us));
  annotate(kHadGilName, static_cast<int64_t>(end.had_gil_us));
  annotate(kRanName, static_cast<int64_t>(end.ran_us));
  annotate(kWantedName, static_cast<int64_t>(end.wanted_cpu_us));
  const auto flag = [event](uint64_t name, bool is_so) {
    if (!is_so) return;
    track_events::Annotation* const annotation = event->add_annotations();
    annotation->set_name_id(name);
    annotation->set_bool_value(true);
  };
  flag(kCutName, end.is_cut);
  flag(kEstimatedName, end.is_estimated);
  Write();
}

void PerfettoTrace::Count(uint32_t counter, uint64_t time_us, int64_t value) {
  SetTime(time_us);
  TrackEvent* const event = packet_->mutable_event();
  event->set_type(TrackEvent::COUNTER);
  event->set_track(UuidOf(counter));
  event->set_counter_value(value);
  Write();
}

void PerfettoTrace::CountReal(uint32_t counter, uint64_t time_us,
                              double value) {
  SetTime(time_us);
  TrackEvent* const event = packet_->mutable_event();
  event->set_type(TrackEvent::COUNTER);
  event->set_track(UuidOf(counter));
  event->set_real_counter_value(value);
  Write();
}

void PerfettoTrace::Instant(uint32_t track, uint64_t time_us,
                            absl::string_view text) {
  SetTime(time_us);
  TrackEvent* const event = packet_->mutable_event();
  event->set_type(TrackEvent::INSTANT);
  event->set_track(track == 0 ? kProcessTrack : UuidOf(track));
  event->set_name(TerminalText(text));
  Write();
}

// Each packet is field 1 of the trace, with wire type 2: its key, its size as a
// varint, its bytes. So the trace needs no message around all packets.
void PerfettoTrace::Write() {
  constexpr char kPacketsField = 1 << 3 | 2;
  packet_->set_sequence(kTracksSequence);
  packet_->set_sequence_flags(is_first_ ? track_events::STATE_CLEARED
                                        : track_events::NEEDS_STATE);
  is_first_ = false;
  if (has_pending_) {
    packet_->mutable_interned()->Swap(pending_.get());
    has_pending_ = false;
  }
  packet_->SerializeToString(&bytes_);
  packet_->Clear();
  char head[12] = {kPacketsField};
  size_t at = 1;
  size_t left = bytes_.size();
  for (; left > 127; left >>= 7) head[at++] = static_cast<char>(left | 128);
  head[at++] = static_cast<char>(left);
  output_.Append({head, at});
  output_.Append(bytes_);
}

}  // namespace pymemrun
