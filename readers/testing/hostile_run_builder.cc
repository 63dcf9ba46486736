#include "readers/testing/hostile_run_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "format/batches/encode_batch_for_tests.h"
#include "format/limits.h"
#include "readers/testing/hostile_gil_builder.h"
#include "readers/testing/hostile_task_builder.h"
#include "readers/testing/page_run_for_tests.h"

namespace pymemrun {
namespace {

constexpr uint32_t kDeepest = kMaxStackNodes;
constexpr uint64_t kManyPages = uint64_t{1} << 22;

void MovedRange(uint64_t count, HostileRun* run) {
  run->Page(PAGES_POPULATED, kManyPages, kManyPages);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t from = i % 2 == 0 ? 1 : 3;
    run->Page(PAGES_MOVED, from * kManyPages, kManyPages,
              (4 - from) * kManyPages);
  }
}

void MovedOntoItself(uint64_t count, HostileRun* run) {
  run->ScatteredPages(count, 1);
  for (uint64_t i = 0; i < count; ++i) {
    run->Page(PAGES_MOVED, 1000 + i % 7, count, 1000 + (i + 3) % 7);
  }
}

void MovedPieces(uint64_t count, HostileRun* run) {
  run->ScatteredPages(count, 2);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t from = i % 2 == 0 ? 0 : kManyPages;
    run->Page(PAGES_MOVED, from, kManyPages, kManyPages - from);
  }
}

// All are new again each time, until the kernel answers and RSS was read.
void MovedThenAnswered(uint64_t count, HostileRun* run) {
  run->ScatteredPages(count, 2);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t from = i % 2 == 0 ? 0 : kManyPages;
    run->Page(PAGES_MOVED, from, kManyPages, kManyPages - from);
    run->Residencies(2, {{0, 2 * kManyPages, 1, false, false}}, 1 << 20);
  }
}

// What fills the gaps is older than the answer that takes it away, the pages
// between are not.
void PopulatedLongAgo(uint64_t count, HostileRun* run) {
  run->Pass(1000);
  run->ScatteredPages(count, 2);
  for (uint64_t i = 0; i < count; ++i) {
    run->PageAt(10, PAGES_POPULATED, 0, 2 * count + 1000);
    run->builder().AddResidency(500, 500, 0,
                                {{kManyPages, 1, 1, false, false}});
  }
}

void PopulatedSpace(uint64_t count, HostileRun* run) {
  constexpr uint64_t kSpace = uint64_t{1} << 44;
  for (uint64_t i = 0; i < count; ++i) {
    run->Page(PAGES_POPULATED, 0, kSpace);
    run->Page(PAGES_UNMAPPED, 0, kSpace - 1);
  }
  run->Page(PAGES_POPULATED, 0, kSpace);
}

void PopulatedAgain(uint64_t count, HostileRun* run) {
  run->ScatteredPages(count, 2);
  for (uint64_t i = 0; i < count; ++i) {
    run->Page(PAGES_POPULATED, 0, kManyPages);
  }
}

void Holes(uint64_t count, HostileRun* run) {
  run->Page(PAGES_POPULATED, 0, 4 * count);
  for (uint64_t i = 0; i < count; ++i) {
    run->Page(PAGES_UNMAPPED, 4 * (i * 7919 % count), 1);
  }
  for (uint64_t i = 0; i < count; ++i) run->Page(PAGES_UNMAPPED, 4 * i, 1);
}

void AnswersOfOneRange(uint64_t count, HostileRun* run) {
  run->ScatteredPages(count, 2);
  run->Residencies(count, {{0, 4 * count + 1000, 1, false, false}});
}

// Between the pages is what no page is near enough to.
void AnswersOfAFile(uint64_t count, HostileRun* run) {
  run->ScatteredPages(count, 2048);
  run->Residencies(count, {{0, 2048 * count + 1000, 1, true, false}});
}

void AnswersOfHugePages(uint64_t count, HostileRun* run) {
  run->ScatteredPages(count, 512);
  run->Residencies(count, {{0, 512 * count + 1000, 1, false, true}});
}

