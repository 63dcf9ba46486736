#include "readers/answer/memory/memory_split.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/heap_in_rss/heap_estimate.h"
#include "readers/replay/heap_in_rss/pool_pages.h"
#include "readers/replay/resident/page_mappings.h"

namespace pymemrun {
namespace {

// Whether users know the name: not for a decorator's inner function, nor for
// __call__.
bool IsCalledByName(absl::string_view qualname) {
  return !absl::StrContains(qualname, "<locals>") &&
         !absl::EndsWith(qualname, ".__call__");
}

// "pandas read_csv": the frame that `own` called on the way to `stack`, or the
// first one after it whose name users know. Empty: there is no such frame.
std::string CalledBy(const RunIndex& index, uint32_t own, uint32_t stack) {
  if (own == 0) return "";
  uint32_t known = 0;
  for (; stack != own; stack = index.ParentStack(stack)) {
    if (IsCalledByName(index.ResolveStack(stack).qualname)) known = stack;
  }
  if (known == 0) return "";
  const SourceLocation callee = index.ResolveStack(known);
  // The own line itself says that it imports.
  if (OwnCode::IsImportMachinery(callee.file)) return "";
  const absl::string_view package = OwnCode::PackageOf(callee.file);
  return absl::StrCat(package, package.empty() ? "" : " ", callee.qualname);
}

// The kind of memory that bytes of a place belong to.
enum class PartOf { kBlocks, kMapped, kPool, kFile };

// Sums by place.
class Holdings {
 public:
  explicit Holdings(GroupBy by, ThreadFilter* threads = nullptr)
      : by_(by), threads_(threads) {}
  // `library`: the library that keeps the bytes in a pool.
  void Add(const RunIndex& index, const Origin& origin, double bytes,
           double variance, PartOf part, const std::string& library = "") {
    const bool of_file = part == PartOf::kFile;
    const uint32_t stack = origin.stack;
    const uint32_t own = OwnStackOf(index, origin);
    // A library's thread did it, while this own line waited.
    const bool waits = own != 0 && index.OwnStack(stack) == 0;
    const bool is_kept = threads_ == nullptr || threads_->Keeps(origin.thread);
    const bool is_own = own != 0 && is_kept;
    Place place =
        is_kept ? PlaceOf(by_, index, origin) : NamedPlace(kOtherThreads);
    const bool is_line = by_ == GroupBy::kLine || by_ == GroupBy::kLibraryLine;
    // A line is one place, even if several functions have it (comprehensions).
    if (is_line && !place.file.empty()) place.function = {};
    const uint32_t number = table_.NumberOf(place);
    if (number == sums_.size()) sums_.push_back({place, is_own});
    Sum& sum = sums_[number];
    sum.bytes += bytes;
    sum.variance += variance;
    if (of_file) sum.file_bytes += bytes;
    if (part == PartOf::kMapped) sum.mapped_bytes += bytes;
    if (part == PartOf::kPool) {
      sum.pool_bytes += bytes;
      sum.by_library[library] += bytes;
    }
    if (index.Imports(stack)) sum.import_bytes += bytes;
    if (origin.thread != 0) {
      const std::string thread(
          index.ThreadName(index.LatestThread(origin.thread)));
      sum.by_thread[thread] += bytes;
      if (!of_file) by_thread_[thread] += bytes;
    }
    if (is_own && waits) sum.waits_bytes += bytes;
    if (!is_own || of_file) return;
    sum.by_called[CalledBy(index, own, waits ? origin.waits : stack)] += bytes;
  }
  std::vector<PlaceHolding> Take() {
    std::vector<PlaceHolding> places;
    for (const Sum& sum : sums_) {
      PlaceHolding holding = {sum.place,       sum.is_own,     sum.bytes,
                              sum.variance,    sum.file_bytes, sum.pool_bytes,
                              sum.mapped_bytes};
      holding.kept_by = MostOf(sum.by_library, 0);
      holding.waits_bytes = sum.waits_bytes;
      holding.called = MostOf(sum.by_called, 0);
      // A place names a thread only if it did nearly all of the work.
      holding.thread = MostOf(sum.by_thread, 0.9 * sum.bytes);
      holding.is_import = sum.import_bytes > sum.bytes / 2;
      places.push_back(std::move(holding));
    }
    std::sort(places.begin(), places.end(),
              [](const PlaceHolding& a, const PlaceHolding& b) {
                return a.bytes != b.bytes ? a.bytes > b.bytes
                                          : a.place < b.place;
              });
    return places;
  }
  std::vector<std::pair<std::string, double>> Threads() const {
    std::vector<std::pair<std::string, double>> threads(by_thread_.begin(),
                                                        by_thread_.end());
    std::stable_sort(
        threads.begin(), threads.end(),
        [](const auto& a, const auto& b) { return a.second > b.second; });
    return threads;
  }

