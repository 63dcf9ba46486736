#include "format/stream/stream_reader.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "format/stream/stream_for_tests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// For frames that our own writer never writes.
#include <zstd.h>

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Result = StreamReader::Result;

// A frame of these records' bytes, delimited or not as they are.
std::string RawFrame(const std::string& content, int window_log = 0,
                     bool checksum = true, bool content_size = true) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, content_size);
  std::string frame(ZSTD_compressBound(content.size()) + 64, '\0');
  ZSTD_inBuffer in = {content.data(), content.size(), 0};
  ZSTD_outBuffer out = {&frame[0], frame.size(), 0};
  if (window_log == 0) ZSTD_CCtx_setPledgedSrcSize(context, content.size());
  // Flushed first, so that zstd cannot know how little there is.
  if (window_log != 0) {
    while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush) != 0) {
    }
  }
  while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) != 0) {
  }
  frame.resize(out.pos);
  ZSTD_freeCCtx(context);
  return frame;
}

std::string Skippable(const std::string& content) {
  std::string frame("\x50\x2A\x4D\x18", 4);
  for (int i = 0; i < 4; ++i) frame.push_back(char(content.size() >> (8 * i)));
  return frame + content;
}

// All that a file gives, one line a result.
std::vector<std::string> ReadAll(StreamReader* reader) {
  std::vector<std::string> lines;
  absl::string_view record;
  for (;;) {
    const Result result = reader->Next(&record);
    const StreamReader::Damage& damage = reader->damage();
    switch (result) {
      case Result::kRecord:
        lines.emplace_back(record.substr(0, 20));
        break;
      case Result::kDamage:
        lines.push_back(absl::StrCat("DAMAGE ", damage.offset, "+",
                                     damage.bytes_lost, " ",
                                     damage.status.message()));
        break;
      case Result::kTorn:
        lines.push_back(absl::StrCat("TORN ", damage.offset));
        return lines;
      case Result::kEnd:
        lines.push_back("END");
        return lines;
    }
  }
}

std::vector<std::string> ReadAll(const std::string& file,
                                 StreamReader::Options options = {}) {
  StringSource source(file);
  return ReadAll(StreamReader::Create(&source, options).get());
}

const std::string& A() {
  static const auto* frame = new std::string(RawFrame("\1a\2bc"));
  return *frame;
}
const std::string& B() {
  static const auto* frame = new std::string(RawFrame("\3xyz"));
  return *frame;
}

TEST(StreamReader, ConcatenatedFramesAndSkippableOnes) {
  EXPECT_THAT(ReadAll(A() + B()), ElementsAre("a", "bc", "xyz", "END"));
  EXPECT_THAT(ReadAll(Skippable("index") + A() + Skippable("") +
                      Skippable(A()) + B() + Skippable("end")),
              ElementsAre("a", "bc", "xyz", "END"));
}

TEST(StreamReader, EmptyFileIsAnEnd) {
  EXPECT_THAT(ReadAll(""), ElementsAre("END"));
}

TEST(StreamReader, EmptyFramesAndRecordsAreAllowed) {
  const std::string empty = RawFrame("");
  EXPECT_THAT(ReadAll(empty + A() + empty), ElementsAre("a", "bc", "END"));
  EXPECT_THAT(ReadAll(RawFrame(std::string("\0\1q\0", 4))),
              ElementsAre("", "q", "", "END"));
}

TEST(StreamReader, OtherFilesAreToldFromTheirFirstBytes) {
  const std::string script = "#!/usr/bin/python3\nimport os\n";
  StringSource source(script);
  auto reader = StreamReader::Create(&source, {});
  absl::string_view record;
  ASSERT_EQ(reader->Next(&record), Result::kDamage);
  EXPECT_EQ(reader->damage().offset, 0u);
  EXPECT_EQ(reader->damage().bytes_lost, 0u);
  EXPECT_EQ(
      reader->damage().status,
      absl::InvalidArgumentError("not a pymemrun run file: found a text file"));
  EXPECT_EQ(reader->Next(&record), Result::kEnd);
}

TEST(StreamReader, AfterForeignFirstBytesAFrameIsFoundIfAsked) {
  EXPECT_THAT(ReadAll("hello" + A()),
              ElementsAre(HasSubstr("DAMAGE 0+0"), "a", "bc", "END"));
}

TEST(StreamReader, GarbageBetweenFramesIsSkippedAndMeasured) {
  EXPECT_THAT(ReadAll(A() + "garbage" + B()),
              ElementsAre("a", "bc",
                          absl::StrCat("DAMAGE ", A().size(),
                                       "+7 expected a zstd frame (28 b5 2f fd)"
                                       ", found 67617262"),
                          "xyz", "END"));
}

