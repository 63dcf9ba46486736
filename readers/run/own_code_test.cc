#include "readers/run/own_code.h"

#include "gtest/gtest.h"
#include "readers/run/run_index.h"

namespace pymemrun {
namespace {

TEST(OwnCodeTest, LibrariesAreKnownByTheirFolders) {
  for (const char* file :
       {"/usr/lib/python3.11/json/decoder.py",
        "/usr/lib/python3/dist-packages/numpy/core/numeric.py",
        "/opt/py/lib/python3.13t/threading.py",
        "/usr/lib64/python3.12/re/_parser.py",
        "/venv/lib/python3.11/site-packages/pandas/io/parsers.py",
        "<frozen importlib._bootstrap>", "<__array_function__ internals>",
        "<attrs generated init app.Job>", "<decorator-gen-5>", ""}) {
    EXPECT_EQ(OwnCode::KindOf(file), OwnCode::kLibrary) << file;
  }
  for (const char* file :
       {"/job.py", "job.py", "/srv/python/app.py", "/srv/python3.11/app.py",
        "/home/lib/pythonista/app.py", "/srv/lib/python-tools/app.py"}) {
    EXPECT_EQ(OwnCode::KindOf(file), OwnCode::kOwn) << file;
  }
  for (const char* file :
       {"<string>", "<stdin>", "<dynamic-code>", "<lambdifygenerated-1>",
        "<ipython-input-3-0a1b2c>", "<job>"}) {
    EXPECT_EQ(OwnCode::KindOf(file), OwnCode::kText) << file;
  }
}

TEST(OwnCodeTest, StartsOfInstalledCommandsAreNotOwn) {
  for (const char* file :
       {"/venv/bin/pytest", "/usr/local/bin/gunicorn", "/usr/bin/celery"}) {
    EXPECT_EQ(OwnCode::KindOf(file, "<module>"), OwnCode::kLibrary) << file;
    // A program that has functions is more than the start of one.
    EXPECT_EQ(OwnCode::KindOf(file, "load"), OwnCode::kOwn) << file;
  }
  for (const char* file : {"/srv/bin/job.py", "/srv/cabin/job", "job", "bin"}) {
    EXPECT_EQ(OwnCode::KindOf(file, "<module>"), OwnCode::kOwn) << file;
  }
}

TEST(OwnCodeTest, PackagesAreNamed) {
  EXPECT_EQ(
      OwnCode::PackageOf("/v/lib/python3.11/site-packages/pandas/io/a.py"),
      "pandas");
  EXPECT_EQ(OwnCode::PackageOf("/v/lib/python3.11/site-packages/six.py"),
            "six");
  EXPECT_EQ(OwnCode::PackageOf("/usr/lib/python3.11/json/decoder.py"), "json");
  EXPECT_EQ(OwnCode::PackageOf("/usr/lib/python3.11/re.py"), "re");
  EXPECT_EQ(OwnCode::PackageOf("/job.py"), "");
}

TEST(OwnCodeTest, PatternsTakeTheRulesPlace) {
  OwnCode::SetPatterns({"*/json/*", "/srv/*"});
  EXPECT_EQ(OwnCode::KindOf("/usr/lib/python3.11/json/decoder.py"),
            OwnCode::kOwn);
  EXPECT_EQ(OwnCode::KindOf("/srv/app.py"), OwnCode::kOwn);
  EXPECT_EQ(OwnCode::KindOf("/job.py"), OwnCode::kLibrary);
  EXPECT_EQ(OwnCode::KindOf("<string>"), OwnCode::kLibrary);
  OwnCode::SetPatterns({});
  EXPECT_EQ(OwnCode::KindOf("/job.py"), OwnCode::kOwn);
}

TEST(OwnCodeTest, PatternsAreOfLastPartsToo) {
  OwnCode::SetPatterns({"app/job.py"});
  EXPECT_EQ(OwnCode::KindOf("/srv/app/job.py"), OwnCode::kOwn);
  EXPECT_EQ(OwnCode::KindOf("/srv/myapp/job.py"), OwnCode::kLibrary);
  OwnCode::SetPatterns({});
}

TEST(OwnCodeTest, KnowsThatNothingMatched) {
  EXPECT_FALSE(OwnCode::NoneMatched()) << "there are no patterns";
  OwnCode::SetPatterns({"job.py"});
  EXPECT_EQ(OwnCode::KindOf("/srv/app.py"), OwnCode::kLibrary);
  EXPECT_TRUE(OwnCode::NoneMatched());
  EXPECT_EQ(OwnCode::KindOf("/srv/job.py"), OwnCode::kOwn);
  EXPECT_FALSE(OwnCode::NoneMatched());
  OwnCode::SetPatterns({});
}

// Ids from 1 in the order of the calls.
class OwnStackTest : public testing::Test {
 protected:
  uint32_t Frame(uint32_t parent, const char* file, const char* name = "f",
                 const char* module = "__main__") {
    CodeDef code;
    code.set_id(++last_);
    code.set_file(file);
    code.set_name(name);
    code.set_module(module);
    index_.Add(code);
    StackDef node;
    node.set_id(last_);
    node.set_parent(parent);
    node.set_code(last_);
    node.set_line(10 * last_);
    index_.Add(node);
    return last_;
  }
  RunIndex index_;
  uint32_t last_ = 0;
};

TEST_F(OwnStackTest, TheInnermostOwnFrameCounts) {
  const uint32_t start = Frame(0, "<frozen runpy>");
  const uint32_t main = Frame(start, "/job.py");
  const uint32_t read = Frame(main, "/usr/lib/python3.11/csv.py");
  const uint32_t back = Frame(read, "/job.py");
  const uint32_t made = Frame(back, "<string>");
  EXPECT_EQ(index_.OwnStack(made), back);
  EXPECT_EQ(index_.OwnStack(back), back);
  EXPECT_EQ(index_.OwnStack(read), main);
  EXPECT_EQ(index_.OwnStack(start), 0u);
  EXPECT_EQ(index_.OwnStack(99), 0u);
}

TEST_F(OwnStackTest, WhatIsImportedForAnOwnFrameIsTold) {
  const uint32_t main = Frame(0, "/job.py");
  const uint32_t loads = Frame(main, "<frozen importlib._bootstrap>");
  const uint32_t library = Frame(loads, "/usr/lib/python3.11/csv.py");
  const uint32_t own = Frame(loads, "/other.py");
  EXPECT_FALSE(index_.Imports(main));
  EXPECT_TRUE(index_.Imports(loads));
  EXPECT_TRUE(index_.Imports(library));
  EXPECT_FALSE(index_.Imports(own));
  EXPECT_FALSE(index_.Imports(99));
}

TEST_F(OwnStackTest, CodeOfAStringIsOwnWhereNoFileIs) {
  const uint32_t text = Frame(0, "<string>");
  const uint32_t read = Frame(text, "/usr/lib/python3.11/csv.py");
  EXPECT_EQ(index_.OwnStack(read), text);
}

TEST_F(OwnStackTest, TheInnermostTextCounts) {
  const uint32_t main = Frame(0, "<string>", "<module>");
  const uint32_t load = Frame(main, "<string>", "load");
  const uint32_t init = Frame(load, "<string>", "__init__");
  EXPECT_EQ(index_.OwnStack(load), load);
  EXPECT_EQ(index_.OwnStack(init), load) << "a dataclass has generated it";
}

TEST_F(OwnStackTest, TextOfALibraryIsItsOwn) {
  const char* const kFile = "/venv/lib/python3.11/site-packages/lib/a.py";
  const uint32_t worker = Frame(0, kFile, "run", "lib.a");
  const uint32_t made = Frame(worker, "<made>", "f", "lib.a");
  EXPECT_EQ(index_.OwnStack(made), 0u);
  const uint32_t job = Frame(worker, "<dynamic-code>", "work", "");
  EXPECT_EQ(index_.OwnStack(job), job);
}

}  // namespace
}  // namespace pymemrun