 private:
  struct Sum {
    Place place;
    bool is_own;
    double bytes = 0, variance = 0, file_bytes = 0, pool_bytes = 0;
    double mapped_bytes = 0, import_bytes = 0, waits_bytes = 0;
    std::map<std::string, double> by_called, by_thread, by_library;
  };
  // The name with the most bytes, if it has more than `least`.
  static std::string MostOf(const std::map<std::string, double>& bytes_of,
                            double least) {
    std::string found;
    for (const auto& [name, bytes] : bytes_of) {
      if (bytes <= least) continue;
      least = bytes;
      found = name;
    }
    return found;
  }
  const GroupBy by_;
  ThreadFilter* const threads_;
  PlaceTable table_;
  std::vector<Sum> sums_;
  std::map<std::string, double> by_thread_;
};

// Splits RSS step by step. Each step takes its bytes out of what is left, from
// the best known to the least known; the rest is unattributed.
class Splitter {
 public:
  Splitter(const ResidentReplay& pages, const HeapReplay* heap, GroupBy by,
           ThreadFilter* threads)
      : pages_(pages),
        heap_(heap),
        page_bytes_(static_cast<double>(pages.model().page_bytes())),
        holdings_(by, threads) {}

  // The order matters. Files and stacks are known from pages alone. Pools need
  // pages and mappings. Blocks fill what is left of anonymous memory; the
  // remainder is free memory.
  MemorySplit Split(double rss_bytes) {
    split_.rss_bytes = rss_bytes;
    if (pages_.has_page_events()) SplitPages();
    // What came since the last scan.
    if (pages_.by_scan()) {
      const ResidentModel& model = pages_.model();
      const auto seen =
          static_cast<double>(model.OwnedBytes() + model.UnlistedBeforeBytes());
      unseen_bytes_ = std::max(0.0, rss_bytes - seen);
      TakeUnscannedFiles();
      anonymous_bytes_ += unseen_bytes_;
    }
    if (heap_ != nullptr) {
      SplitPools();
      SplitHeap();
      SplitUnseenPools();
    }
    if (!pages_.has_page_events()) TakeCounts();
    AddTracing();
    AddSinceFork();
    if (pages_.has_page_events()) {
      split_.free_bytes = anonymous_bytes_ - heap_in_anonymous_;
      // Estimates may exceed what is there.
      split_.free_bytes = std::max(split_.free_bytes, 0.0);
    }
    split_.unattributed_bytes =
        rss_bytes - split_.python_bytes - split_.native_bytes -
        split_.pool_bytes - split_.free_bytes - split_.file_bytes -
        split_.copied_bytes - split_.stack_bytes - split_.before_bytes -
        split_.since_fork_bytes - split_.tracing_bytes;
    // More pages are known than RSS has: some free pages have left unseen.
    TakeGone(&split_.free_bytes);
    // A child may have lost pages of its parent, too.
    if (pages_.header().forked()) TakeGone(&split_.before_bytes);
    if (pages_.has_page_events() && heap_ != nullptr) {
      split_.free = FindFreeMemory(pages_, *heap_, split_.free_bytes);
    }
    split_.threads = holdings_.Threads();
    split_.places = holdings_.Take();
    return std::move(split_);
  }

