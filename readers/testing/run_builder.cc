#include "readers/testing/run_builder.h"

#include <stdio.h>
#include <stdlib.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "format/batches/encode_batch_for_tests.h"
#include "format/batches/heap_batch.h"
#include "format/batches/residency.h"

namespace pymemrun {
namespace {

void Check(const absl::Status& status) {
  if (status.ok()) return;
  fprintf(stderr, "run builder: %s\n", status.ToString().c_str());
  abort();
}

std::string Bytes(absl::string_view text) { return std::string(text); }

}  // namespace

RunBuilder::RunBuilder(ByteSink* sink) {
  auto writer = StreamWriter::Create(sink, StreamWriter::Options());
  Check(writer.status());
  writer_ = *std::move(writer);
}

Header RunBuilder::DefaultHeader() {
  Header header;
  header.set_format_version(1);
  header.set_tool_version("0.1.0");
  header.set_pid(4711);
  header.add_argv("python3");
  header.add_argv("job.py");
  header.set_python("/usr/bin/python3");
  header.set_python_version("3.11.2 (main)");
  header.set_host("box");
  header.set_start_realtime_ns(1700000000000000000);
  header.set_page_bytes(4096);
  header.set_clock(TSC);
  header.set_rss_source(STATM);
  header.set_own_bytes(1 << 20);
  header.set_first_rss_bytes(8 << 20);
  header.mutable_filters()->set_min_drss_bytes(4096);
  header.mutable_filters()->set_context(1);
  return header;
}

void RunBuilder::AddHeader(const Header& header) {
  Record record;
  *record.mutable_header() = header;
  AddRecord(record);
}

uint32_t RunBuilder::AddCode(absl::string_view file, absl::string_view name,
                             uint32_t first_line, absl::string_view module) {
  Record record;
  CodeDef* code = record.mutable_code();
  code->set_id(++codes_);
  code->set_file(Bytes(file));
  code->set_name(Bytes(name));
  code->set_qualname(Bytes(name));
  code->set_module(Bytes(module));
  code->set_first_line(first_line);
  AddRecord(record);
  return codes_;
}

uint32_t RunBuilder::AddFunction(absl::string_view qualname,
                                 absl::string_view module) {
  Record record;
  FunctionDef* function = record.mutable_function();
  function->set_id(++functions_);
  function->set_qualname(Bytes(qualname));
  function->set_module(Bytes(module));
  AddRecord(record);
  return functions_;
}

uint32_t RunBuilder::AddSite(What what, uint32_t code, uint32_t line,
                             uint32_t function) {
  Record record;
  SiteDef* site = record.mutable_site();
  site->set_id(++sites_);
  site->set_what(what);
  site->set_code(code);
  site->set_line(line);
  site->set_function(function);
  AddRecord(record);
  return sites_;
}

uint32_t RunBuilder::AddThread(absl::string_view name, uint64_t native_id,
                               uint32_t renamed) {
  Record record;
  ThreadDef* thread = record.mutable_thread();
  thread->set_id(++threads_);
  thread->set_native_id(native_id);
  thread->set_name(Bytes(name));
  thread->set_renamed(renamed);
  AddRecord(record);
  return threads_;
}

uint32_t RunBuilder::AddStack(uint32_t parent, uint32_t code, uint32_t line) {
  Record record;
  StackDef* stack = record.mutable_stack();
  stack->set_id(++stacks_);
  stack->set_parent(parent);
  stack->set_code(code);
  stack->set_line(line);
  AddRecord(record);
  return stacks_;
}

uint32_t RunBuilder::AddMapping(absl::string_view name) {
  Record record;
  record.mutable_mapping()->set_id(++mappings_);
  record.mutable_mapping()->set_name(Bytes(name));
  AddRecord(record);
  return mappings_;
}

void RunBuilder::AddPages(const std::vector<PageEntry>& entries) {
  AddRecord(EncodePages(entries));
}

void RunBuilder::AddHeap(const std::vector<HeapEvent>& events) {
  HeapBatchEncoder encoder;
  for (const HeapEvent& event : events) encoder.Add(event);
  Record record;
  encoder.Take(record.mutable_heap());
  AddRecord(record);
}

void RunBuilder::AddResidency(uint64_t begin_us, uint64_t time_us,
                              uint64_t rss_bytes,
                              const std::vector<ResidentRange>& ranges) {
  Record record;
  Residency* residency = record.mutable_residency();
  ResidencyEncoder encoder(residency);
  for (const ResidentRange& range : ranges) encoder.Add(range);
  residency->set_begin_us(begin_us);
  residency->set_time_us(time_us);
  residency->set_rss_bytes(rss_bytes);
  AddRecord(record);
}

void RunBuilder::AddProcess(uint64_t time_us, uint64_t rss_bytes,
                            uint64_t hwm_bytes) {
  Record record;
  record.mutable_process()->set_time_us(time_us);
  record.mutable_process()->set_rss_bytes(rss_bytes);
  record.mutable_process()->set_hwm_bytes(hwm_bytes);
  AddRecord(record);
}

void RunBuilder::AddFork(uint64_t time_us) {
  Record record;
  record.mutable_fork()->set_time_us(time_us);
  AddRecord(record);
}

void RunBuilder::AddRow(const Row& row) {
  rows_.push_back(row);
  if (rows_.size() >= kRowsPerBatch) EndBatch();
}

void RunBuilder::AddMark(uint64_t time_us, uint64_t next_number,
                         uint32_t thread, absl::string_view label,
                         uint64_t rss_bytes) {
  Record record;
  Mark* mark = record.mutable_mark();
  mark->set_time_us(time_us);
  mark->set_next_number(next_number);
  mark->set_thread(thread);
  mark->set_label(Bytes(label));
  mark->set_rss_bytes(rss_bytes);
  AddRecord(record);
}

void RunBuilder::AddRecord(const Record& record) {
  EndBatch();
  Write(record);
}

void RunBuilder::Flush() {
  EndBatch();
  Check(writer_->Flush());
}

void RunBuilder::WriteIndex() {
  EndBatch();
  Check(writer_->WriteIndex());
}

void RunBuilder::EndBatch() {
  if (rows_.empty()) return;
  const Record record = EncodeRows(rows_, /*stacks=*/false);
  rows_.clear();
  Write(record);
}

void RunBuilder::Write(const Record& record) { Check(writer_->Append(record)); }

Row MakeRow(uint64_t number, uint64_t time_us, uint32_t site,
            uint64_t rss_bytes, int64_t drss_bytes, bool context) {
  Row row = {};
  row.number = number;
  row.time_us = time_us;
  row.rss_bytes = rss_bytes;
  row.drss_bytes = drss_bytes;
  row.site = site;
  row.thread = 1;
  row.context = context;
  row.exact = true;
  return row;
}

void BuildLargeRun(uint64_t rows, ByteSink* sink) {
  constexpr uint32_t kSites = 16;
  constexpr uint64_t kPage = 4096;
  RunBuilder builder(sink);
  Header header = RunBuilder::DefaultHeader();
  header.mutable_filters()->set_min_drss_bytes(0);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  const uint32_t append = builder.AddFunction("list.append", "");
  uint32_t sites[kSites];
  uint32_t code = 0;
  for (uint32_t i = 0; i < kSites; ++i) {
    if (i % 4 == 0) {
      code = builder.AddCode(absl::StrCat("/usr/lib/python3/job", i, ".py"),
                             absl::StrCat("step_", i), 10 * i + 1);
    }
    constexpr What kKinds[] = {CALL, C_CALL, C_RETURN, RETURN};
    const bool is_c = i % 4 == 1 || i % 4 == 2;
    sites[i] =
        builder.AddSite(kKinds[i % 4], code, 10 * i + 2, is_c ? append : 0);
  }
  uint64_t rss_bytes = 8 << 20;
  for (uint64_t n = 0; n < rows; ++n) {
    const int64_t drss = n % 97 == 0 ? kPage : 0;
    rss_bytes += drss;
    builder.AddRow(MakeRow(n, n / 8, sites[n % kSites], rss_bytes, drss));
  }
  Record record;
  Footer* footer = record.mutable_footer();
  footer->set_end(Footer::EXIT);
  footer->set_end_us(rows / 8);
  footer->set_events(rows);
  footer->set_rows(rows);
  builder.AddRecord(record);
  builder.Flush();
  builder.WriteIndex();
}

}  // namespace pymemrun
