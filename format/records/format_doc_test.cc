// Holds FORMAT.md and the golden files to what the library does. ctest runs it
// in the project's root. (The example is run by
// tests/readers/independent_reading_test.py.)
#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "format/limits.h"
#include "format/stream/stream_for_tests.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

std::string FileContents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path << ": run this in the project's root";
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// The worked example: two calls. The second grew the process by a page.
std::string WorkedExample() {
  Record header, code, call, back, thread, footer;
  header.mutable_header()->set_format_version(1);
  header.mutable_header()->set_pid(42);
  code.mutable_code()->set_id(1);
  code.mutable_code()->set_file("a.py");
  code.mutable_code()->set_name("f");
  call.mutable_site()->set_id(1);
  call.mutable_site()->set_code(1);
  call.mutable_site()->set_line(3);
  back = call;
  back.mutable_site()->set_id(2);
  back.mutable_site()->set_what(RETURN);
  back.mutable_site()->set_line(4);
  thread.mutable_thread()->set_id(1);
  thread.mutable_thread()->set_native_id(42);
  std::vector<Row> rows = {PlainRow(0, 7, 8192), PlainRow(1, 9, 12288)};
  rows[1].site = 2;
  rows[1].drss_bytes = 4096;
  footer.mutable_footer()->set_end(Footer::EXIT);
  footer.mutable_footer()->set_events(2);
  footer.mutable_footer()->set_rows(2);
  return FrameOf({header, code, call, back, thread, RowsRecord(rows), footer});
}

// The bytes in the lines "    0000  28 b5 ...  what" of the document.
std::string DocumentedBytes() {
  std::string bytes;
  for (const absl::string_view line :
       absl::StrSplit(FileContents("format/FORMAT.md"), '\n')) {
    if (line.size() < 10 || line.substr(0, 4) != "    " || line[8] != ' ') {
      continue;
    }
    if (line.substr(4, 4).find_first_not_of("0123456789abcdef") !=
        std::string::npos) {
      continue;
    }
    EXPECT_EQ(strtoul(std::string(line.substr(4, 4)).c_str(), nullptr, 16),
              bytes.size());
    const absl::string_view rest = line.substr(10, line.find("  ", 10) - 10);
    for (const absl::string_view byte : absl::StrSplit(rest, ' ')) {
      bytes += absl::HexStringToBytes(byte);
    }
  }
  return bytes;
}

TEST(FormatDocument, TheWorkedExampleIsWhatTheWriterWrites) {
  EXPECT_EQ(absl::BytesToHexString(DocumentedBytes()),
            absl::BytesToHexString(WorkedExample()));
}

std::string MiB(uint64_t bytes) { return absl::StrCat(bytes >> 20, " MiB"); }
std::string PowerOfTwo(uint64_t value) {
  EXPECT_EQ(value & (value - 1), 0u);
  return absl::StrCat("2^", __builtin_ctzll(value));
}

