// Reads a run file's page events into a ResidentModel, up to a moment.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_REPLAY_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "readers/replay/current_task/task_steps_reader.h"
#include "readers/replay/library_waits/library_waits.h"
#include "readers/replay/page_errors/inference_errors.h"
#include "readers/replay/resident/hindsight.h"
#include "readers/replay/resident/resident_model.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Not thread safe.
class ResidentReplay : public ReplayVisitor {
 public:
  // What happened up to `until_us`, this moment included.
  explicit ResidentReplay(uint64_t until_us = kEnd, Hindsight hindsight = {});

  // Tasks are told apart from here on, by the steps that were read before. They
  // must outlive it.
  void TellTasksApart(const TaskStepsReader* tasks) { tasks_ = tasks; }
  // Of tasks by number; what none did is kNoTask.
  absl::string_view TaskLabel(uint32_t task) const;
  // Who it is, with the task's name.
  Origin OriginOf(const PageOwner& owner) const;

  HeapUse heap_use() const override { return HeapUse::kNone; }
  void OnHeader(const Header& header) override;
  bool OnRows(const Row*, size_t) override { return !done_; }
  bool OnPages(const PageEntry* entries, size_t count) override;
  void OnResidency(const ResidencyView& seen) override;
  void OnProcess(const ProcessSample& sample) override;
  void OnFork(const Fork& fork) override;
  void OnPageLoss(const PageLoss& loss) override;
  void OnFooter(const Footer& footer) override;
  void Finish() override;

  const ResidentModel& model() const { return model_; }
  const Header& header() const { return header_; }
  // The run was made with page events. By scan: and the kernel could be asked.
  bool has_page_events() const { return has_page_events_; }
  // In bursts some pages had no stack of their own: who had what of them may be
  // wrong by so much. Owners are numbers in model().owners(). Of a sampled run
  // only the sample's error is told.
  bool infers() const {
    return header_.page_period() > 1 && header_.page_weight() <= 1;
  }
  const InferenceErrors& inference() const { return inference_; }
  // Nobody saw who touched the pages.
  bool by_scan() const { return header_.page_scan(); }
  // Of so many bytes from before tracing, those of tracing itself.
  uint64_t TracingBytesOf(uint64_t before_bytes) const;
  // What the kernel counted as pages of files, and shared ones, at the last
  // sample, and at the first one. 0: not known.
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t first_file_bytes() const { return first_file_bytes_; }
  // By how much the kernel has counted more of them since the last scan.
  uint64_t UnscannedFileBytes() const;
  // Who seems to have brought what came since then.
  PageOwner UnscannedOwner() const;
  // Of pages of files: by scan only rows tell when RSS grew by them.
  Origin FileOriginOf(const PageOwner& owner) const;
  // The last moment that the file tells of, as far as it was read.
  uint64_t last_us() const { return last_us_; }
  // `until_us`; or where the file ends before that, its last moment.
  uint64_t shown_us() const { return past_ ? until_us_ : last_us_; }
  uint64_t lost_samples() const { return lost_samples_; }
  // What another reading of the file may know beforehand.
  virtual Hindsight hindsight() const;
  // The ranges of the first Residency after the moment: what pages that came
  // after model().ranges() are part of.
  const std::vector<ResidentRange>& later_ranges() const {
    return later_ranges_;
  }

 protected:
  // Called before anything that happened at `time_us` is added to the model,
  // which is as it was from now_us() until then. Times rise.
  virtual void OnTime(uint64_t time_us) {}
  // So many bytes came at now_us(), or left, by the doing of that thread and
  // task, at that stack: the rest of `by` says nothing where they left.
  virtual void OnChanged(const PageOwner& by, int64_t bytes) {}
  // These blocks of anonymous memory are about to go. Of each one page is
  // known.
  virtual void OnGone(std::vector<LateArrival> blocks) {}
  // For hindsight().
  void AddToHindsight(const LateArrival& late) {
    if (before_.late.size() + late_.size() < kMaxLate) late_.push_back(late);
  }
  // statm and VmHWM were read, the model has been told.
  virtual void OnReading(uint64_t time_us, uint64_t hwm_bytes) {}
  uint64_t now_us() const { return now_us_; }
  // Of RSS and VmHWM.
  uint64_t highest_read() const { return highest_read_; }

 private:
  struct Reading {
    uint64_t time_us, rss_bytes, hwm_bytes;
  };
  static constexpr size_t kMaxLate = size_t{1} << 18;

  void AddLateArrivals(const ResidencyView& seen);
  void FindGone(const PageEntry& entry);
  PageOwner WhoRanUntil(uint64_t to_us, uint64_t rss_bytes) const;
  void ForgetGrowth(uint64_t before_us);
  void AddLate(const LateArrival& late);
  void AddReading(const Reading& reading);
  void AdvanceTo(uint64_t time_us);
  void MoveTo(uint64_t time_us);
  void LeaveMoment();

  void AddInference(const PageEntry& entry);
  uint32_t TaskOf(const PageEntry& entry) const;

  const uint64_t until_us_;
  const Hindsight before_;
  size_t next_late_ = 0, next_growth_ = 0;           // of before_
  uint64_t scanned_us_ = 0, scanned_rss_bytes_ = 0;  // the last time
  uint64_t ranges_us_ = 0;                           // of model_.ranges()
  std::vector<LateArrival> late_;                    // that were found
  uint64_t looks_left_ = uint64_t{1} << 20;          // see FindLateArrivals()
  ResidentModel model_;
  InferenceErrors inference_;
  const TaskStepsReader* tasks_ = nullptr;
  WaitCursor waits_;
  Header header_;
  // By time: they stand in the file before page events of earlier times.
  absl::btree_multimap<uint64_t, Reading> readings_;
  uint64_t now_us_ = 0, last_us_ = 0;
  uint64_t lost_samples_ = 0;
  uint64_t file_bytes_ = 0, first_file_bytes_ = 0, file_bytes_us_ = 0;
  uint64_t highest_read_ = 0;
  uint64_t read_us_ = 0;  // the last time
  bool has_page_events_ = false, was_scanned_ = false;
  bool past_ = false;  // what comes is after the moment
  bool done_ = false;  // nothing more is wanted
  std::vector<ResidentRange> later_ranges_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_REPLAY_H_
