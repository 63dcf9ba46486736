#include "readers/replay/heap_in_rss/heap_timeline.h"

#include <utility>

namespace pymemrun {

RssAtMoments::RssAtMoments(std::vector<uint64_t> time_us, Hindsight hindsight)
    : ResidentReplay(kEnd, std::move(hindsight)),
      time_us_(std::move(time_us)) {}

// Rows and readings come in two orders of time. So their values are collected
// apart, and Finish() chooses one for each moment.
void RssAtMoments::TakeRows(uint64_t time_us) {
  while (row_.size() < time_us_.size() && time_us_[row_.size()] < time_us) {
    row_.push_back(last_row_);
  }
}

bool RssAtMoments::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    TakeRows(rows[i].time_us);
    last_row_ = {rows[i].time_us, rows[i].rss_bytes};
  }
  return true;
}

void RssAtMoments::OnTime(uint64_t time_us) {
  while (rss_bytes_.size() < time_us_.size() &&
         time_us_[rss_bytes_.size()] < time_us) {
    rss_bytes_.push_back(model().RssBytes());
    reading_us_.push_back(last_reading_us_);
  }
}

void RssAtMoments::OnReading(uint64_t time_us, uint64_t) {
  last_reading_us_ = time_us;
}

// With page events the model knows RSS between readings. Without them the later
// one of reading and row holds.
void RssAtMoments::Finish() {
  ResidentReplay::Finish();
  OnTime(kEnd);
  TakeRows(kEnd);
  if (has_page_events()) return;
  for (size_t i = 0; i < rss_bytes_.size(); ++i) {
    if (row_[i].time_us >= reading_us_[i] && row_[i].rss_bytes != 0) {
      rss_bytes_[i] = row_[i].rss_bytes;
    }
  }
}

Series RssAtMoments::Result() const {
  return {NamedPlace("rss_bytes"),
          "RSS",
          "",
          false,
          {rss_bytes_.begin(), rss_bytes_.end()}};
}

}  // namespace pymemrun
