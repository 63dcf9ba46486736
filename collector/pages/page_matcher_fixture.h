// For tests: what a PageMatcher gives out, as text.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_FIXTURE_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/pages/page_matcher.h"
#include "text/units_for_tests.h"

namespace pymemrun {

using Pages = std::vector<uint64_t>;

class PageMatcherTest : public testing::Test, public PageMatcher::Output {
 protected:
  PageSpan OnSample(const MatchedSample& m) override {
    out_.push_back(absl::StrCat(
        m.sample->thread, ":", m.sample->address / 4096, "=", m.stack,
        m.inferred ? "?" : "", m.far_too ? "+" : "", m.collecting ? "gc" : ""));
    EXPECT_GE(m.time_ns, last_ns_);
    last_ns_ = m.time_ns;
    ++charged_[m.stack];
    const uint64_t page = m.sample->address / 4096 * 4096;
    return {page, page + fault_pages_ * 4096};
  }
  void OnMark(const PageMark& mark) override {
    out_.push_back(absl::StrCat("mark ", mark.address));
    EXPECT_GE(mark.time_ns, last_ns_);
    last_ns_ = mark.time_ns;
    under_way_.push_back(PagesUnderWay(mark.time_ns));
  }
  bool IsNamed(uint32_t thread) override { return thread != unnamed_; }
  void Sample(uint32_t thread, uint64_t time_ns, uint64_t page) {
    matcher_.AddSamples({{time_ns, page * 4096 + 17, instruction_, thread}});
  }
  void Touch(uint32_t thread, uint64_t time_ns, uint64_t page, uint32_t stack,
             bool late = false) {
    matcher_.AddTouch(thread, {time_ns, page, instruction_, stack, late});
  }
  void AskForHugePages(uint32_t thread, uint64_t time_ns, uint32_t stack) {
    matcher_.AddTouch(thread, {.time_ns = time_ns,
                               .page = 512,
                               .stack = stack,
                               .asked_for_huge = true});
  }
  std::string Emit(uint64_t complete_ns) {
    matcher_.Emit(complete_ns, this);
    const std::string text = absl::StrJoin(out_, " ");
    out_.clear();
    return text;
  }

  Pages PagesUnderWay(uint64_t time_ns) const {
    Pages pages;
    for (const FaultUnderWay& fault : matcher_.FaultsUnderWay(time_ns)) {
      EXPECT_EQ(fault.brings.begin, fault.address / 4096 * 4096);
      EXPECT_EQ(fault.brings.end - fault.brings.begin, fault_pages_ * 4096);
      pages.push_back(fault.address / 4096);
    }
    return pages;
  }

  PageMatcher matcher_{4096};
  std::vector<std::string> out_;
  uint64_t last_ns_ = 0;
  std::vector<Pages> under_way_;     // at each mark
  std::map<uint32_t, int> charged_;  // samples by stack
  uint64_t instruction_ = 0x400;
  uint32_t unnamed_ = 0;
  uint64_t fault_pages_ = 1;  // what each brings
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_MATCHER_FIXTURE_H_
