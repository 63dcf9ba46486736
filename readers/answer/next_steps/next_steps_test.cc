// Commands that come next, of runs whose memory is known.
#include "readers/answer/next_steps/next_steps.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/answer/memory/answer_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Each on a line.
std::string LinesOf(const std::vector<NextCommand>& steps) {
  return absl::StrJoin(steps, "", [](std::string* out, const auto& step) {
    absl::StrAppend(out, absl::StrJoin(step.words, " "), "  # ", step.what,
                    "\n");
  });
}

std::string StepsOf(const AnswerRun& run, const std::string& dump = "") {
  return LinesOf(NextSteps(*Read(run), "run.pb", dump));
}

// Each exits with 0, also where a shell gets it.
TEST(NextStepsTest, OnlyCommandsThatWorkComeNext) {
  for (const bool pages : {true, false}) {
    for (const bool heap : {true, false}) {
      AnswerRun run;
      run.pages = pages;
      run.heap = run.native = heap;
      const TempFile file(run.Build());
      for (const NextCommand& next : NextSteps(*Read(run), file.path(), "")) {
        if (next.words[0] != "pymemreport") continue;
        std::vector<std::string> words(next.words.begin() + 1,
                                       next.words.end());
        for (std::string& word : words) {
          if (absl::EndsWith(word, ".svg")) word = "/dev/null";
        }
        const Printed printed = Report(words);
        EXPECT_EQ(printed.code, 0) << words[0] << ": " << printed.err;
      }
    }
  }
  EXPECT_THAT(LinesOf(NextSteps(*Read({}), "my $runs/a.pb", "")),
              HasSubstr("\npymemreport timeline 'my $runs/a.pb' --by heap "));
}

// What is alive at the end, and what was when it was killed.
TEST(NextStepsTest, TheyFitTheCase) {
  EXPECT_THAT(
      StepsOf({}),
      HasSubstr(
          "pymemrun --python /usr/bin/python3 --trace pages --page-period 1 "
          "--heap all --objects exit job.py "));
  EXPECT_THAT(StepsOf({}), HasSubstr("\npymemobj run.obj.pb suspects "));
  AnswerRun killed;
  killed.end = Footer::SIGNAL;
  EXPECT_THAT(StepsOf(killed), HasSubstr(" heap run.pb --at end --stacks "));
  EXPECT_THAT(StepsOf(killed), Not(HasSubstr("suspects")));
  AnswerRun without;
  without.heap = without.native = false;
  EXPECT_THAT(StepsOf(without),
              HasSubstr("# record which lines allocate, too"));
}

TEST(NextStepsTest, ADumpThatIsThereIsShown) {
  const std::string steps = StepsOf({}, "a b/run.obj-2.pb");
  EXPECT_EQ(steps.find("pymemobj 'a b/run.obj-2.pb' suspects  # "), 0u);
  EXPECT_THAT(steps, Not(HasSubstr("--objects")));
}

// os._exit leaves out what makes a dump at exit.
TEST(NextStepsTest, WhoEndsWithoutFinalizationDumpsAtThePeak) {
  const auto answer = Read({});
  answer->facts.footer->set_finalize(Footer::NOT_FINALIZED);
  answer->facts.header.set_forked(true);
  answer->facts.header.set_pid(12);
  const std::string steps = LinesOf(NextSteps(*answer, "run.12.pb", ""));
  EXPECT_THAT(steps, HasSubstr("--objects peak job.py  # "));
  EXPECT_THAT(steps, HasSubstr("\npymemobj run.*.obj.pb suspects  # "));
}

TEST(NextStepsTest, FilesThatHaveMostAreListed) {
  const auto answer = Read({});
  const auto steps = [&] { return LinesOf(NextSteps(*answer, "run.pb", "")); };
  EXPECT_THAT(steps(), Not(HasSubstr("mapping")));
  answer->peak.split.file_bytes = 41 * kMiB;
  EXPECT_THAT(steps(), HasSubstr("pymemreport resident run.pb --by mapping"));
}

// A default run.
RunFacts Usual() {
  RunFacts facts;
  Header& header = facts.header;
  header.set_page_bytes(kPage);
  header.mutable_filters()->set_min_drss_bytes(kPage);
  header.mutable_filters()->set_context(1);
  for (int kind = What_MIN; kind <= What_MAX; ++kind) {
    header.mutable_filters()->add_kinds(static_cast<What>(kind));
  }
  header.set_page_period(7);
  header.set_heap(HEAP_SAMPLED);
  header.set_heap_native(true);
  header.set_script("job.py");
  return facts;
}

