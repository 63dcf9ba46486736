#include "collector/events/site_cache.h"

#include <gtest/gtest.h>

#include <cstring>

#include "format/stream/varint.h"

namespace pymemrun {
namespace {

TEST(EncodedSiteTest, IdsOfEveryLengthComeBack) {
  for (const uint32_t site : {1u, 127u, 128u, 16383u, 16384u, 2097151u}) {
    const EncodedSite encoded = EncodeSite(site);
    EXPECT_EQ(DecodeSite(encoded), site);
    uint8_t bytes[10];
    const size_t length = PutVarint(bytes, site) - bytes;
    EXPECT_EQ(encoded >> 24, length);
    EXPECT_EQ(std::memcmp(bytes, &encoded, length), 0);
  }
  EXPECT_EQ(EncodeSite(2097152), 0u);
}

}  // namespace
}  // namespace pymemrun
