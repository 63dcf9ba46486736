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

// Calls virtual methods as the model changes: finders of the peak, timelines
// and reports derive from it. Not thread safe.
class ResidentReplay : public ReplayVisitor {
 public:
  // Reads what happened up to and including `until_us`.
  explicit ResidentReplay(uint64_t until_us = kEnd, Hindsight hindsight = {});

  // From now on tasks are told apart, by steps that were read before. `tasks`
  // must outlive it.
  void TellTasksApart(const TaskStepsReader* tasks) { tasks_ = tasks; }
  // The label of a task by number; kNoTask for number 0.
  absl::string_view TaskLabel(uint32_t task) const;
  // The origin of an owner's bytes, with the task's name.
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
  // Whether page events were recorded; for a scan, also whether the kernel
  // could be asked.
  bool has_page_events() const { return has_page_events_; }
  // Whether stacks of some pages in bursts were inferred. If so, owners' bytes
  // have the errors of inference(), by numbers of model().owners(). A sampled
  // run only has sampling errors.
  bool infers() const { return header_.page_period() > 1; }
  const InferenceErrors& inference() const { return inference_; }
  // Pages were scanned: no faults were recorded, so touchers are unknown.
  bool by_scan() const { return header_.page_scan(); }
  // The part of `before_bytes`, which are from before tracing, that tracing
  // itself uses.
  uint64_t TracingBytesOf(uint64_t before_bytes) const;
  // Pages of files, and shared ones, by the kernel's count: at the last sample,
  // and at the first. 0: unknown.
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t first_file_bytes() const { return first_file_bytes_; }
  // Bytes by which that count has risen since the last scan.
  uint64_t UnscannedFileBytes() const;
  // Who seems to have brought these bytes.
  PageOwner UnscannedOwner() const;
  // The origin of a page of a file: with scans only rows show when RSS grew by
  // it.
  Origin FileOriginOf(const PageOwner& owner) const;
  // The time of the last event read.
  uint64_t last_us() const { return last_us_; }
  // `until_us`, or the file's last moment if that is earlier.
  uint64_t shown_us() const { return past_ ? until_us_ : last_us_; }
  uint64_t lost_samples() const { return lost_samples_; }
  // What this reading found out, for later readings of the file.
  virtual Hindsight hindsight() const;
  // The ranges of the first Residency after the moment: they show the mappings
  // of pages that came after model().ranges().
  const std::vector<ResidentRange>& later_ranges() const {
    return later_ranges_;
  }

 protected:
  // Called before events of `time_us` are added: the model is as it was from
  // now_us() until then. Times ascend.
  virtual void OnTime(uint64_t time_us) {}
  // Called when `bytes` came or went at now_us(). `by`: who caused it. If bytes
  // went, only its thread, task and stack are set.
  virtual void OnChanged(const PageOwner& by, int64_t bytes) {}
  // Called before these blocks of anonymous memory go. One page of each block
  // is known.
  virtual void OnGone(std::vector<LateArrival> blocks) {}
  // Adds to hindsight().
  void AddToHindsight(const LateArrival& late) {
    if (before_.late.size() + late_.size() < kMaxLate) late_.push_back(late);
  }
  // Called after the model got a reading of statm and VmHWM.
  virtual void OnReading(uint64_t time_us, uint64_t hwm_bytes) {}
  uint64_t now_us() const { return now_us_; }
  // The highest of all readings of RSS and VmHWM.
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
  size_t next_late_ = 0, next_growth_ = 0;           // indexes into before_
  uint64_t scanned_us_ = 0, scanned_rss_bytes_ = 0;  // at the last scan
  uint64_t ranges_us_ = 0;                           // time of model_.ranges()
  std::vector<LateArrival> late_;                    // found in this reading
  uint64_t looks_left_ = uint64_t{1} << 20;          // see FindLateArrivals()
  ResidentModel model_;
  InferenceErrors inference_;
  const TaskStepsReader* tasks_ = nullptr;
  WaitCursor waits_;
  Header header_;
  // By time: in the file they may precede page events of earlier times.
  absl::btree_multimap<uint64_t, Reading> readings_;
  uint64_t now_us_ = 0, last_us_ = 0;
  uint64_t lost_samples_ = 0;
  uint64_t file_bytes_ = 0, first_file_bytes_ = 0, file_bytes_us_ = 0;
  uint64_t highest_read_ = 0;
  uint64_t read_us_ = 0;  // time of the last reading
  bool has_page_events_ = false, was_scanned_ = false;
  bool past_ = false;  // later events are after the moment
  bool done_ = false;  // nothing more is needed
  std::vector<ResidentRange> later_ranges_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_RESIDENT_REPLAY_H_