TEST(StreamReader, MegabytesOfGarbageAreSkippedInBoundedMemory) {
  const std::string garbage(50 << 20, 'g');
  EXPECT_THAT(ReadAll(A() + garbage + B()),
              ElementsAre("a", "bc",
                          HasSubstr(absl::StrCat("DAMAGE ", A().size(), "+",
                                                 garbage.size())),
                          "xyz", "END"));
}

TEST(StreamReader, AWrongChecksumLosesThatFrameOnly) {
  std::string bad = B();
  bad.back() ^= 1;
  EXPECT_THAT(ReadAll(A() + bad + A()),
              ElementsAre("a", "bc",
                          absl::StrCat("DAMAGE ", A().size(), "+", B().size(),
                                       " expected a frame that fits its "
                                       "checksum, found another checksum"),
                          "a", "bc", "END"));
}

TEST(StreamReader, ABlockLengthThatReachesBeyondTheEndLosesThatFrameOnly) {
  std::string bad = FrameOf({HeaderRecord()});
  bad[10] ^= 0x40;  // the stored block's length, + 2^11 bytes and more
  EXPECT_THAT(ReadAll(bad + A()),
              ElementsAre(HasSubstr(absl::StrCat("DAMAGE 0+", bad.size(), " ")),
                          "a", "bc", "END"));
}

TEST(StreamReader, GarbageAtTheEndIsDamage) {
  EXPECT_THAT(
      ReadAll(A() + "zzzz"),
      ElementsAre("a", "bc",
                  HasSubstr(absl::StrCat("DAMAGE ", A().size(), "+4")), "END"));
}

TEST(StreamReader, ACutFrameIsTornAtItsOffset) {
  for (size_t cut = 1; cut < B().size(); ++cut) {
    EXPECT_THAT(ReadAll(A() + B().substr(0, cut)),
                ElementsAre("a", "bc", absl::StrCat("TORN ", A().size())));
  }
}

TEST(StreamReader, BadLengthsInsideAFrameLoseTheRestOfIt) {
  const auto damage = [](absl::string_view found) {
    return HasSubstr(
        absl::StrCat("expected a record length of at most "
                     "16777216, found ",
                     found));
  };
  EXPECT_THAT(ReadAll(RawFrame("\1a\5xy") + B()),
              ElementsAre("a", damage("5 with 2 bytes left"), "xyz", "END"));
  const std::string giant("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10);
  EXPECT_THAT(ReadAll(RawFrame(giant + "abc") + B()),
              ElementsAre(damage("18446744073709551615 with 3 bytes left"),
                          "xyz", "END"));
  const std::string endless(12, '\xFF');
  EXPECT_THAT(ReadAll(RawFrame(endless) + B()),
              ElementsAre(damage("no varint"), "xyz", "END"));
  EXPECT_THAT(ReadAll(RawFrame("\x80") + B()),
              ElementsAre(damage("no varint"), "xyz", "END"));
}

TEST(StreamReader, RecordsAboveTheirBoundAreDamage) {
  EXPECT_THAT(ReadAll(A() + B(), {.max_record_bytes = 2}),
              ElementsAre("a", "bc",
                          absl::StrCat("DAMAGE ", A().size(), "+", B().size(),
                                       " decompressed byte 0 of the frame: "
                                       "expected a record length of at most 2, "
                                       "found 3"),
                          "END"));
}

TEST(StreamReader, FramesWithoutChecksumOrWithAHugeWindowAreRefused) {
  const std::string bare = RawFrame("\1a", 0, false);
  EXPECT_THAT(ReadAll(bare + B()),
              ElementsAre(absl::StrCat("DAMAGE 0+", bare.size(),
                                       " expected a frame with a checksum, "
                                       "found none"),
                          "xyz", "END"));
  const std::string wide = RawFrame("\1a", 27);
  EXPECT_THAT(ReadAll(wide + B()),
              ElementsAre(absl::StrCat("DAMAGE 0+", wide.size(),
                                       " expected a zstd window of at most "
                                       "8388608 bytes, found 134217728"),
                          "xyz", "END"));
}

TEST(StreamReader, FramesWithADictionaryAreRefused) {
  // Descriptor 0x25: single segment, checksum, 1 byte of dictionary id.
  const std::string frame("\x28\xB5\x2F\xFD\x25\x07\x00\x01\x00\x00zzzz", 14);
  EXPECT_THAT(ReadAll(frame + B()),
              ElementsAre("DAMAGE 0+14 expected a frame without a dictionary, "
                          "found dictionary 7",
                          "xyz", "END"));
}

TEST(StreamReader, SkippableFramesAboveTheBoundAreDamage) {
  EXPECT_THAT(ReadAll(A() + Skippable(std::string(100, 'i')) + B(),
                      {.max_frame_bytes = 99}),
              ElementsAre("a", "bc",
                          HasSubstr("+108 expected a skippable frame of at "
                                    "most 99 bytes, found 100"),
                          "xyz", "END"));
}

// 1 GiB of zeros in 8192 equal blocks, made without holding it.
std::string Bomb(bool content_size) {
  std::string frame("\x28\xB5\x2F\xFD", 4);
  frame += content_size ? std::string("\xA4\0\0\0\x40", 5)  // 2^30 bytes
                        : std::string("\x04\x48", 2);       // 512 KiB window
  for (int block = 0; block < 8192; ++block) {
    const uint32_t word = 0x20000 << 3 | 1 << 1 | (block == 8191);
    for (int i = 0; i < 3; ++i) frame.push_back(char(word >> (8 * i)));
    frame.push_back('\0');
  }
  return frame + "sum!";
}

// VmHWM since the last ResetPeak(), or since the process began.
uint64_t PeakKib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmHWM:") {
  }
  uint64_t kib = 0;
  status >> kib;
  return kib;
}

