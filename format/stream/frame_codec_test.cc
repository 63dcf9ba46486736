#include "format/stream/frame_codec.h"

#include <string>

#include "format/stream/stream_writer.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

constexpr FrameWalker::Limits kLimits = {1 << 20, kMaxWindowLog};

std::string Frame(absl::string_view content, int level) {
  auto compressor = FrameCompressor::Create(level);
  return std::string(*(*compressor)->Compress(content));
}

TEST(FrameWalker, FindsTheEndOfAFrameFromAnyPieces) {
  for (const int level : {StreamWriter::kStored, 1, 19}) {
    std::string content;
    for (uint32_t i = 0; i < 300000; ++i) content.push_back(char(i * i >> 7));
    const std::string frame = Frame(content, level);
    const std::string file = frame + "more";
    FrameWalker walker(kLimits);
    for (size_t size = 0; size < frame.size(); size += 1 + size / 3) {
      EXPECT_EQ(walker.Walk(file.substr(0, size)), FrameWalker::Result::kMore);
    }
    EXPECT_EQ(walker.Walk(file), FrameWalker::Result::kComplete);
    EXPECT_EQ(walker.end(), frame.size());
    EXPECT_EQ(walker.content_bound(), content.size());
    FrameDecompressor decompressor;
    EXPECT_EQ(*decompressor.Decompress(frame, walker.content_bound()), content);
  }
}

TEST(FrameWalker, FindsTheEndOfASkippableFrame) {
  const std::string frame("\x5A\x2A\x4D\x18\x03\0\0\0abc", 11);
  FrameWalker walker(kLimits);
  EXPECT_EQ(walker.Walk(frame.substr(0, 7)), FrameWalker::Result::kMore);
  EXPECT_EQ(walker.Walk(frame.substr(0, 10)), FrameWalker::Result::kMore);
  EXPECT_EQ(walker.Walk(frame), FrameWalker::Result::kComplete);
  EXPECT_TRUE(walker.skippable());
  EXPECT_EQ(walker.end(), 11u);
}

TEST(FrameDecompressor, RefusesMoreThanItsBound) {
  const std::string frame = Frame(std::string(1000, 'x'), 1);
  FrameDecompressor decompressor;
  EXPECT_EQ(decompressor.Decompress(frame, 999).status().message(),
            "expected a frame of at most 999 bytes decompressed, found more");
}

TEST(FrameMagic, IsFoundWholeOrCutShortAtTheEnd) {
  const std::string magic("\x28\xB5\x2F\xFD", 4);
  EXPECT_EQ(FindFrameMagic("ab" + magic, 0), 2u);
  EXPECT_EQ(FindFrameMagic("ab" + magic, 3), std::string::npos);
  EXPECT_EQ(FindFrameMagic("abc\x28\xB5", 0), 3u);
  EXPECT_EQ(FindFrameMagic("abc\x5F\x2A\x4D", 0), 3u);
  EXPECT_EQ(FindFrameMagic("abc", 0), std::string::npos);
  EXPECT_FALSE(MayBeginFrame("\x28\xB6"));
  EXPECT_TRUE(MayBeginFrame(""));
}

TEST(FrameCompressor, StoresAnEmptyContentToo) {
  const std::string frame = Frame("", StreamWriter::kStored);
  FrameWalker walker(kLimits);
  ASSERT_EQ(walker.Walk(frame), FrameWalker::Result::kComplete);
  FrameDecompressor decompressor;
  EXPECT_EQ(*decompressor.Decompress(frame, 0), "");
}

}  // namespace
}  // namespace pymemrun
