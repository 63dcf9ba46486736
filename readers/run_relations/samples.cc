#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

class Samples final : public EventCursor<ProcessSample> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "samples";
  static constexpr char kAbout[] = "what the kernel said of the process";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds, "since the run began"},
      {"rss_bytes", ValueKind::kInteger, Unit::kBytes, "RSS"},
      {"hwm_bytes", ValueKind::kInteger, Unit::kBytes,
       "VmHWM, the highest RSS so far"},
      {"file_bytes", ValueKind::kInteger, Unit::kBytes,
       "of RSS: of files and shared"},
      {"pss_bytes", ValueKind::kInteger, Unit::kBytes,
       "shared pages by their shares"},
      {"user_s", ValueKind::kReal, Unit::kSeconds, "CPU time in the program"},
      {"system_s", ValueKind::kReal, Unit::kSeconds, "CPU time in the kernel"},
      {"minor_faults", ValueKind::kInteger, Unit::kNone, "page faults so far"},
      {"major_faults", ValueKind::kInteger, Unit::kNone,
       "those that waited for a disk"},
      {"descriptors", ValueKind::kInteger, Unit::kNone, "open files"}};
  static std::string Missing(const RelationRun&) { return ""; }

  void OnProcess(const ProcessSample& sample) override { Take(sample); }
  RelationValue At(int column) override {
    const ProcessSample& of = event();
    switch (column) {
      case 0:
        return SecondsOf(of.time_us());
      case 1:
        return IntegerOrNot(of.rss_bytes());
      case 2:
        return IntegerOrNot(of.hwm_bytes());
      case 3:
        return IntegerOrNot(of.file_bytes());
      case 4:
        return IntegerOrNot(of.pss_bytes());
      case 5:
        return SecondsOf(of.user_us());
      case 6:
        return SecondsOf(of.system_us());
      case 7:
        return IntegerOrNot(of.minor_faults());
      case 8:
        // It may well be none.
        return of.minor_faults() == 0 ? RelationValue()
                                      : IntegerOf(of.major_faults());
      default:
        return of.descriptors() == 0 ? RelationValue()
                                     : IntegerOf(of.descriptors() - 1);
    }
  }
};

}  // namespace

std::unique_ptr<Relation> SamplesRelation(const RelationRun* run) {
  return MakeEventRelation<Samples>(run);
}

}  // namespace pymemrun
