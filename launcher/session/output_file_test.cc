#include "launcher/session/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "format/lock/writer_lock.h"
#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRun[] = "\x28\xb5\x2f\xfd a run";
constexpr char kDump[] = "\x28\xb5\x2f\xfd its dump";
constexpr char kIndex[] = "pymemox1 its index";

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(chdir((folder_ / "").c_str()), 0); }

  // Closes what it makes; returns the path, or empty with error_ set.
  std::string Create(const std::string& pattern, bool force = false,
                     bool numbered = false) {
    OutputRequest request;
    request.pattern = pattern;
    request.numbered = numbered;
    request.force = force;
    request.identity = {42, 1700000000, "job", "a/b"};
    request.name_of = [this](const std::string&) { return name_; };
    std::string path;
    int fd = CreateOutputFile(request, &path, &error_);
    if (fd < 0) return {};
    close(fd);
    return path;
  }

  TestFolder folder_;
  std::string name_;  // what name_of answers
  std::string error_;
};

TEST_F(OutputFileTest, MakesAPrivateFileWhateverTheUmask) {
  mode_t before = umask(0777);
  std::string path = Create("x.pb");
  umask(before);
  EXPECT_EQ(path, folder_ / "x.pb");
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(OutputFileTest, ItsLockSaysThatItIsRecorded) {
  OutputRequest request;
  request.pattern = "x.pb";
  std::string path;
  const int fd = CreateOutputFile(request, &path, &error_);
  ASSERT_GE(fd, 0);
  const int reader = open(path.c_str(), O_RDONLY);
  EXPECT_EQ(WritingOf(reader), Writing::kRecording);
  close(fd);
  EXPECT_EQ(WritingOf(reader), Writing::kNo);
  close(reader);
}

TEST_F(OutputFileTest, ANamedFileIsReplacedOnlyByForce) {
  name_ = "20200102_030405_77";
  folder_.Write("x.pb", kRun);
  EXPECT_EQ(Create("x.pb"), "");
  EXPECT_THAT(error_, HasSubstr("exists already; --force replaces it"));
  EXPECT_EQ(TestFolder::Read(folder_ / "x.pb"), kRun);
  EXPECT_EQ(Create("x.pb", true), folder_ / "x.pb");
  EXPECT_EQ(TestFolder::Read(folder_ / "x.pb"), "");
  EXPECT_EQ(Create("x.pb", true), folder_ / "x.pb");  // empty
}

TEST_F(OutputFileTest, ForceReplacesNothingButRuns) {
  const auto expect_refused = [&](const char* text) {
    for (const char* pattern : {"run.pb", ""}) {  // "": run.pb, too
      EXPECT_EQ(Create(pattern, true), "") << text;
      EXPECT_THAT(error_, HasSubstr("is not a run file; choose another"));
      EXPECT_EQ(TestFolder::Read(folder_ / "run.pb"), text);
    }
    EXPECT_EQ(Create("run.pb"), "");
    EXPECT_THAT(error_, Not(HasSubstr("--force")));
  };
  folder_.Write("run.pb", "theirs");
  expect_refused("theirs");
  // Another zstd file: its header tells no run.
  folder_.Write("run.pb", kRun);
  expect_refused(kRun);
  // A run's file, with other content by now.
  ASSERT_EQ(unlink("run.pb"), 0);
  ASSERT_NE(Create("run.pb"), "");
  folder_.Write("run.pb", "notes");
  EXPECT_EQ(Create("run.pb", true), "");
  EXPECT_EQ(TestFolder::Read(folder_ / "run.pb"), "notes");
}

TEST_F(OutputFileTest, ANumberedFileLeavesOthersAlone) {
  folder_.Write("x.pb", "theirs");
  EXPECT_EQ(Create("x.pb", false, true), folder_ / "x-1.pb");
  EXPECT_EQ(Create("x.pb", false, true), folder_ / "x-2.pb");
  EXPECT_EQ(Create("y.pb", false, true), folder_ / "y.pb");
  EXPECT_EQ(TestFolder::Read(folder_ / "x.pb"), "theirs");
  EXPECT_EQ(Create("nowhere/x.pb", false, true), "");
  EXPECT_THAT(error_, HasSubstr("No such file"));
}

TEST(NameWithTest, ItComesBeforeTheEnding) {
  EXPECT_EQ(NameWith(".7", "/a.b/run.pb"), "/a.b/run.7.pb");
  EXPECT_EQ(NameWith(".7", "/a.b/run"), "/a.b/run.7");
  EXPECT_EQ(NameWith(".7", "/a/.pb"), "/a/.pb.7");
  EXPECT_EQ(NameWith(".7", "run.x.pb"), "run.x.7.pb");
}

TEST_F(OutputFileTest, TheDefaultRenamesAnEarlierRunToItsStart) {
  folder_.Write("run.pb", "earlier");
  name_ = "20200102_030405_77";
  EXPECT_EQ(Create(""), folder_ / "run.pb");
  EXPECT_EQ(TestFolder::Read(folder_ / "old-run.20200102_030405_77.pb"),
            "earlier");
}

TEST_F(OutputFileTest, DumpsGoWhereTheirRunGoes) {
  const std::string old = "old-run.20200102_030405_77";
  name_ = "20200102_030405_77";
  folder_.Write("run.pb", "earlier");
  for (const char* ending :
       {".obj.pb", ".obj-12.pb", ".obj.pb.idx", ".obj-x.pb", ".77.obj.pb"}) {
    folder_.Write(std::string("run") + ending,
                  std::string(ending).ends_with(".idx") ? kIndex : kDump);
  }
  folder_.Write("run.obj-7.pb", "notes");
  ASSERT_NE(Create(""), "") << error_;
  for (const char* ending : {".obj.pb", ".obj-12.pb", ".obj.pb.idx"}) {
    EXPECT_EQ(TestFolder::Read(folder_ / (old + ending)),
              std::string(ending).ends_with(".idx") ? kIndex : kDump);
    EXPECT_FALSE(
        std::filesystem::exists(folder_ / (std::string("run") + ending)));
  }
  // A dump of no run, one of a child's, and no dump.
  EXPECT_EQ(TestFolder::Read(folder_ / "run.obj-x.pb"), kDump);
  EXPECT_EQ(TestFolder::Read(folder_ / "run.77.obj.pb"), kDump);
  EXPECT_EQ(TestFolder::Read(folder_ / "run.obj-7.pb"), "notes");
}

TEST_F(OutputFileTest, DumpsOfAReplacedRunGoWithIt) {
  folder_.Write("x.pb", kRun);
  folder_.Write("x.obj.pb", kDump);
  folder_.Write("x.obj-1.pb.idx", kIndex);
  folder_.Write("xy.obj.pb", kDump);
  name_ = "20200102_030405_77";
  EXPECT_EQ(Create("x.pb"), "");
  EXPECT_EQ(TestFolder::Read(folder_ / "x.obj.pb"), kDump);
  EXPECT_EQ(Create("x.pb", true), folder_ / "x.pb");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.obj.pb"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.obj-1.pb.idx"));
  EXPECT_EQ(TestFolder::Read(folder_ / "xy.obj.pb"), kDump);
}

