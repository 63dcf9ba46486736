#include "collector/pages/page_encoder.h"

#include "collector/definitions/native_thread.h"
#include "format/batches/page_event.h"

namespace pymemrun {

void PageEncoder::SetWeight(uint32_t weight) {
  EndBatch();
  batch_.set_weight(weight);
}

// Common fields of the entries of a fault. Without a stack the fault is charged
// to the interpreter on the main thread, else to a native thread.
PageEntry PageEncoder::EntryOf(const MatchedSample& matched, bool certain) {
  const PageSample& sample = *matched.sample;
  PageEntry entry = {};
  entry.time_us = in_.clock->MicrosOfMonotonic(matched.time_ns);
  entry.page = sample.address / in_.page_bytes;
  entry.thread = ThreadOf(sample.thread, entry.time_us);
  entry.stack = matched.stack;
  if (entry.stack == 0) {
    const bool is_main = sample.thread == static_cast<uint32_t>(in_.pid);
    entry.stack = in_.stacks->Special(is_main ? SpecialStack::kInterpreter
                                              : SpecialStack::kNativeThread);
  }
  entry.code_mapping = in_.mappings->CodeAt(sample.instruction, sample.time_ns);
  entry.mapping = sample.mapping;
  entry.action = PAGE_CAME;
  entry.inferred = matched.inferred;
  entry.collecting = matched.collecting;
  entry.weight = WeightOf(certain);
  return entry;
}

void PageEncoder::AddSample(const MatchedSample& matched, bool certain) {
  const PageEntry entry = EntryOf(matched, certain);
  ++page_events_;
  inferred_ += entry.inferred;
  Append(entry);
}

// The pages that the kernel mapped beside the page of the fault. They share its
// stack, which is always inferred for them.
void PageEncoder::AddWith(const MatchedSample& matched, uint64_t address,
                          uint64_t bytes) {
  PageEntry entry = EntryOf(matched, /*certain=*/true);
  entry.action = PAGES_POPULATED;
  entry.page = address / in_.page_bytes;
  entry.pages = bytes / in_.page_bytes;
  entry.inferred = true;
  Append(entry);
}

void PageEncoder::AddRange(const PageMark& range, bool certain) {
  // `end` may wrap; the check below refuses that.
  const uint64_t end = range.address + range.bytes;
  PageEntry entry = {};
  entry.time_us = in_.clock->MicrosOfMonotonic(range.time_ns);
  entry.page = range.address / in_.page_bytes;
  entry.pages = (end + in_.page_bytes - 1) / in_.page_bytes - entry.page;
  // Nothing, or beyond the end of all addresses.
  if (range.bytes == 0 || end < range.address) return;
  entry.thread = ThreadOf(range.thread, entry.time_us);
  entry.stack = range.stack;
  entry.action = static_cast<PageAction>(range.action);
  entry.weight = 1;
  if (IsComing(entry.action)) {
    entry.weight = WeightOf(certain);
    entry.mapping = in_.mappings->NameAt(range.address, range.time_ns);
  }
  if (entry.action == PAGES_MOVED) {
    entry.moved_to = range.new_address / in_.page_bytes;
  }
  Append(entry);
}

// Entries are in the order of time; definitions that they use were written.
void PageEncoder::Append(const PageEntry& entry) {
  batch_.Append(entry);
  if (batch_.entries() == PageBatchEncoder::kMaxEntries) EndBatch();
}

void PageEncoder::EndBatch() {
  if (batch_.entries() == 0) return;
  in_.out->Write(batch_.Serialize(), {.page_events = batch_.entries()});
  batch_.Clear();
}

void PageEncoder::WriteFork(uint64_t time_ns, uint64_t child) {
  EndBatch();
  Record record;
  record.mutable_fork()->set_time_us(in_.clock->MicrosOfMonotonic(time_ns));
  record.mutable_fork()->set_child_pid(static_cast<uint32_t>(child));
  in_.out->Write(record);
}

void PageEncoder::WriteResidency(const ResidencyAnswer& answer) {
  EndBatch();
  pymemrun::WriteResidency(answer, in_.page_bytes, *in_.clock, in_.out);
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
