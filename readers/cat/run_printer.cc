#include "readers/cat/run_printer.h"

#include <algorithm>

#include "readers/replay/summary/run_facts.h"

namespace pymemrun {

bool HasContextRows(const Filters& filters) {
  return !EveryEventLogged(filters);
}

// Which columns there are depends on all files. In a merge each reading thread
// has seen its header by now: it waits with its first rows.
void PrintTarget::Start() {
  options_.with_context = expect_context_.load(std::memory_order_relaxed);
  options_.extra.calls = expect_calls_.load(std::memory_order_relaxed);
  writer_ = make_(options_);
  writer_->WriteHeader();
}

RunPrinter::RunPrinter(const FilterOptions* filter, bool net, uint32_t slot,
                       PrintTarget* target)
    : net_(net),
      extra_(filter->extra),
      target_(target),
      filter_(filter, &index()) {
  view_.index = &index();
  view_.slot = slot;
}

// Rows need the process's start and page size; the target needs to know which
// columns this file adds.
void RunPrinter::OnHeader(const Header& header) {
  view_.pid = header.pid();
  view_.start_unix_us = header.start_realtime_ns() / 1000;
  view_.page_bytes = header.page_bytes();
  view_.with_context = HasContextRows(header.filters());
  view_.own_bytes = net_ ? header.own_bytes() : 0;
  start_realtime_ns_ = header.start_realtime_ns();
  recorded_.Add(header);
  if (view_.with_context) target_->ExpectContext();
  if (header.filters().min_call_drss_bytes() > 0) target_->ExpectCalls();
}

std::string RunPrinter::Missing() const {
  for (const auto& [wanted, what] : {std::pair(extra_.heap, Recorded::kHeap),
                                     {extra_.pages, Recorded::kFaults},
                                     {extra_.gil, Recorded::kGil}}) {
    if (wanted && !recorded_.Has(what)) return LackText(what);
  }
  return "";
}

bool RunPrinter::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!PrintRow(rows[i])) return false;
  }
  return target_->ok();
}

// Context rows come before their logged row. They are held back until the
// filter has decided about it.
bool RunPrinter::PrintRow(const Row& row) {
  if (filter_.passes_everything()) {
    Write(row);
    return true;
  }
  if (row.context) {
    Hold(row);
    return true;
  }
  if (filter_.PassesNext(row)) {
    for (const Row& held : held_) Write(held);
    Write(row);
  }
  held_.clear();
  return !filter_.IsPast(row.time_us);
}

void RunPrinter::OnMark(const Mark& mark) {
  if (!filter_.PassesMark(mark)) return;
  target_->Writer()->WriteMark(view_, mark);
  ++target_->marks;
}

bool RunPrinter::OnPages(const PageEntry* entries, size_t count) {
  if (!extra_.pages) return target_->ok();
  for (size_t i = 0; i < count; ++i) {
    if (!PrintPage(entries[i])) return false;
  }
  return target_->ok();
}

bool RunPrinter::PrintPage(const PageEntry& entry) {
  if (filter_.PassesPage(entry)) {
    target_->Writer()->WritePage(view_, entry);
    ++target_->extra;
  }
  return !filter_.IsPast(entry.time_us);
}

// Rates may change during a run; an event has those that came before it.
void RunPrinter::OnHeapRates(const HeapRates& rates) {
  rates_ = weights_.NumberOf(rates);
}

bool RunPrinter::OnHeap(const HeapEvent* events, size_t count) {
  if (!extra_.heap) return target_->ok();
  for (size_t i = 0; i < count; ++i) {
    if (!PrintHeap(events[i])) return false;
  }
  return target_->ok();
}

bool RunPrinter::PrintHeap(const HeapEvent& event) {
  if (filter_.PassesHeap(event)) {
    target_->Writer()->WriteHeap(view_, event,
                                 weights_.WeightOf(rates_, event.size));
    ++target_->extra;
  }
  return !filter_.IsPast(event.time_us);
}

bool RunPrinter::OnGil(const GilEvent* events, size_t count) {
  if (!extra_.gil) return target_->ok();
  for (size_t i = 0; i < count; ++i) {
    if (!PrintGil(events[i])) return false;
  }
  return target_->ok();
}

bool RunPrinter::PrintGil(const GilEvent& event) {
  if (filter_.PassesGil(event)) {
    target_->Writer()->WriteGil(view_, event);
    ++target_->extra;
  }
  return !filter_.IsPast(event.time_ns / 1000);
}

// Half of the rows go at once, so that moving the others costs little for each
// row.
void RunPrinter::Hold(const Row& row) {
  if (held_.size() >= kMaxHeldRows) {
    held_.erase(held_.begin(), held_.begin() + kMaxHeldRows / 2);
  }
  held_.push_back(row);
}

// devent: how many events there were since the last logged row that was
// printed.
void RunPrinter::Write(const Row& row) {
  const uint64_t devent = row.number > last_next_ ? row.number - last_next_ : 0;
  target_->Writer()->WriteRow(view_, row, devent);
  if (row.context) {
    ++target_->context_rows;
    ++context_run_;
    return;
  }
  ++target_->next_rows;
  target_->most_context = std::max(target_->most_context, context_run_);
  context_run_ = 0;
  last_next_ = row.number;
}

}  // namespace pymemrun