TEST_F(OutputFileTest, ForceLeavesFilesThatAreNoDumps) {
  const char* const names[] = {"x.obj.pb", "x.obj-1.pb", "x.obj.pb.idx",
                               "x.obj-2.pb"};
  folder_.Write("x.pb", kRun);
  for (const char* name : names) folder_.Write(name, "notes");
  folder_.Write("x.obj-3.pb", "");
  mkdir("x.obj-4.pb", 0700);
  name_ = "20200102_030405_77";
  ASSERT_EQ(Create("x.pb", true), folder_ / "x.pb");
  for (const char* name : names) {
    EXPECT_EQ(TestFolder::Read(folder_ / name), "notes") << name;
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "x.obj-3.pb"));
  // A zstd file without the header of a run. What is replaced is empty.
  folder_.Write("x.obj.pb", kDump);
  name_ = "";
  ASSERT_EQ(Create("x.pb", true), folder_ / "x.pb");
  EXPECT_EQ(TestFolder::Read(folder_ / "x.obj.pb"), kDump);
}

TEST_F(OutputFileTest, TwoCopiesOfOneRunAreBothKept) {
  name_ = "20200102_030405_77";
  folder_.Write("run.pb", "second");
  folder_.Write("old-run.20200102_030405_77.pb", "first");
  EXPECT_EQ(Create(""), folder_ / "run.pb");
  EXPECT_EQ(TestFolder::Read(folder_ / "old-run.20200102_030405_77.pb"),
            "first");
  EXPECT_EQ(TestFolder::Read(folder_ / "old-run.20200102_030405_77-1.pb"),
            "second");
}