TEST(FormatDocument, TheLimitsAreThoseOfLimitsH) {
  const std::string text = FileContents("format/FORMAT.md");
  const std::pair<const char*, std::string> rows[] = {
      {"a record of a kind that [Records](#records) lists",
       MiB(kMaxKnownRecordBytes)},
      {"any other record", MiB(kMaxRecordBytes)},
      {"entries of a batch", PowerOfTwo(kMaxBatchEntries)},
      {"a frame, compressed, decompressed or skippable", MiB(kMaxFrameBytes)},
      {"a zstd window", MiB(uint64_t{1} << kMaxWindowLog)},
      {"definitions of a kind", PowerOfTwo(kMaxDefinitions)},
      {"definitions in all", MiB(kMaxDefinitionBytes)},
      {"a stack", absl::StrCat(kMaxStackNodes, " frames")},
      {"an index", MiB(kMaxIndexBytes)},
      {"RSS, after each step too", PowerOfTwo(kMaxSizeBytes) + " bytes"},
      {"a page, and the end of a range of pages", PowerOfTwo(kMaxPage)},
      {"times of a GilBatch, and its counts of pauses",
       PowerOfTwo(kMaxGilNanos)},
      {"times of StateBatches and SchedBatches, and their counts",
       PowerOfTwo(kMaxStateNanos)},
      {"a name in a StateBatch", absl::StrCat(kMaxSleepNameBytes, " bytes")},
      {"times of a TaskBatch", PowerOfTwo(kMaxTaskNanos)},
      {"what RSS changed by in a TaskBatch, either way",
       PowerOfTwo(static_cast<uint64_t>(kMaxTaskBytes)) + " bytes"},
      {"the pages of a Residency", PowerOfTwo(kMaxResidentPages)},
      {"nodes of a dump", PowerOfTwo(kMaxObjects)},
      {"the text of a node", absl::StrCat(kMaxObjectTextBytes, " bytes")},
      {"the size of an object", PowerOfTwo(kMaxSizeBytes) + " bytes"},
  };
  for (const auto& [what, limit] : rows) {
    const std::string row = absl::StrCat("| ", what, " | ", limit, " |\n");
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
  EXPECT_NE(text.find("named `?`, at most " + PowerOfTwo(kMaxPlaceholders)),
            std::string::npos);
  EXPECT_NE(text.find("about " + MiB(kFrameBytes) + " of records"),
            std::string::npos);
  EXPECT_NE(text.find(absl::StrCat(kMaxNameBytes >> 10, " KiB")),
            std::string::npos);
}

// The rows, with the columns of tests/golden's tables.
class CsvVisitor : public RecordVisitor {
 public:
  void OnCode(const CodeDef& d) override { codes_.push_back(d); }
  void OnFunction(const FunctionDef& d) override { functions_.push_back(d); }
  void OnSite(const SiteDef& d) override { sites_.push_back(d); }
  void OnThread(const ThreadDef& d) override { threads_.push_back(d); }
  bool OnRows(const Row* rows, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      const Row& r = rows[i];
      const SiteDef& site = sites_[r.site - 1];
      const CodeDef& code = codes_[site.code() - 1];
      absl::StrAppend(&text_, r.number, ",", r.time_us, ",", What_Name(r.what),
                      ",", Quoted(code.file()), ",", site.line(), ",",
                      site.function() != 0
                          ? functions_[site.function() - 1].qualname()
                          : code.name());
      absl::StrAppend(&text_, ",", r.rss_bytes, ",", r.drss_bytes, ",",
                      threads_[r.thread - 1].native_id(), ",",
                      r.context ? "PREV" : "", "\r\n");
    }
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  static std::string Quoted(const std::string& cell) {
    if (cell.find_first_of(",\"") == std::string::npos) return cell;
    std::string quoted = "\"";
    for (const char c : cell) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + "\"";
  }

  std::string text_ =
      "number,time_us,what,file,line,function,rss_bytes,drss_bytes,native_id,"
      "context\r\n";
  std::vector<CodeDef> codes_;
  std::vector<FunctionDef> functions_;
  std::vector<SiteDef> sites_;
  std::vector<ThreadDef> threads_;
};

// Files of each released version stay readable.
TEST(GoldenFiles, VersionOneIsReadable) {
  const std::string file = FileContents("tests/golden/run_v1.pb");
  StringSource source(file);
  CsvVisitor visitor;
  ReadResult result;
  ASSERT_TRUE(ReadStream(&source, {}, &visitor, &result).ok());
  EXPECT_TRUE(result.has_header && result.has_footer && !result.torn);
  EXPECT_EQ(result.damages, 0u);
  EXPECT_EQ(visitor.text(), FileContents("tests/golden/run_v1.csv"));
}

// The heap events, with the columns of tests/golden's tables.
class HeapCsvVisitor : public RecordVisitor {
 public:
  void OnCode(const CodeDef& d) override { codes_.push_back(d); }
  void OnStack(const StackDef& d) override { stacks_.push_back(d); }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) Append(events[i]);
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  static absl::string_view WhatOf(const HeapEvent& e) {
    if (!e.is_free) return "ALLOC";
    if (e.free_of == HeapFreeOf::kMovedRange) return "MOVE";
    return e.free_of == HeapFreeOf::kRange ? "UNMAP" : "FREE";
  }
  void Append(const HeapEvent& e) {
    absl::StrAppend(&text_, e.time_us / 1000000, ".",
                    absl::Dec(e.time_us % 1000000, absl::kZeroPad6), ",",
                    WhatOf(e), ",0x", absl::Hex(e.address));
    if (e.free_of != HeapFreeOf::kBlock) {
      absl::StrAppend(&text_, ",", e.size, ",,,,\r\n");
      return;
    }
    if (e.is_free) {
      absl::StrAppend(&text_, ",,,,,\r\n");
      return;
    }
    static constexpr absl::string_view kWords[] = {"obj",    "mem",  "raw",
                                                   "malloc", "mmap", "mremap"};
    absl::StrAppend(&text_, ",", e.size, ",", kWords[e.allocator], ",");
    if (e.stack == 0) {
      absl::StrAppend(&text_, "?,0,?\r\n");
      return;
    }
    const StackDef& stack = stacks_[e.stack - 1];
    const CodeDef& code = codes_[stack.code() - 1];
    absl::StrAppend(&text_, code.file(), ",", stack.line(), ",", code.name(),
                    "\r\n");
  }

  std::string text_ =
      "clock_s,what,address,size_bytes,allocator,file,line,function\r\n";
  std::vector<CodeDef> codes_;
  std::vector<StackDef> stacks_;
};

void ExpectHeapEvents(const std::string& name, uint64_t entries) {
  const std::string file = FileContents("tests/golden/" + name + ".pb");
  StringSource source(file);
  HeapCsvVisitor visitor;
  ReadResult result;
  ASSERT_TRUE(ReadStream(&source, {}, &visitor, &result).ok());
  EXPECT_EQ(result.damages, 0u);
  EXPECT_EQ(result.heap_entries, entries);
  EXPECT_EQ(visitor.text(), FileContents("tests/golden/" + name + ".csv"));
}

// What is predicted never changes.
TEST(GoldenFiles, HeapEventsOfVersionOneAreReadable) {
  ExpectHeapEvents("heap_v1", 903);
}

// With ranges that are unmapped, and that move.
TEST(GoldenFiles, HeapEventsOfVersionTwoAreReadable) {
  ExpectHeapEvents("heap_v2", 526);
}

}  // namespace
}  // namespace pymemrun