// Each page is the only known one of 2 MiB, some of them for ever.
void AnswersOfSinglePages(uint64_t count, HostileRun* run) {
  std::vector<ResidentRange> single;
  for (uint64_t i = 0; i < count; ++i) {
    single.push_back({512 * (count + i), 1, 1, false, false});
  }
  run->Residencies(1, single);
  run->ScatteredPages(count, 512);
  run->Residencies(count, {{0, 1024 * count, 1, false, false}});
}

void AnswersInPieces(uint64_t count, HostileRun* run) {
  run->Page(PAGES_POPULATED, 0, 2 * count);
  std::vector<ResidentRange> ranges;
  for (uint64_t i = 0; i < count; ++i) {
    ranges.push_back({2 * i, 1, 1, false, false});
  }
  run->Residencies(2, ranges);
}

void ForksAndPages(uint64_t count, HostileRun* run) {
  for (uint64_t i = 0; i < count; ++i) {
    run->Page(PAGE_CAME, 1000 + i % 99, 1);
    run->FlushPages();
    run->builder().AddFork(run->now_us());
  }
}

void ReadingsBackwards(uint64_t count, HostileRun* run) {
  for (uint64_t i = 0; i < count; ++i) {
    run->builder().AddProcess(10'000'000 + count - i, 1 << 20, 0);
  }
}

// All leaves share what is below them.
void DeepLeaves(uint64_t count, HostileRun* run) {
  const uint32_t chain = run->AddChain(kDeepest - 1);
  for (uint64_t i = 0; i < count; ++i) {
    const auto line = static_cast<uint32_t>(i + 100);
    run->Alloc(64 * (i + 1), 48, run->AddStack(chain, line));
    run->Page(PAGE_CAME, 1000 + i, 1, 0, 2 + kDeepest - 1 + i + 1);
  }
}

// All on one line, so that only their callers could tell them apart.
void DeepLeavesOfOneLine(uint64_t count, HostileRun* run) {
  const uint32_t chain = run->AddChain(kDeepest - 1);
  for (uint64_t i = 0; i < count; ++i) {
    run->Alloc(64 * (i + 1), 48, run->AddStack(chain, 7));
  }
}

// Each is the one before, by another name, and brings a page.
void RenamedThreads(uint64_t count, HostileRun* run) {
  RunBuilder& builder = run->builder();
  const uint32_t site = builder.AddSite(RETURN, run->code(), 1);
  uint32_t thread = 1;
  for (uint64_t i = 1; i <= count; ++i) {
    thread = builder.AddThread(absl::StrCat("t", i), 1, thread);
    Row row = MakeRow(i, 10 * i, site, 1 << 20, 0);
    row.thread = thread;
    builder.AddRow(row);
    builder.AddPages(CamePages(10 * i - 5, 1000 + 2 * i, 1, 1, thread));
  }
}

void DeepThreads(uint64_t count, HostileRun* run) {
  const uint32_t chain = run->AddChain(kDeepest);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t thread = run->builder().AddThread(absl::StrCat("t", i), i);
    run->Alloc(64 * (i + 1), 48, chain, thread);
  }
}

// Deeper than the recorder records, by what is as deep for every count.
void TooDeep(uint64_t count, HostileRun* run) {
  const uint64_t whole = 10 * count / (kDeepest + 1) * (kDeepest + 1);
  const uint32_t chain = run->AddChain(static_cast<uint32_t>(whole + 3000));
  for (uint32_t i = 0; i < count; ++i) {
    run->Alloc(64 * (i + 1), 48, run->AddStack(chain, i + 100));
  }
}

void DeepRows(uint64_t count, HostileRun* run) {
  const uint32_t chain = run->AddChain(kDeepest);
  const uint32_t site = run->builder().AddSite(CALL, run->code(), 1);
  std::vector<Row> rows;
  for (uint64_t i = 0; i < count; ++i) {
    rows.push_back(MakeRow(i, i, site, 1 << 20, 4096));
    rows.back().stack = chain - static_cast<uint32_t>(i % 97);
  }
  run->builder().AddRecord(EncodeRows(rows, /*stacks=*/true));
}