TEST_F(OutputFileTest, AnEmptyEarlierRunIsKeptToo) {
  ASSERT_NE(Create(""), "");
  ASSERT_NE(Create(""), "") << error_;
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "")) {
    kept += entry.path().filename().string().starts_with("old-run.");
  }
  EXPECT_EQ(kept, 1);
}

TEST_F(OutputFileTest, AStrangersFileIsNotDestroyed) {
  folder_.Write("run.pb", "precious");
  for (const char* answer : {"", "../../etc/passwd", "20200102_030405_", "x"}) {
    name_ = answer;
    EXPECT_EQ(Create(""), "");
    EXPECT_THAT(error_, HasSubstr("is not a run file"));
    EXPECT_EQ(TestFolder::Read(folder_ / "run.pb"), "precious");
  }
}

// As another user meets a run file of root's: the folder is not his either.
TEST_F(OutputFileTest, AFileThatCannotBeReadIsSaidToBeSo) {
  folder_.Write("run.pb", "theirs", 0);
  chmod((folder_ / "").c_str(), 0555);
  const bool root = geteuid() == 0;
  ASSERT_TRUE(!root || seteuid(65534) == 0);
  struct stat status;
  if (stat((folder_ / "").c_str(), &status) != 0) {
    ASSERT_EQ(seteuid(0), 0);
    GTEST_SKIP() << "only root may enter " << (folder_ / "");
  }
  const std::string made = Create("");
  const std::string said = error_;
  const std::string forced = Create("", true);
  ASSERT_TRUE(!root || seteuid(0) == 0);
  chmod((folder_ / "").c_str(), 0755);
  EXPECT_EQ(made, "");
  EXPECT_EQ(said, (folder_ / "run.pb") +
                      " exists and cannot be read: Permission denied; choose "
                      "another with -o PATH");
  EXPECT_EQ(forced, "");
  EXPECT_EQ(error_, said);
}

TEST_F(OutputFileTest, OnlyRegularFilesAreEverReplaced) {
  mkfifo("fifo", 0600);
  mkdir("dir", 0700);
  folder_.Write("target", "theirs");
  ASSERT_EQ(symlink("target", "link"), 0);
  ASSERT_EQ(symlink("missing", "dangling"), 0);
  for (const char* name : {"fifo", "dir", "link", "dangling", "/dev/null"}) {
    EXPECT_EQ(Create(name, true), "") << name;
    EXPECT_THAT(error_, HasSubstr("not a regular file"));
  }
  EXPECT_EQ(TestFolder::Read(folder_ / "target"), "theirs");
}

// Nothing can be created: then what is there is not of this run.
TEST_F(OutputFileTest, WithoutDescriptorsAnEarlierFileIsNamed) {
  for (const bool is_there : {false, true}) {
    if (is_there) folder_.Write("run.pb", kRun);
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_EQ(Create(""), "");
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(error_,
              "cannot create " + (folder_ / "run.pb") +
                  ": Too many open files (ulimit -n)" +
                  (is_there ? "; the file there is an earlier one" : ""));
  }
}

TEST_F(OutputFileTest, AMissingFolderIsNamedWithTheReason) {
  EXPECT_EQ(Create("no/x.pb"), "");
  EXPECT_EQ(error_, "cannot create " + (folder_ / "no/x.pb") +
                        ": No such file or directory");
}

TEST(ExpandOutputNameTest, FourFieldsAndNothingElse) {
  RunIdentity identity = {42, 1700000000, "job", "a/b"};
  EXPECT_EQ(ExpandOutputName("{name}-{pid}.{host}{x}{", identity),
            "job-42.a_b{x}{");
  EXPECT_EQ(ExpandOutputName("{time}", identity),
            StartName(1700000000, 1).substr(0, 15));
}

TEST(ProgramNameTest, IsAFileNameWithoutEnding) {
  EXPECT_EQ(ProgramName("/a/b/job.py"), "job");
  EXPECT_EQ(ProgramName("dir/"), "dir");
  EXPECT_EQ(ProgramName("a.b.pyz"), "a.b");
  EXPECT_EQ(ProgramName(".py"), ".py");
  EXPECT_EQ(ProgramName("."), "program");
  EXPECT_EQ(ProgramName("/"), "program");
}

}  // namespace
}  // namespace pymemrun
