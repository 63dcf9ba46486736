#include "readers/replay/moments/moment_reading.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/replay/moments/moment.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// `option`: the option that named the moment.
void SayNoMoment(const absl::Status& status, absl::string_view option,
                 const RereadFile& file, const Console& console, int* code) {
  // A message was printed already if nothing could be read.
  const bool is_said = status.code() == absl::StatusCode::kDataLoss;
  if (!is_said) {
    console.Say(
        absl::StrCat(file.shown_name(), ": ", option, ": ", status.message()));
  }
  *code = std::max(*code, is_said ? kExitFailed : kExitUsage);
}

void SayEmpty(const MomentRange& range, bool has_from, const RereadFile& file,
              const Console& console) {
  console.Say(absl::StrCat(
      file.shown_name(), ": --to: expected a moment after ",
      has_from ? "--from, " : "the run's beginning, ",
      HumanSeconds(range.from_us), ", found ", HumanSeconds(range.to_us)));
}

}  // namespace

// A program that was killed left no last reading. Its end is then shown as of
// the last reading, and the name says so.
absl::StatusOr<FoundMoment> MomentOf(const RunMoments& moments,
                                     const Moment& moment, RereadFile* file) {
  auto found = moments.Find(moment, ReadingOf(file));
  const uint64_t known_us = moments.KnownUntilUs();
  if (!found.ok() || !found->is_last || known_us == moments.EndUs()) {
    return found;
  }
  return FoundMoment{known_us,
                     absl::StrCat("the last reading of RSS, ",
                                  HumanSeconds(moments.EndUs() - known_us),
                                  " before ", found->name)};
}

std::optional<FoundMoment> FindMoment(const RunMoments& moments,
                                      const Moment& moment, RereadFile* file,
                                      const Console& console, int* code) {
  auto found = MomentOf(moments, moment, file);
  if (found.ok()) return *std::move(found);
  SayNoMoment(found.status(), "--at", *file, console, code);
  return std::nullopt;
}

// Times need no reading. For other moments the run's moments are read once, and
// serve both bounds.
bool FindRange(const std::optional<Moment>& from,
               const std::optional<Moment>& to, RereadFile* file,
               const Console& console, std::unique_ptr<RunMoments>* moments,
               MomentRange* range, int* code) {
  const int was = *code;
  for (const bool is_end : {false, true}) {
    const std::optional<Moment>& bound = is_end ? to : from;
    uint64_t& bound_us = is_end ? range->to_us : range->from_us;
    if (!bound.has_value()) continue;
    if (bound->kind == Moment::kTime) {
      bound_us = bound->time_us;
      continue;
    }
    if (*moments == nullptr) *moments = RunMoments::Of(ReadingOf(file));
    if (*moments == nullptr) {
      *code = kExitFailed;
      return false;
    }
    const auto found = (*moments)->Find(*bound, ReadingOf(file));
    if (!found.ok()) {
      SayNoMoment(found.status(), is_end ? "--to" : "--from", *file, console,
                  code);
      return false;
    }
    bound_us = is_end ? found->UntilUs() : found->time_us;
  }
  *code = std::max(*code, kExitUsage);
  if (range->to_us <= range->from_us) {
    SayEmpty(*range, from.has_value(), *file, console);
    return false;
  }
  if (range->from_us > 0 && !GoesOnAfter(range->from_us, file)) {
    console.Say(absl::StrCat(
        file->shown_name(), ": --from: ", HumanSeconds(range->from_us),
        " is not before the run's end, ", HumanSeconds(LastMomentOf(file))));
    return false;
  }
  *code = was;
  return true;
}

Moment NoLaterThanEnd(const Moment& moment, RereadFile* file) {
  return moment.kind == Moment::kTime && !GoesOnAfter(moment.time_us, file)
             ? Moment{Moment::kExit}
             : moment;
}

// Reading is what costs time on a long run, so `beside` joins the first reading
// that has heap events anyway.
std::vector<HeapMoment> FindHeapMoments(const std::vector<Moment>& moments,
                                        RereadFile* file,
                                        const Console& console, int* code,
                                        ReplayVisitor* beside) {
  const ReadRun alone = ReadingOf(file);
  bool is_read = beside == nullptr;
  const ReadRun read = ReadingBeside(alone, beside, &is_read);
  std::vector<HeapMoment> all;
  for (const Moment& moment : moments) {
    auto found = FindHeapMoment(moment, read);
    if (!found.ok()) {
      SayNoMoment(found.status(), all.empty() ? "--at" : "--to", *file, console,
                  code);
      return {};
    }
    all.push_back(*std::move(found));
    // Events can be counted for one moment only.
    if (moments.size() > 1 && all.back().kind == HeapMoment::kEvents) {
      all.back().kind = HeapMoment::kTime;
    }
  }
  if (is_read || file->Read(beside)) return all;
  *code = kExitFailed;
  return {};
}

std::unique_ptr<HeapMoments> ReadHeapAt(const std::string& path,
                                        const Moment& moment,
                                        const Console& console, int* code) {
  const auto file = RereadFile::Open(path, console);
  if (file == nullptr) {
    *code = std::max(*code, kExitFailed);
    return nullptr;
  }
  std::vector<HeapMoment> found =
      FindHeapMoments({moment}, file.get(), console, code);
  if (found.empty()) return nullptr;
  // What was allocated up to the moment; for the peak, in the whole run.
  const bool to_end = moment.kind == Moment::kPeak;
  auto replay = std::make_unique<HeapMoments>(std::move(found), to_end);
  const bool read = ReadHeapAgain(file.get(), console, replay.get(), code);
  return read ? std::move(replay) : nullptr;
}

}  // namespace pymemrun