 private:
  // Takes a negative rest out of `part`, as far as it goes.
  void TakeGone(double* part) {
    const double gone =
        std::clamp(-split_.unattributed_bytes, 0.0, std::max(*part, 0.0));
    *part -= gone;
    split_.unattributed_bytes += gone;
  }
  void SplitPages() {
    const ResidentModel& model = pages_.model();
    split_.before_bytes = static_cast<double>(model.UnlistedBeforeBytes());
    ForEachPart(pages_, [&](const PageMap::Range& range, uint32_t id,
                            uint32_t mapping, bool copied) {
      const PageOwner& owner = model.owners()[id];
      AddPages(owner, pages_.index().MappingName(mapping), copied,
               static_cast<double>((range.end - range.begin) * owner.weight) *
                   page_bytes_);
    });
  }

  // Pages of files are in no block.
  void TakeUnscannedFiles() {
    const double files = static_cast<double>(pages_.UnscannedFileBytes()) -
                         UnscannedMappedBytes();
    const double bytes = std::min(unseen_bytes_, files);
    if (bytes <= 0) return;
    unseen_bytes_ -= bytes;
    split_.file_bytes += bytes;
    holdings_.Add(pages_.index(), pages_.FileOriginOf(pages_.UnscannedOwner()),
                  bytes, 0, PartOf::kFile);
  }

  // The part of mmap objects beyond the scanned pages. Their memory may be
  // shared: the kernel then counts it with pages of files.
  double UnscannedMappedBytes() const {
    if (heap_ == nullptr) return 0;
    const HeapModel& heap = heap_->model();
    const uint64_t page_bytes = pages_.model().page_bytes();
    double bytes = 0;
    for (const auto& [begin, part] : heap.mappings().parts()) {
      const auto& mapping = heap.mappings().OfPart(part);
      if (heap.sources()[mapping.source].pool) continue;
      const uint64_t first = begin / page_bytes;
      const uint64_t end = std::max(part.end / page_bytes, first);
      const uint64_t seen = pages_.model().pages().Covered(first, end);
      bytes += heap.WeightOf(mapping) *
               static_cast<double>((end - first - seen) * page_bytes);
    }
    return bytes;
  }

  void AddPages(const PageOwner& owner, absl::string_view mapping, bool copied,
                double bytes) {
    if (owner.before_tracing()) {
      split_.before_bytes += bytes;
      return;
    }
    const PageKind kind = KindOf(mapping);
    if (kind == PageKind::kStack) {
      split_.stack_bytes += bytes;
      return;
    }
    const bool of_file = kind == PageKind::kFile;
    (!of_file ? anonymous_bytes_
     : copied ? split_.copied_bytes
              : split_.file_bytes) += bytes;
    // For anonymous memory blocks are more exact.
    if (!of_file && heap_ != nullptr) return;
    holdings_.Add(pages_.index(),
                  of_file ? pages_.FileOriginOf(owner) : owner.origin(), bytes,
                  0, of_file ? PartOf::kFile : PartOf::kBlocks);
  }

  void SplitPools() {
    if (!pages_.has_page_events()) return;
    // Pools come before blocks, so that the blocks' estimate cannot take them.
    const std::vector<PoolPart> parts = FindPools(pages_, heap_->model());
    double all = 0;
    for (const PoolPart& part : parts) all += part.bytes;
    if (all <= 0) return;
    // Samples may exceed what is there.
    const double fit = std::min(1.0, anonymous_bytes_ / all);
    for (const PoolPart& part : parts) {
      AddPool(part, pages_.model().owners()[part.owner], fit);
    }
  }

  // The next scan shows where the memory was that no block explains.
  void SplitUnseenPools() {
    const double rest =
        std::min(unseen_bytes_, anonymous_bytes_ - heap_in_anonymous_);
    if (rest <= 0) return;
    const PageOwner owner = pages_.UnscannedOwner();
    for (const PoolPart& part : FindUnseenPools(pages_, heap_->model(), rest)) {
      AddPool(part, owner, 1);
    }
  }

  void AddPool(const PoolPart& part, const PageOwner& owner, double fit) {
    holdings_.Add(pages_.index(), owner.likely_pool_origin(), fit * part.bytes,
                  fit * fit * part.variance, PartOf::kPool,
                  LibraryName(heap_->index().MappingName(part.mapper)));
    split_.pool_bytes += fit * part.bytes;
    anonymous_bytes_ -= fit * part.bytes;
  }