void LongName(uint64_t count, HostileRun* run) {
  RunBuilder& builder = run->builder();
  const uint32_t code = builder.AddCode(std::string(60000, 'x'), "f", 1);
  const uint32_t stack = builder.AddStack(0, code, 1);
  run->Alloc(64, 48, stack);
  run->Page(PAGE_CAME, 999, 1, 0, stack);
  builder.AddRow(MakeRow(0, 1, builder.AddSite(CALL, code, 1), 1 << 20, 4096));
  for (uint64_t i = 0; i < count; ++i) {
    const auto line = static_cast<uint32_t>(i + 100);
    run->Alloc(64 * (i + 2), 48, run->AddStack(0, line));
    builder.AddRow(MakeRow(
        i + 1, i + 2, builder.AddSite(CALL, run->code(), line), 1 << 20, 4096));
  }
}

void ManySizeClasses(uint64_t count, HostileRun* run) {
  Record record;
  for (uint64_t i = 0; i < count; ++i) {
    HeapClass* const of = record.mutable_heap_rates()->add_classes();
    of->set_below_bytes(i + 1);
    of->set_probability(0.5);
  }
  run->builder().AddRecord(record);
  for (uint64_t i = 0; i < 10 * count; ++i) {
    run->Alloc(64 * (i + 1), 2 * count, 1);
  }
}

// Each change of rates, and nothing in between.
void ManyRates(uint64_t count, HostileRun* run) {
  for (uint64_t i = 0; i < count; ++i) {
    Record record;
    record.mutable_heap_rates()->set_mean_bytes(i + 1);
    run->builder().AddRecord(record);
    run->Alloc(64 * (i + 1), 48, 1);
    run->FlushHeap();
  }
}

// Blocks that reach over all pages, and begin one behind the other.
void OverlappingBlocks(uint64_t count, HostileRun* run) {
  run->Page(PAGES_POPULATED, 0, uint64_t{1} << 44);
  run->ScatteredPages(count, 2);
  for (uint64_t i = 0; i < count; ++i) run->Alloc(16 * i, UINT64_MAX, 1);
}

void MovedMappings(uint64_t count, HostileRun* run) {
  constexpr uint64_t kSpace = uint64_t{1} << 40;
  for (uint64_t i = 0; i < count; ++i) {
    run->Map(8192 * (i + 1), 4096, HEAP_MMAP);
  }
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t from = i % 2 == 0 ? 0 : kSpace;
    run->Unmap(from, kSpace, HeapFreeOf::kMovedRange);
    run->Map(kSpace - from, kSpace, HEAP_MREMAP);
  }
}

void HolesInMappings(uint64_t count, HostileRun* run) {
  run->Map(4096, uint64_t{1} << 46, HEAP_MMAP);
  for (uint64_t i = 0; i < count; ++i) {
    run->Unmap(12288 * (i * 7919 % count + 1), 4096, HeapFreeOf::kRange);
  }
  run->Page(PAGES_POPULATED, 0, uint64_t{1} << 44);
}

void ManySourcesOverTime(uint64_t count, HostileRun* run) {
  uint64_t step = 1;
  for (uint64_t i = 0; i < count; ++i) {
    const auto line = static_cast<uint32_t>(i + 100);
    run->Alloc(64 * (i + 1), 48, run->AddStack(0, line));
    if (i % 64 != 0) continue;
    run->FlushHeap();
    run->Pass(step);
    step = std::min<uint64_t>(step * 2, uint64_t{1} << 40);
  }
}

void MissingDefinitions(uint64_t count, HostileRun* run) {
  Record record;
  StackDef* const stack = record.mutable_stack();
  stack->set_id(static_cast<uint32_t>(count) + 3);
  stack->set_parent(stack->id() + 1);  // damage
  run->builder().AddRecord(record);
  stack->set_parent(stack->id() - 1);
  run->builder().AddRecord(record);
}

// What compares two runs may match each of them with each.
void LinesOfOneText(uint64_t count, HostileRun* run) {
  for (uint64_t i = 0; i < count; ++i) {
    const auto line = static_cast<uint32_t>(i + 3);
    run->Alloc(0x10000 * (i + 1), 100 + i % 7, run->AddStack(0, line));
  }
  run->FlushHeap();
  for (uint64_t lines = 0; lines < 50 * count;) {
    Record record;
    SourceFile* const source = record.mutable_source();
    source->set_file("/job.py");
    for (int i = 0; i < 60000; ++i) {
      source->add_line(static_cast<uint32_t>(++lines));
      source->add_hash(7);
    }
    run->builder().AddRecord(record);
  }
}

