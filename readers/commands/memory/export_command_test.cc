#include <zlib.h>

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/export/profiles/heap_formats.h"
#include "readers/pprof.pb.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::string Exported(const HeapRun& run, std::vector<std::string> options) {
  TempFile file(run.Build());
  options.insert(options.begin(), {"export", file.path()});
  const Printed printed = RunProgram("pymemreport", [&](const Console& c) {
    return RunPymemreport(options, c);
  });
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed.out;
}

std::string Unzipped(const std::string& bytes) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

pprof::Profile Profile(const HeapRun& run, std::vector<std::string> options) {
  pprof::Profile profile;
  EXPECT_TRUE(profile.ParseFromString(Unzipped(Exported(run, options))));
  return profile;
}

// The innermost frame as "function:line" and the values.
std::map<std::string, std::vector<int64_t>> Samples(
    const pprof::Profile& profile) {
  std::map<std::string, std::vector<int64_t>> samples;
  for (const pprof::Sample& sample : profile.samples()) {
    const auto& line =
        profile.locations(static_cast<int>(sample.locations(0)) - 1).lines(0);
    const auto& function =
        profile.functions(static_cast<int>(line.function()) - 1);
    const std::string name = profile.strings(static_cast<int>(function.name()));
    samples[name + ":" + std::to_string(line.line())] = {
        sample.values().begin(), sample.values().end()};
  }
  return samples;
}

TEST(HeapExportTest, PprofHasAllocatedAndLive) {
  const pprof::Profile profile = Profile({}, {});
  std::vector<std::string> types;
  for (const pprof::Value& value : profile.value_types()) {
    types.push_back(profile.strings(static_cast<int>(value.type())) + "/" +
                    profile.strings(static_cast<int>(value.unit())));
  }
  EXPECT_THAT(types, ElementsAre("alloc_objects/count", "alloc_space/bytes",
                                 "inuse_objects/count", "inuse_space/bytes"));
  EXPECT_EQ(profile.strings(static_cast<int>(profile.default_value_type())),
            "inuse_space");
  EXPECT_EQ(profile.strings(0), "");
  auto samples = Samples(profile);
  EXPECT_EQ(samples.size(), 4u);
  EXPECT_THAT(samples["load:5"], ElementsAre(13, 1048, 10, 1000));
  EXPECT_THAT(samples["load:6"], ElementsAre(5, 5000, 5, 5000));
}

TEST(HeapExportTest, PprofAtAMoment) {
  auto samples = Samples(Profile({}, {"--at", "0.001003"}));
  EXPECT_EQ(samples.size(), 1u);
  EXPECT_THAT(samples["load:5"], ElementsAre(4, 400, 4, 400));
  samples = Samples(Profile({}, {"--at", "exit", "--format", "pprof"}));
  EXPECT_THAT(samples["load:6"], ElementsAre(5, 5000, 1, 1000));
}

TEST(HeapExportTest, PprofFramesAreInnermostFirst) {
  const pprof::Profile profile = Profile({}, {});
  const pprof::Sample& sample = profile.samples(0);
  ASSERT_EQ(sample.locations_size(), 2);
  const auto& outer =
      profile.locations(static_cast<int>(sample.locations(1)) - 1);
  EXPECT_EQ(outer.lines(0).line(), 9);
  const auto& function =
      profile.functions(static_cast<int>(outer.lines(0).function()) - 1);
  EXPECT_EQ(profile.strings(static_cast<int>(function.name())), "<module>");
  EXPECT_NE(function.system_name(), function.name());
  EXPECT_EQ(profile.strings(static_cast<int>(function.file())), "/job.py");
  EXPECT_EQ(function.first_line(), 1);
  ASSERT_EQ(sample.labels_size(), 2);
  EXPECT_EQ(profile.strings(static_cast<int>(sample.labels(0).text())),
            "MainThread#4711");
}

// Live bytes by the name of the innermost function.
std::map<std::string, int64_t> LiveByName(const pprof::Profile& profile) {
  std::map<std::string, int64_t> live;
  for (const pprof::Sample& sample : profile.samples()) {
    const auto& line =
        profile.locations(static_cast<int>(sample.locations(0)) - 1).lines(0);
    const auto& function =
        profile.functions(static_cast<int>(line.function()) - 1);
    live[profile.strings(static_cast<int>(function.name()))] +=
        sample.values(3);
  }
  return live;
}