  void SplitHeap() {
    const HeapModel& model = heap_->model();
    // The estimate is bounded by the anonymous memory that pools left.
    const std::vector<HeapPart> by_source = EstimateResidentHeap(
        pages_, model, anonymous_bytes_, split_.before_bytes, unseen_bytes_);
    double variance = 0;
    for (size_t i = 0; i < by_source.size(); ++i) {
      const HeapPart& part = by_source[i];
      if (part.bytes <= 0) continue;
      AddSource(model.sources()[i], part);
      variance += part.variance;
    }
    split_.heap_error_bytes = std::sqrt(variance);
  }

  void AddSource(const HeapSource& source, const HeapPart& part) {
    // Blocks in pages from before tracing reuse memory of that time.
    const double before = std::min(part.before_bytes, split_.before_bytes);
    split_.before_bytes -= before;
    heap_in_anonymous_ += part.bytes - before;
    if (source.tracing) {
      split_.tracing_bytes += part.bytes;
      return;
    }
    switch (source.key.allocator) {
      case HEAP_OBJ:
      case HEAP_MEM:
      case HEAP_RAW:
        split_.python_bytes += part.bytes;
        break;
      default:
        split_.native_bytes += part.bytes;
    }
    holdings_.Add(heap_->index(), OriginOf(source.key), part.bytes,
                  part.variance,
                  source.reserved ? PartOf::kMapped : PartOf::kBlocks);
  }

  // Without page events: uses the kernel's counts.
  void TakeCounts() {
    const auto first = static_cast<double>(pages_.header().first_rss_bytes());
    const auto own = static_cast<double>(pages_.header().own_bytes());
    if (pages_.file_bytes() == 0 || heap_ == nullptr || first < own) return;
    split_.before_bytes = first - own;
    split_.file_bytes = static_cast<double>(
        pages_.file_bytes() -
        std::min(pages_.file_bytes(), pages_.first_file_bytes()));
    // Nothing but the heap and the kernel's counts is known: what they leave is
    // taken for free memory.
    split_.free_bytes =
        std::max(0.0, split_.rss_bytes - first - split_.file_bytes -
                          split_.python_bytes - split_.native_bytes -
                          split_.tracing_bytes);
  }

  // The tracer's memory was there when tracing started.
  void AddTracing() {
    const auto own = static_cast<double>(pages_.header().own_bytes());
    const double known =
        pages_.has_page_events() ? std::min(own, split_.before_bytes) : own;
    split_.tracing_bytes += known;
    if (pages_.has_page_events()) split_.before_bytes -= known;
  }

  // Tracing of a forked process starts with its first call.
  void AddSinceFork() {
    const auto bytes = static_cast<double>(pages_.header().since_fork_bytes());
    split_.since_fork_bytes = std::min(bytes, split_.before_bytes);
    split_.before_bytes -= split_.since_fork_bytes;
  }

  const ResidentReplay& pages_;
  const HeapReplay* const heap_;
  const double page_bytes_;
  MemorySplit split_;
  Holdings holdings_;
  double anonymous_bytes_ = 0, heap_in_anonymous_ = 0;
  double unseen_bytes_ = 0;  // part of anonymous_bytes_
};

}  // namespace

MemorySplit SplitMemory(const ResidentReplay& pages, const HeapReplay* heap,
                        double rss_bytes, GroupBy by, ThreadFilter* threads) {
  return Splitter(pages, heap, by, threads).Split(rss_bytes);
}

// The heap alone, by the code that allocated: which pages are resident is not
// asked.
std::vector<PlaceHolding> OwnHoldings(const HeapReplay& heap,
                                      const std::vector<HeapSums>& sums) {
  Holdings holdings(GroupBy::kLine);
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = heap.model().sources()[i];
    if (!source.counts() || heap.index().OwnStack(source.key.stack) == 0) {
      continue;
    }
    holdings.Add(heap.index(), OriginOf(source.key), sums[i].bytes,
                 sums[i].bytes_variance, PartOf::kBlocks);
  }
  return holdings.Take();
}

}  // namespace pymemrun