std::string AgainOf(const RunFacts& facts, const std::string& file = "run.pb",
                    absl::string_view dump_at = "") {
  return absl::StrJoin(RunAgain(facts, file, dump_at).words, " ");
}

TEST(RunAgainTest, TheSamePythonRunsTheSameProgram) {
  RunFacts facts = Usual();
  EXPECT_EQ(AgainOf(facts), "pymemrun job.py");
  for (const char* const word :
       {"/venv/bin/python3", "-X", "dev", "-m", "job", "-n", "a b", "$x"}) {
    facts.header.add_argv(word);
  }
  EXPECT_EQ(AgainOf(facts), "pymemrun -X dev -m job -n 'a b' '$x'");
  facts.header.set_python("/my venv/bin/python3");
  EXPECT_EQ(AgainOf(facts),
            "pymemrun --python '/my venv/bin/python3' -X dev -m job -n 'a b' "
            "'$x'");
}

TEST(RunAgainTest, TheSameIsRecorded) {
  RunFacts facts = Usual();
  facts.header.set_heap(HEAP_ALL);
  facts.header.set_heap_native(false);
  facts.header.mutable_filters()->set_min_drss_bytes(0);
  facts.header.mutable_filters()->add_include("*/a b.py");
  EXPECT_EQ(AgainOf(facts),
            "pymemrun --heap all --no-native --min-drss 0 --include "
            "'*/a b.py' job.py");
  RunFacts events = Usual();
  events.header.set_page_period(1);
  Filters& filters = *events.header.mutable_filters();
  filters.set_min_call_drss_bytes(8192);
  filters.set_drss_since_logged(true);
  filters.set_context(0);
  filters.clear_kinds();
  filters.add_kinds(What_MIN);
  filters.add_kinds(static_cast<What>(What_MIN + 1));
  filters.set_stacks(true);  // as it is by itself
  filters.set_paused(true);
  EXPECT_EQ(AgainOf(events),
            "pymemrun --page-period 1 --min-call-drss 8192 --drss-since logged "
            "--context 0 --events call,return --paused job.py");
  RunFacts all = Usual();
  all.header.mutable_filters()->set_min_drss_bytes(0);
  all.header.mutable_filters()->set_stacks(true);
  EXPECT_EQ(AgainOf(all), "pymemrun --min-drss 0 --stacks job.py");
  RunFacts pages = Usual();
  pages.header.set_page_weight(10);
  EXPECT_EQ(AgainOf(pages), "pymemrun --page-period 10 job.py");
  RunFacts light = Usual();
  light.header.set_calls_off(true);
  EXPECT_EQ(AgainOf(light), "pymemrun --trace pages job.py");
  light.header.set_page_period(0);
  light.header.set_page_scan(true);
  EXPECT_EQ(AgainOf(light), "pymemrun --light job.py");
  light.header.set_page_scan(false);
  EXPECT_EQ(AgainOf(light), "pymemrun --trace none job.py");
}

TEST(RunAgainTest, AProgramThatWasReadIsAskedFor) {
  RunFacts facts = Usual();
  facts.header.set_script("<stdin>");
  facts.header.add_argv("python3");
  facts.header.add_argv("-");
  facts.header.add_argv("7");
  EXPECT_EQ(AgainOf(facts), "pymemrun - 7 < SCRIPT");
}

// The run is not replaced, the next one is found, and can be made again.
TEST(RunAgainTest, ANamedRunGetsAnotherName) {
  RunFacts facts = Usual();
  const Again again = RunAgain(facts, "a/job.pb", "exit");
  EXPECT_EQ(absl::StrJoin(again.words, " "),
            "pymemrun --objects exit --output a/job-again.pb --force job.py");
  EXPECT_EQ(again.dump, "a/job-again.obj.pb");
  facts.header.set_forked(true);
  facts.header.set_pid(17);
  EXPECT_EQ(AgainOf(facts, "run.17.pb"), "pymemrun job.py");
  EXPECT_EQ(RunAgain(facts, "run.17.pb", "peak").dump, "run.*.obj.pb");
}

TEST(RunAgainTest, ASpawnedChildIsNotBegunAlone) {
  Header header;
  header.add_argv("python3");
  header.add_argv("-c");
  EXPECT_TRUE(CanRunAgain(header));
  header.add_argv("from multiprocessing.spawn import spawn_main; spawn_main()");
  EXPECT_FALSE(CanRunAgain(header));
}

}  // namespace
}  // namespace pymemrun
