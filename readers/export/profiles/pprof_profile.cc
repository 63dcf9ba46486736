#include <zlib.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "readers/export/profiles/heap_formats.h"
#include "readers/output/whole_number.h"
#include "readers/places/stack_frames.h"
#include "readers/pprof.pb.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/heap_in_rss/heap_mapped.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Sources that had live bytes, or have some.
bool IsExported(const HeapSource& source) {
  return source.counts() && source.allocated.recorded != 0;
}

HeapSums AtOrNothing(const std::vector<HeapSums>& sums, size_t source) {
  return source < sums.size() ? sums[source] : HeapSums();
}

// Builds pprof's profile.proto. Strings are a table, whose entry 0 must be
// empty. Frames of stacks become locations, numbered from 1 on, as 0 means none
// there.
class PprofMaker {
 public:
  // Names and units are those that pprof knows from Go's heap profiles.
  explicit PprofMaker(const HeapReplay* replay)
      : replay_(*replay), frames_(&replay->index()) {
    Text("");
    AddType("alloc_objects", "count");
    AddType("alloc_space", "bytes");
    AddType("inuse_objects", "count");
    AddType("inuse_space", "bytes");
    profile_.set_default_value_type(Text("inuse_space"));
    SetTypes("space", "bytes", profile_.mutable_period_type());
    profile_.set_period(static_cast<int64_t>(
        std::max<uint64_t>(replay->rates().mean_bytes(), 1)));
    profile_.set_time_ns(
        static_cast<int64_t>(replay->header().start_realtime_ns()));
  }

  void SetMoment(uint64_t time_us) {
    profile_.set_duration_ns(static_cast<int64_t>(time_us * 1000));
    profile_.add_comments(
        Text(absl::StrCat("live at ", static_cast<double>(time_us) / 1e6, " s",
                          replay_.sampled() ? ", estimated" : "")));
  }
  void SetComment(absl::string_view text) {
    if (!text.empty()) profile_.add_comments(Text(text));
  }

  // Locations go from the innermost frame to the outermost. Both labels can be
  // chosen by in pprof: -tagfocus.
  void Add(const HeapSource& source, const HeapSums& live) {
    pprof::Sample* sample = profile_.add_samples();
    for (const uint32_t frame : frames_.Of(source.key.stack)) {
      sample->add_locations(frame + 1);
    }
    sample->add_values(SignedNumber(source.allocated.count));
    sample->add_values(SignedNumber(source.allocated.bytes));
    sample->add_values(SignedNumber(live.count));
    sample->add_values(SignedNumber(live.bytes));
    AddLabel("thread", replay_.index().LatestThreadLabel(source.key.thread),
             sample);
    AddLabel("allocator", HeapAllocatorName(source.key.allocator), sample);
  }

  // Names of functions are chosen last: a short one is free if no other
  // function has it. Strings are filled in here, too, as Text() only numbers
  // them.
  std::string Take() {
    for (const StackFrames::Frame& frame : frames_.frames()) {
      names_[std::string(frame.qualname)].insert(BeginOf(frame));
      names_[ShortName(frame)].insert(BeginOf(frame));
    }
    for (size_t i = 0; i < frames_.frames().size(); ++i) AddFrame(i);
    for (const auto& [text, number] : numbers_) {
      *profile_.mutable_strings(static_cast<int>(number)) = text;
    }
    return profile_.SerializeAsString();
  }

 private:
  using Functions = std::map<std::tuple<int64_t, int64_t, int64_t>, uint64_t>;

  using Begin = std::pair<absl::string_view, uint32_t>;  // file, line

  static Begin BeginOf(const StackFrames::Frame& frame) {
    return {frame.place.file, frame.first_line};
  }
  static std::string ShortName(const StackFrames::Frame& frame) {
    const absl::string_view file = frame.place.file;
    return absl::StrCat(frame.qualname, " (", file.substr(file.rfind('/') + 1),
                        ":", frame.first_line, ")");
  }
  int64_t Text(absl::string_view text) {
    const auto [found, is_new] = numbers_.emplace(
        TerminalText(text), static_cast<int64_t>(numbers_.size()));
    if (is_new) profile_.add_strings();
    return found->second;
  }
  void SetTypes(absl::string_view type, absl::string_view unit,
                pprof::Value* value) {
    value->set_type(Text(type));
    value->set_unit(Text(unit));
  }
  void AddType(absl::string_view type, absl::string_view unit) {
    SetTypes(type, unit, profile_.add_value_types());
  }
  void AddLabel(absl::string_view key, absl::string_view text,
                pprof::Sample* sample) {
    pprof::Label* label = sample->add_labels();
    label->set_key(Text(key));
    label->set_text(Text(text));
  }
  void AddFrame(size_t number) {
    const StackFrames::Frame& frame = frames_.frames()[number];
    pprof::Location* location = profile_.add_locations();
    location->set_id(number + 1);
    pprof::Line* line = location->add_lines();
    line->set_line(frame.place.line);
    line->set_function(FunctionOf(frame));
  }
  // pprof adds up functions of the same name, so each function gets its own:
  // the shortest name that no other has.
  std::string NameOf(const StackFrames::Frame& frame) {
    for (std::string name : {std::string(frame.qualname), ShortName(frame)}) {
      if (names_[name].size() == 1) return name;
    }
    return absl::StrCat(frame.qualname, " (", frame.place.file, ":",
                        frame.first_line, ")");
  }
  uint64_t FunctionOf(const StackFrames::Frame& frame) {
    const int64_t name = Text(NameOf(frame));
    const int64_t file = Text(frame.place.file);
    const auto [found, is_new] = functions_.emplace(
        std::make_tuple(name, file, int64_t{frame.first_line}),
        functions_.size() + 1);
    if (!is_new) return found->second;
    pprof::Function* function = profile_.add_functions();
    function->set_id(found->second);
    function->set_name(name);
    // It must differ from the name: otherwise pprof takes the function for C++,
    // and text in <> for template arguments.
    function->set_system_name(
        Text(absl::StrCat(frame.place.file, ":", frame.place.function)));
    function->set_file(file);
    function->set_first_line(frame.first_line);
    return found->second;
  }

  const HeapReplay& replay_;
  StackFrames frames_;
  pprof::Profile profile_;
  std::map<std::string, int64_t> numbers_;
  Functions functions_;
  // The functions that could have it.
  std::map<std::string, std::set<Begin>> names_;
};

}  // namespace

std::string PprofProfile(const HeapMoments& replay) {
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  PprofMaker maker(&replay);
  maker.SetMoment(replay.TimeOf(0));
  maker.SetComment(absl::StripSuffix(ReservedText(replay), "\n"));
  const auto& sources = replay.model().sources();
  for (size_t i = 0; i < sources.size(); ++i) {
    if (IsExported(sources[i])) maker.Add(sources[i], AtOrNothing(sums, i));
  }
  return maker.Take();
}

std::string Gzipped(absl::string_view bytes, size_t piece_bytes) {
  // zlib: the largest window, and 16 for a header and trailer of gzip.
  constexpr int kGzipWindow = 15 + 16;
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string zipped;
  char piece[1 << 16];
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0) {
      const absl::string_view next = bytes.substr(0, piece_bytes);
      bytes.remove_prefix(next.size());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next.data()));
      stream.avail_in = static_cast<uInt>(next.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof(piece);
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    zipped.append(piece, sizeof(piece) - stream.avail_out);
  }
  deflateEnd(&stream);
  return status == Z_STREAM_END ? zipped : "";
}

}  // namespace pymemrun