void ResetPeak() { std::ofstream("/proc/self/clear_refs") << 5; }

TEST(StreamReader, BombsAreRefusedInBoundedMemory) {
  ResetPeak();
  const uint64_t before = PeakKib();
  for (const bool content_size : {false, true}) {
    const std::string bomb = Bomb(content_size);
    EXPECT_THAT(ReadAll(bomb + B()),
                ElementsAre(absl::StrCat("DAMAGE 0+", bomb.size(),
                                         " expected a frame of at most "
                                         "33554432 bytes decompressed, found ",
                                         content_size ? "1073741824" : "more"),
                            "xyz", "END"));
  }
#ifndef __SANITIZE_THREAD__  // whose shadow is several times the memory
  EXPECT_LT(PeakKib(), before + (500 << 10)) << "KiB, with a sanitizer's own";
#endif
}

// Each frame here is false, and many reach far: time must stay linear.
TEST(StreamReader, AFileOfFalseFramesTakesLinearTime) {
  std::string file = A();
  while (file.size() < (3 << 20)) {
    // A stored block of 4096 bytes that holds the next false frames.
    file += std::string("\x28\xB5\x2F\xFD\x04\x48", 6) +
            std::string("\x00\x80\x00", 3);
  }
  const std::vector<std::string> lines = ReadAll(file + B());
  EXPECT_EQ(lines.back(), "END");
}

// Gives what is added, and the end in between.
class GrowingSource final : public ByteSource {
 public:
  void Add(absl::string_view bytes) {
    bytes_.append(bytes.data(), bytes.size());
  }
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    const size_t count = bytes_.copy(buffer, size, position_);
    position_ += count;
    return count;
  }

 private:
  std::string bytes_;
  size_t position_ = 0;
};

TEST(StreamReader, AGrowingSourceGoesOnWhereItWasTorn) {
  GrowingSource source;
  auto reader = StreamReader::Create(&source, {});
  EXPECT_THAT(ReadAll(reader.get()), ElementsAre("END"));
  const std::string file = A() + Skippable("index") + B() + A();
  std::vector<std::string> records;
  for (const char c : file) {
    source.Add(absl::string_view(&c, 1));
    for (const std::string& line : ReadAll(reader.get())) {
      ASSERT_THAT(line, testing::Not(HasSubstr("DAMAGE")));
      if (line != "END" && line[0] != 'T') records.push_back(line);
    }
  }
  EXPECT_THAT(records, ElementsAre("a", "bc", "xyz", "a", "bc"));
}

class FailingSource final : public ByteSource {
 public:
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    if (done_) return absl::UnavailableError("read: Input/output error");
    done_ = true;
    return A().copy(buffer, size);
  }

 private:
  bool done_ = false;
};

TEST(StreamReader, AFailingSourceIsToldOnceAfterWhatWasReadable) {
  FailingSource source;
  auto reader = StreamReader::Create(&source, {});
  EXPECT_THAT(ReadAll(reader.get()),
              ElementsAre("a", "bc",
                          absl::StrCat("DAMAGE ", A().size(),
                                       "+0 read: Input/output error"),
                          "END"));
}

}  // namespace
}  // namespace pymemrun