// Each RETURN is that of a call around all those before it.
void NestedCalls(uint64_t count, HostileRun* run) {
  const uint32_t site = run->builder().AddSite(RETURN, run->code(), 1);
  std::vector<Row> rows;
  for (uint64_t i = 0; i < count; ++i) {
    rows.push_back(MakeRow(count + i, count + i, site, uint64_t{1} << 40, 0));
    rows.back().call_events = 2 * i + 1;
    rows.back().call_drss = static_cast<int64_t>((i + 1) << 20);
  }
  run->builder().AddRecord(EncodeRows(rows, /*stacks=*/false));
}

// Calls of several threads and functions. Half of them end.
void OpenCalls(uint64_t count, HostileRun* run) {
  constexpr uint32_t kOf = 50;
  RunBuilder& builder = run->builder();
  uint32_t calls[kOf], returns[kOf];
  for (uint32_t i = 0; i < kOf; ++i) {
    const uint32_t code = builder.AddCode("/job.py", absl::StrCat("f", i), 1);
    calls[i] = builder.AddSite(CALL, code, 1);
    returns[i] = builder.AddSite(RETURN, code, 2);
    builder.AddThread("worker", i + 2);
  }
  uint64_t number = 0;
  const auto add = [&](uint32_t site, uint64_t thread, uint64_t pages) {
    Row row = MakeRow(number, number, site, pages << 12, 0);
    row.thread = static_cast<uint32_t>(1 + thread % kOf);
    builder.AddRow(row);
    ++number;
  };
  for (uint64_t i = 0; i < 4 * count; ++i) add(calls[i % kOf], i / 9, i);
  for (uint64_t i = 4 * count; i > 2 * count; --i) {
    add(returns[(i - 1) % kOf], (i - 1) / 9, 9 * i);
  }
}

struct HostileKind {
  absl::string_view name;
  void (*build)(uint64_t count, HostileRun* run);
  bool logs_all = false;
};
constexpr HostileKind kKinds[] = {
    {"moved_range", MovedRange},
    {"moved_onto_itself", MovedOntoItself},
    {"moved_pieces", MovedPieces},
    {"moved_then_answered", MovedThenAnswered},
    {"populated_space", PopulatedSpace},
    {"populated_long_ago", PopulatedLongAgo},
    {"populated_again", PopulatedAgain},
    {"holes", Holes},
    {"answers_of_one_range", AnswersOfOneRange},
    {"answers_of_a_file", AnswersOfAFile},
    {"answers_of_huge_pages", AnswersOfHugePages},
    {"answers_of_single_pages", AnswersOfSinglePages},
    {"answers_in_pieces", AnswersInPieces},
    {"forks_and_pages", ForksAndPages},
    {"readings_backwards", ReadingsBackwards},
    {"deep_leaves", DeepLeaves},
    {"deep_leaves_of_one_line", DeepLeavesOfOneLine},
    {"renamed_threads", RenamedThreads},
    {"deep_threads", DeepThreads},
    {"too_deep", TooDeep},
    {"deep_rows", DeepRows},
    {"long_name", LongName},
    {"many_size_classes", ManySizeClasses},
    {"many_rates", ManyRates},
    {"overlapping_blocks", OverlappingBlocks},
    {"moved_mappings", MovedMappings},
    {"holes_in_mappings", HolesInMappings},
    {"many_sources_over_time", ManySourcesOverTime},
    {"missing_definitions", MissingDefinitions},
    {"lines_of_one_text", LinesOfOneText},
    {"nested_calls", NestedCalls},
    {"open_calls", OpenCalls, true},
    {"gil_waits", GilWaits}, {"lock_waits", LockWaits}, {"state_spans", StateSpans}, {"task_steps", TaskSteps},
};

}  // namespace

std::vector<std::string> HostileRunNames() {
  std::vector<std::string> names;
  for (const HostileKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

bool BuildHostileRun(absl::string_view name, uint64_t count, ByteSink* sink) {
  for (const HostileKind& kind : kKinds) {
    if (kind.name != name) continue;
    HostileRun run(sink, kind.logs_all);
    kind.build(count, &run);
    return true;
  }
  return false;
}

}  // namespace pymemrun
