#include "collector/page_encoder.h"

#include "collector/native_thread.h"
#include "format/page_event.h"

namespace pymemrun {

void PageEncoder::SetWeight(uint32_t weight) {
  EndBatch();
  columns_.set_weight(weight);
}

PageRow PageEncoder::RowOf(const MatchedSample& matched) {
  const PageSample& sample = *matched.sample;
  PageRow row = {};
  row.time_us = in_.clock->MicrosOfMonotonic(matched.time_ns);
  row.page = sample.address / in_.page_bytes;
  row.thread = ThreadOf(sample.thread, row.time_us);
  row.stack = matched.stack;
  if (row.stack == 0) {
    const bool is_main = sample.thread == static_cast<uint32_t>(in_.pid);
    row.stack = in_.stacks->Special(is_main ? SpecialStack::kInterpreter
                                            : SpecialStack::kNativeThread);
  }
  row.code = in_.mappings->CodeAt(sample.instruction, sample.time_ns);
  row.mapping = sample.mapping;
  row.action = PAGE_CAME;
  row.inferred = matched.inferred;
  return row;
}

void PageEncoder::AddSample(const MatchedSample& matched, bool certain) {
  PageRow row = RowOf(matched);
  row.certain = certain;
  ++page_events_;
  inferred_ += row.inferred;
  Append(row);
}

void PageEncoder::AddWith(const MatchedSample& matched, uint64_t address,
                          uint64_t bytes) {
  PageRow row = RowOf(matched);
  row.action = PAGES_POPULATED;
  row.page = address / in_.page_bytes;
  row.pages = bytes / in_.page_bytes;
  row.inferred = true;
  row.certain = true;
  Append(row);
}

void PageEncoder::AddRange(const PageMark& range, bool certain) {
  const uint64_t end = range.address + range.bytes;
  PageRow row = {};
  row.time_us = in_.clock->MicrosOfMonotonic(range.time_ns);
  row.page = range.address / in_.page_bytes;
  row.pages = (end + in_.page_bytes - 1) / in_.page_bytes - row.page;
  // Nothing, or beyond the end of all addresses.
  if (range.bytes == 0 || end < range.address) return;
  row.thread = ThreadOf(range.thread, row.time_us);
  row.stack = range.stack;
  row.action = range.action;
  if (IsComing(static_cast<PageAction>(range.action))) {
    row.certain = certain;
    row.mapping = in_.mappings->NameAt(range.address, range.time_ns);
  }
  if (row.action == PAGES_MOVED) {
    row.moved_to = range.new_address / in_.page_bytes;
  }
  Append(row);
}

// Entries are in the order of time; definitions that they use were written.
void PageEncoder::Append(const PageRow& row) {
  columns_.Append(row);
  if (columns_.entries() == PageColumns::kMaxEntries) EndBatch();
}

void PageEncoder::EndBatch() {
  if (columns_.entries() == 0) return;
  in_.out->Write(columns_.Serialize(), {.page_events = columns_.entries()});
  columns_.Clear();
}

void PageEncoder::WriteFork(uint64_t time_ns) {
  EndBatch();
  Record record;
  record.mutable_fork()->set_time_us(in_.clock->MicrosOfMonotonic(time_ns));
  in_.out->Write(record);
}

void PageEncoder::WriteResidency(const ResidencyAnswer& answer) {
  EndBatch();
  Record record;
  Residency* residency = record.mutable_residency();
  residency->set_begin_us(in_.clock->MicrosOfMonotonic(answer.begin_ns));
  residency->set_time_us(in_.clock->MicrosOfMonotonic(answer.end_ns));
  residency->set_rss_bytes(answer.rss_bytes);
  uint64_t end = 0;
  uint32_t mapping = 0, flags = 0, mapping_row = 0, flags_row = 0;
  for (uint32_t i = 0; i < answer.ranges.size(); ++i) {
    const ResidentPages& range = answer.ranges[i];
    residency->add_gap_pages(range.begin / in_.page_bytes - end);
    end = range.end / in_.page_bytes;
    residency->add_pages(end - range.begin / in_.page_bytes);
    if (i == 0 || range.mapping != mapping) {
      residency->add_mapping_at(i - mapping_row);
      residency->add_mapping(mapping = range.mapping);
      mapping_row = i;
    }
    if (i == 0 || range.flags != flags) {
      residency->add_flags_at(i - flags_row);
      residency->add_flags(flags = range.flags);
      flags_row = i;
    }
  }
  // One that is not written counts as a page event.
  in_.out->Write(record.SerializeAsString(), {.page_events = 1});
}

void PageEncoder::WriteLoss(uint64_t time_ns, uint64_t samples,
                            uint64_t stacks) {
  EndBatch();
  Record record;
  PageLoss* loss = record.mutable_page_loss();
  loss->set_time_us(in_.clock->MicrosOfMonotonic(time_ns));
  loss->set_samples(samples);
  loss->set_stacks(stacks);
  in_.out->Write(record);
}

uint32_t PageEncoder::ThreadOf(uint32_t thread, uint64_t time_us) {
  return NativeThreadId(in_.pid, thread, time_us, in_.definitions);
}

}  // namespace pymemrun
