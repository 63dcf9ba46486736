// Runs with rows of calls. For tests only.
#ifndef PYMEMRUN_READERS_TESTING_CALL_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_CALL_RUN_FOR_TESTS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {

// Calls of functions `a` to `e`, whose first lines are 10, 20, ...; they return
// in the fifth line.
class CallRun {
 public:
  static constexpr uint32_t kMain = 1, kWorker = 2;

  // `min_call_kib`: a run that logged only RETURNs, by that; 0: all events.
  explicit CallRun(uint64_t min_call_kib = 0, Filters others = {},
                   bool sees_pages = false)
      : builder_(&sink_) {
    Header header = RunBuilder::DefaultHeader();
    header.set_page_period(sees_pages ? 1 : 0);
    *header.mutable_filters() = std::move(others);
    if (min_call_kib > 0) {
      header.mutable_filters()->set_min_drss_bytes(1 << 30);
      header.mutable_filters()->set_min_call_drss_bytes(min_call_kib * 1024);
    }
    builder_.AddHeader(header);
    builder_.AddThread("MainThread", 4711);
    builder_.AddThread("Thread-6", 4712);
    for (uint32_t i = 0; i < 5; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      const uint32_t code =
          builder_.AddCode(absl::StrCat("/src/", i < 3 ? "main" : "lib", ".py"),
                           name, 10 * (i + 1));
      calls_[i] = builder_.AddSite(CALL, code, 10 * (i + 1));
      returns_[i] = builder_.AddSite(RETURN, code, 10 * (i + 1) + 5);
    }
  }
  RunBuilder& builder() { return builder_; }

  // Each event is a second after the one before, RSS then is `kib`.
  CallRun& Call(char name, uint64_t kib, uint32_t thread = kMain) {
    return Add(calls_[name - 'a'], kib, thread);
  }
  CallRun& Return(char name, uint64_t kib, uint32_t thread = kMain) {
    return Add(returns_[name - 'a'], kib, thread);
  }
  // An event of a function in C, at line 7 of `caller`.
  CallRun& InC(What what, const std::string& function, uint64_t kib,
               char caller = 'a') {
    uint32_t& id = functions_[function];
    if (id == 0) id = builder_.AddFunction(function, "mod");
    const uint32_t code = static_cast<uint32_t>(caller - 'a') + 1;
    return Add(builder_.AddSite(what, code, 7, id), kib, kMain);
  }
  // A RETURN that knows that its CALL was this many events before.
  CallRun& Ended(char name, uint64_t events, int64_t grew_kib,
                 uint32_t thread = kMain) {
    Row row = RowOf(returns_[name - 'a'], 9999, thread);
    row.what = RETURN;
    row.call_events = events;
    row.call_us = events * 1000000;
    row.call_drss = grew_kib * 1024;
    builder_.AddRow(row);
    return *this;
  }
  // The CALL as the event before a logged one.
  CallRun& Context(char name, uint64_t kib, uint32_t thread = kMain) {
    Row row = RowOf(calls_[name - 'a'], kib, thread);
    row.context = true;
    builder_.AddRow(row);
    return *this;
  }
  CallRun& Skip(uint64_t events) {
    number_ += events;
    return *this;
  }
  Printed Report(std::vector<std::string> arguments) {
    if (!std::exchange(ended_, true)) {
      Record footer;
      footer.mutable_footer()->set_end(Footer::EXIT);
      builder_.AddRecord(footer);
      builder_.Flush();
    }
    TempFile file(sink_.contents());
    arguments.insert(arguments.begin() + 1, file.path());
    Printed printed = pymemrun::Report(arguments);
    printed.err = absl::StrReplaceAll(printed.err, {{file.path(), "run.pb"}});
    return printed;
  }

 private:
  Row RowOf(uint32_t site, uint64_t kib, uint32_t thread) {
    Row row = MakeRow(number_, number_ * 1000000, site, kib * 1024, 0);
    row.thread = thread;
    ++number_;
    return row;
  }
  CallRun& Add(uint32_t site, uint64_t kib, uint32_t thread) {
    builder_.AddRow(RowOf(site, kib, thread));
    return *this;
  }

  StringSink sink_;
  RunBuilder builder_;
  bool ended_ = false;
  uint64_t number_ = 0;
  uint32_t calls_[5], returns_[5];
  std::map<std::string, uint32_t> functions_;
};

// a calls b, which calls d twice, while the other thread runs c.
inline CallRun& Busy(CallRun* run) {
  return run->Call('a', 1000)
      .Call('b', 1000)
      .Call('c', 1000, CallRun::kWorker)
      .Call('d', 1100)
      .Return('d', 1400)
      .Call('d', 1400)
      .Return('c', 1600, CallRun::kWorker)
      .Return('d', 1700)
      .Return('b', 1750)
      .Return('a', 1500);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_CALL_RUN_FOR_TESTS_H_