TEST(HeapExportTest, PprofFunctionsHaveNamesThatTellThemApart) {
  struct Function {
    std::string file, name, qualname;
    uint32_t first_line;
  };
  const std::vector<Function> functions = {
      {"/a/job.py", "load", "load", 3},
      {"/a/job.py", "__init__", "Well.__init__", 10},
      {"/a/job.py", "__init__", "Log.__init__", 20},
      {"/a/job.py", "make", "make", 30},
      {"/a/page.py", "make", "make", 30},
      {"/a/x.py", "run", "run", 1},
      {"/b/x.py", "run", "run", 1},
  };
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  uint32_t stack = 0;
  for (const Function& function : functions) {
    Record record;
    CodeDef* code = record.mutable_code();
    code->set_id(++stack);
    code->set_file(function.file);
    code->set_name(function.name);
    code->set_qualname(function.qualname);
    code->set_first_line(function.first_line);
    builder.AddRecord(record);
    builder.AddStack(0, stack, function.first_line + 1);
    builder.AddHeap({AllocEvent(1000, 0x1000 * stack, stack, stack)});
  }
  builder.Flush();
  TempFile file(sink.contents());
  const Printed printed = RunProgram("pymemreport", [&](const Console& c) {
    return RunPymemreport({"export", file.path()}, c);
  });
  pprof::Profile profile;
  ASSERT_TRUE(profile.ParseFromString(Unzipped(printed.out)));
  EXPECT_THAT(
      LiveByName(profile),
      UnorderedElementsAre(
          Pair("load", 1), Pair("Well.__init__", 2), Pair("Log.__init__", 3),
          Pair("make (job.py:30)", 4), Pair("make (page.py:30)", 5),
          Pair("run (/a/x.py:1)", 6), Pair("run (/b/x.py:1)", 7)));
}

TEST(HeapExportTest, Speedscope) {
  const auto json =
      nlohmann::json::parse(Exported({}, {"--format", "speedscope"}));
  EXPECT_EQ(json["$schema"],
            "https://www.speedscope.app/file-format-schema.json");
  const auto& profile = json["profiles"][0];
  EXPECT_EQ(profile["type"], "sampled");
  EXPECT_EQ(profile["unit"], "bytes");
  EXPECT_EQ(profile["endValue"], 6120);
  ASSERT_EQ(profile["samples"].size(), 4u);
  uint64_t sum = 0;
  for (const auto& weight : profile["weights"]) sum += weight.get<uint64_t>();
  EXPECT_EQ(sum, 6120u);
  const auto& frames = json["shared"]["frames"];
  EXPECT_EQ(frames[profile["samples"][0][0].get<size_t>()]["name"], "<module>");
  const auto& inner = frames[profile["samples"][0][1].get<size_t>()];
  EXPECT_EQ(inner["name"], "load");
  EXPECT_EQ(inner["line"], 5);
  EXPECT_EQ(inner["file"], "/job.py");
}

TEST(HeapExportTest, Collapsed) {
  EXPECT_EQ(Exported({}, {"--format", "collapsed", "--at", "exit"}),
            "<module> (/job.py:9);load (/job.py:5) 1000\n"
            "<module> (/job.py:9);load (/job.py:6) 1000\n"
            "_find (<frozen importlib._bootstrap>:101) 70\n"
            "<interpreter> 50\n");
}

TEST(HeapExportTest, DotHasFunctionsAndWhoCallsThem) {
  const std::string dot = Exported({}, {"--format", "dot", "--at", "exit"});
  EXPECT_THAT(dot, StartsWith("digraph live_bytes {\n"));
  EXPECT_THAT(dot, HasSubstr("label=\"<module>\\njob.py:1\\n2.0 KiB (94 %), "
                             "itself 0 bytes\""));
  EXPECT_THAT(dot, HasSubstr("\\n2.0 KiB (94 %), itself 2.0 KiB\""));
  EXPECT_THAT(dot, HasSubstr("  f0 -> f1 [label=\"2.0 KiB\", penwidth="));
  HeapRun hostile;
  hostile.load = "a\"; \\b";
  EXPECT_THAT(Exported(hostile, {"--format", "dot"}),
              HasSubstr("label=\"a\\\"; \\\\"));
}

TEST(GzippedTest, PiecesMakeOneFile) {
  std::string bytes;
  for (uint32_t i = 0; i < 200000; ++i) {
    bytes += static_cast<char>((i * i) >> 7);
  }
  const std::string whole = Gzipped(bytes);
  EXPECT_EQ(Unzipped(whole), bytes);
  for (const size_t piece : {size_t{7}, size_t{1000}, bytes.size()}) {
    EXPECT_EQ(Unzipped(Gzipped(bytes, piece)), bytes) << piece;
  }
  EXPECT_EQ(Unzipped(Gzipped("")), "");
}

TEST(HeapExportTest, NamesOfAnyKindStayReadable) {
  HeapRun run;
  run.load = std::string("\xff\x00\"]}", 5);
  const auto json =
      nlohmann::json::parse(Exported(run, {"--format", "speedscope"}));
  EXPECT_EQ(json["shared"]["frames"].size(), 5u);
  EXPECT_EQ(Samples(Profile(run, {})).size(), 4u);
}

TEST(HeapExportTest, AnUnknownFormatIsRefused) {
  const Printed printed = RunProgram("pymemreport", [&](const Console& c) {
    return RunPymemreport({"export", "x", "--format", "png"}, c);
  });
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(
      printed.err,
      testing::HasSubstr("--format: expected pprof, collapsed, "
                         "speedscope, dot, perfetto or chrome, found 'png'"));
}

}  // namespace
}  // namespace pymemrun
