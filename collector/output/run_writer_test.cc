#include "collector/output/run_writer.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

#include "format/records/record_visitor.h"
#include "format/stream/frame_index.h"

namespace pymemrun {
namespace {

class RunWriterTest : public testing::Test {
 protected:
  RunWriterTest() {
    char path[] = "/tmp/run_writer_test_XXXXXX";
    fd_ = mkstemp(path);
    unlink(path);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
  }
  ~RunWriterTest() override {
    Limit(before_.rlim_cur);
    close(fd_);
  }
  void Limit(rlim_t bytes) {
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  // A record that does not compress, said to hold 10 rows, 3 of them context,
  // 7 heap events and 2 page events.
  static void WriteBulk(RunWriter* writer) {
    Record record;
    std::string* label = record.mutable_mark()->mutable_label();
    for (int i = 0; i < 300000; ++i)
      label->push_back(static_cast<char>(rand()));
    writer->Write(record.SerializeAsString(), {10, 3, 7, 2});
  }
  // The same of a record that has only what later ones do not need.
  static void WriteRows(RunWriter* writer) {
    Record record;
    Residency* const residency = record.mutable_residency();
    residency->add_mapping_at(0);
    residency->add_mapping(0);
    for (int i = 0; i < 100000; ++i) {
      residency->add_gap_pages(static_cast<uint64_t>(rand()) % 4096 + 1);
      residency->add_pages(1);
    }
    writer->Write(record.SerializeAsString(), {10, 3, 7, 2});
  }
  static void WriteName(RunWriter* writer, uint32_t id) {
    Record record;
    record.mutable_function()->set_id(id);
    writer->Write(record);
  }
  static void WriteHeader(RunWriter* writer) {
    Record record;
    record.mutable_header()->set_format_version(1);
    writer->Write(record);
    writer->Flush();
  }
  ReadResult Read() {
    lseek(fd_, 0, SEEK_SET);
    FdSource source(fd_);
    RecordVisitor visitor;
    ReadResult result;
    EXPECT_TRUE(ReadStream(&source, {}, &visitor, &result).ok());
    EXPECT_EQ(result.damages, 0u);
    EXPECT_FALSE(result.torn);
    return result;
  }
  static Record FooterRecord() {
    Record record;
    record.mutable_footer()->set_events(1);
    return record;
  }

  int fd_;
  rlimit before_;
};

TEST_F(RunWriterTest, RowsAreSafeOnceTheirFrameIsWritten) {
  RunWriter writer(
      fd_, 1, [] {}, [](uint64_t) {});
  WriteHeader(&writer);
  for (int i = 0; i < 5; ++i) WriteBulk(&writer);
  EXPECT_LT(writer.written().rows, 50u);
  writer.WriteFooter(FooterRecord());
  EXPECT_EQ(writer.written().rows, 50u);
  EXPECT_EQ(writer.lost().rows, 0u);
  EXPECT_EQ(writer.file_bytes(),
            static_cast<uint64_t>(lseek(fd_, 0, SEEK_END)));
  EXPECT_EQ(Read().records, 7u);
}

TEST_F(RunWriterTest, AnIndexOfFramesStandsBehindTheFooter) {
  RunWriter writer(
      fd_, 1, [] {}, [](uint64_t) {});
  WriteHeader(&writer);
  for (int i = 0; i < 5; ++i) WriteBulk(&writer);
  writer.WriteFooter(FooterRecord());
  FdSource source(fd_);
  const auto spans = ReadFrameIndex(&source, writer.file_bytes());
  ASSERT_TRUE(spans.ok() && spans->has_value());
  EXPECT_GE((*spans)->size(), 3u);
}

TEST_F(RunWriterTest, NoRoomForTheIndexIsNoLoss) {
  uint64_t whole_bytes;
  {
    RunWriter writer(
        fd_, 1, [] {}, [](uint64_t) {});
    WriteHeader(&writer);
    writer.WriteFooter(FooterRecord());
    whole_bytes = writer.file_bytes();
  }
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  lseek(fd_, 0, SEEK_SET);
  Limit(whole_bytes - 1);
  RunWriter writer(
      fd_, 1, [] {}, [](uint64_t) {});
  WriteHeader(&writer);
  writer.WriteFooter(FooterRecord());
  EXPECT_EQ(writer.write_errno(), 0);
  EXPECT_LT(writer.file_bytes(), whole_bytes - 1);
  EXPECT_EQ(writer.file_bytes(),
            static_cast<uint64_t>(lseek(fd_, 0, SEEK_END)));
  EXPECT_TRUE(Read().has_footer);
}

TEST_F(RunWriterTest, AFullDiskLeavesWholeFramesAndCountsTheRest) {
  RunWriter writer(
      fd_, 1, [] {}, [](uint64_t) {});
  WriteHeader(&writer);
  Limit(1500000);
  for (int i = 0; i < 20; ++i) WriteBulk(&writer);
  writer.Settle();
  EXPECT_EQ(writer.write_errno(), EFBIG);
  EXPECT_EQ(writer.written().rows + writer.lost().rows, 200u);
  EXPECT_GT(writer.written().rows, 0u);
  EXPECT_EQ(writer.written().context, writer.written().rows / 10 * 3);
  EXPECT_EQ(writer.lost().heap_events, writer.lost().rows / 10 * 7);
  EXPECT_EQ(writer.lost().page_events, writer.lost().rows / 10 * 2);
  EXPECT_EQ(writer.file_bytes(),
            static_cast<uint64_t>(lseek(fd_, 0, SEEK_END)));
  EXPECT_FALSE(Read().has_footer);
}

TEST_F(RunWriterTest, AFirstWriteThatFailsForATimeLosesNothing) {
  Limit(0);
  RunWriter writer(
      fd_, 1, [] {}, [](uint64_t) {});
  WriteHeader(&writer);
  for (int i = 0; i < 5; ++i) WriteBulk(&writer);
  usleep(150000);
  EXPECT_EQ(lseek(fd_, 0, SEEK_END), 0);
  Limit(before_.rlim_cur);
  writer.WriteFooter(FooterRecord());
  EXPECT_EQ(writer.written().rows, 50u);
  EXPECT_EQ(writer.lost().rows, 0u);
  EXPECT_EQ(writer.write_errno(), 0);
  EXPECT_EQ(Read().records, 7u);
  FdSource source(fd_);
  EXPECT_TRUE(ReadFrameIndex(&source, writer.file_bytes())->has_value());
}

struct Losses final : RecordVisitor {
  void OnLoss(const Loss& record) override { rows += record.rows(); }
  void OnHeapLoss(const HeapLoss& record) override { heap += record.events(); }
  void OnPageLoss(const PageLoss& record) override {
    pages += record.samples();
  }
  void OnFunction(const FunctionDef&) override { ++functions; }
  void OnResidency(const ResidencyView&) override { ++records; }
  uint64_t rows = 0, heap = 0, pages = 0, functions = 0, records = 0;
};

TEST_F(RunWriterTest, WhileTheDiskIsFullRowsAreDroppedAndNamesKept) {
  RunWriter writer(
      fd_, 1, [] {}, [](uint64_t) {});
  WriteHeader(&writer);
  Limit(1 << 20);
  uint32_t names = 0, batches = 0;
  const auto write = [&] {
    WriteRows(&writer);
    WriteName(&writer, ++names);
    ++batches;
  };
  while (writer.dropped().rows < 200 && batches < 2000) write();
  EXPECT_EQ(writer.dropped().rows, 200u);
  Limit(before_.rlim_cur);
  // What comes after the disk has taken frames again is written.
  uint64_t dropped;
  do {
    usleep(10000);
    dropped = writer.dropped().rows;
    write();
  } while (writer.dropped().rows != dropped && batches < 4000);
  writer.WriteFooter(FooterRecord());
  EXPECT_EQ(writer.written().rows + writer.lost().rows, batches * 10u);
  EXPECT_EQ(writer.write_errno(), EFBIG);
  EXPECT_FALSE(writer.lost_frames());
  Losses found;
  lseek(fd_, 0, SEEK_SET);
  FdSource source(fd_);
  ReadResult result;
  ASSERT_TRUE(ReadStream(&source, {}, &found, &result).ok());
  EXPECT_EQ(result.damages, 0u);
  EXPECT_TRUE(result.has_footer);
  EXPECT_EQ(found.functions, names);
  EXPECT_EQ(found.records * 10, writer.written().rows);
  EXPECT_EQ(found.rows, writer.lost().rows);
  EXPECT_EQ(found.heap, writer.lost().heap_events);
  EXPECT_EQ(found.pages, writer.lost().page_events);
}

TEST_F(RunWriterTest, TheFooterIsWrittenWhenRoomCameBack) {
  RunWriter writer(
      fd_, 1, [] {}, [](uint64_t) {});
  WriteHeader(&writer);
  Limit(500000);
  for (int i = 0; i < 10; ++i) WriteBulk(&writer);
  writer.Settle();
  EXPECT_EQ(writer.write_errno(), EFBIG);
  Limit(before_.rlim_cur);
  writer.WriteFooter(FooterRecord());
  EXPECT_TRUE(Read().has_footer);
  EXPECT_EQ(writer.file_bytes(),
            static_cast<uint64_t>(lseek(fd_, 0, SEEK_END)));
}

}  // namespace
}  // namespace pymemrun
