#include <stdlib.h>
#include <time.h>

#include "collector/output/run_writer.h"
#include "format/stream/stream_writer.h"
#include "format/trace.pb.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(RunNameTest, IsTheRunsOwnStartAndPid) {
  setenv("TZ", "UTC", 1);
  tzset();
  Record record;
  record.mutable_header()->set_format_version(1);
  record.mutable_header()->set_pid(4711);
  // 2026-11-21 03:04:05 UTC
  record.mutable_header()->set_start_realtime_ns(1795230245ull * 1000000000);
  StringSink sink;
  auto writer = StreamWriter::Create(&sink, {});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Append(record).ok());
  ASSERT_TRUE((*writer)->Flush().ok());
  StringSource source(sink.contents());
  const auto name = RunName(&source);
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(*name, "20261121_030405_4711");
}

TEST(RunNameTest, StrangersFileHasNone) {
  StringSource source("#!/bin/sh\n");
  EXPECT_FALSE(RunName(&source).ok());
  StringSource empty("");
  EXPECT_FALSE(RunName(&empty).ok());
}

}  // namespace
}  // namespace pymemrun
