#include "readers/replay/resident/resident_table.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/output/whole_number.h"
#include "readers/places/place_table.h"
#include "readers/replay/page_errors/sample_errors.h"
#include "readers/replay/resident/page_mappings.h"
#include "readers/replay/resident/resident_replay.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// A row before it is printed: what a place has, in pages.
struct Amount {
  Place place;
  uint64_t pages = 0;
  uint64_t inferred_pages = 0;
  uint64_t unowned_pages = 0;  // by mapping
  double variance = 0;         // of pages, if they were sampled
  // Only for memory without an owner; may be negative.
  std::optional<int64_t> unattributed_bytes = {};

  int64_t Bytes(int64_t page_bytes) const {
    return unattributed_bytes.value_or(static_cast<int64_t>(pages) *
                                       page_bytes);
  }
  bool IsNothing() const { return pages == 0 && unowned_pages == 0; }
  void Add(const Amount& other) {
    variance += other.variance;
    pages += other.pages;
    inferred_pages += other.inferred_pages;
    unowned_pages += other.unowned_pages;
  }
};

// All that RSS consists of, except memory without an owner.
struct Amounts {
  std::vector<Amount> places;
  Amount other_threads;
  Amount before;        // tracing
  double variance = 0;  // of all pages
};

// Whether the owner's thread is left out.
bool IsOther(const PageOwner& owner, ThreadFilter* threads) {
  return threads != nullptr && !threads->Keeps(owner.thread);
}

// Sets the variances. `number_of` returns the index in amounts.places that a
// page's owner is summed up in. The error depends on which sampled pages are
// neighbours, so pages are visited one by one.
template <typename NumberOf>
void SetVariances(const ResidentModel& model, ThreadFilter* threads,
                  NumberOf number_of, Amounts* amounts) {
  if (!model.sampled()) return;
  SampleErrors errors(model.page_bytes());
  const size_t all = amounts->places.size(), others = all + 1;
  model.pages().ForEach([&](const PageMap::Run& run) {
    const PageOwner& owner = model.owners()[run.owner];
    const uint32_t weight = owner.weight;
    if (weight <= 1) return;
    const bool is_other = IsOther(owner, threads);
    for (uint64_t page = run.begin; page < run.end; ++page) {
      errors.Add(is_other ? others : number_of(page, run.owner), page, weight,
                 weight);
      errors.Add(all, page, weight, weight);
    }
  });
  for (size_t i = 0; i < all; ++i) {
    amounts->places[i].variance = errors.VarianceOf(i);
  }
  amounts->variance = errors.VarianceOf(all);
  amounts->other_threads.variance = errors.VarianceOf(others);
}

// Adds the variance of pages that may belong to either of two places.
// `number_of` returns the index in amounts.places for an owner.
template <typename NumberOf>
void AddInferenceErrors(const ResidentReplay& replay, ThreadFilter* threads,
                        NumberOf number_of, Amounts* amounts) {
  const ResidentModel& model = replay.model();
  const auto is_other = [&](uint32_t owner) {
    return IsOther(model.owners()[owner], threads);
  };
  replay.inference().ForEach(
      [&](uint32_t owner) { return model.PagesOf(owner); },
      [&](uint32_t owner, uint32_t other, double variance) {
        if (variance == 0) return;
        // Both are the same thread's.
        if (is_other(owner) || is_other(other)) return;
        const uint32_t number = number_of(owner);
        if (number == number_of(other)) return;
        amounts->places[number].variance += variance;
      });
}

// Linear in the number of owners, not of pages, unless pages were sampled.
Amounts ByOwner(GroupBy by, const ResidentReplay& replay,
                ThreadFilter* threads) {
  const ResidentModel& model = replay.model();
  PlaceTable table;
  OriginNumbers numbers(by, &replay.index(), &table);
  Amounts amounts;
  for (uint32_t id = 1; id < model.owners().size(); ++id) {
    const uint64_t pages = model.PagesOf(id);
    if (pages == 0) continue;
    const PageOwner& owner = model.owners()[id];
    Amount* amount = &amounts.before;
    if (!owner.before_tracing() && IsOther(owner, threads)) {
      amount = &amounts.other_threads;
    } else if (!owner.before_tracing()) {
      amount = &RowOfPlace(numbers.NumberOf(id, replay.OriginOf(owner)),
                           table.places(), &amounts.places);
    }
    amount->pages += pages;
    if (owner.inferred) amount->inferred_pages += pages;
  }
  const auto number_of = [&](uint32_t id) {
    return numbers.NumberOf(id, replay.OriginOf(model.owners()[id]));
  };
  // Pages from before tracing are not sampled.
  SetVariances(
      model, threads, [&](uint64_t, uint32_t id) { return number_of(id); },
      &amounts);
  AddInferenceErrors(replay, threads, number_of, &amounts);
  return amounts;
}

// Memory from before tracing belongs to mappings, too, but to no thread. A
// page's mapping may be known only from a later Residency, so runs of pages are
// visited instead of owners.
Amounts ByMapping(const ResidentReplay& replay, ThreadFilter* threads) {
  const ResidentModel& model = replay.model();
  Amounts amounts;
  PlaceTable table;
  OriginNumbers numbers(GroupBy::kMapping, &replay.index(), &table);
  const auto number_of = [&](uint32_t mapping) {
    const uint32_t number = numbers.NumberOf(mapping, {.mapping = mapping});
    RowOfPlace(number, table.places(), &amounts.places);
    return number;
  };
  ForEachMapped(
      replay, [&](const PageMap::Range& range, uint32_t id, uint32_t mapping) {
        const PageOwner& owner = model.owners()[id];
        const uint64_t pages = (range.end - range.begin) * owner.weight;
        Amount& amount = !IsOther(owner, threads)
                             ? amounts.places[number_of(mapping)]
                         : owner.before_tracing() ? amounts.before
                                                  : amounts.other_threads;
        amount.pages += pages;
        if (owner.inferred) amount.inferred_pages += pages;
      });
  for (const auto& [mapping, pages] : model.Unowned()) {
    if (threads != nullptr) break;  // their threads are unknown
    amounts.places[number_of(mapping)].unowned_pages += pages;
  }
  PageMappings again(replay);
  SetVariances(
      model, threads,
      [&](uint64_t page, uint32_t owner) {
        return number_of(again.Of(page, model.owners()[owner]));
      },
      &amounts);
  return amounts;
}

// The thread and the mapping of a page are certain.
bool HasErrors(GroupBy by, const ResidentReplay& replay) {
  return replay.model().sampled() ||
         (replay.infers() && by != GroupBy::kThread && by != GroupBy::kMapping);
}

TableColumns<Amount> ColumnsOf(GroupBy by, const ResidentReplay& replay) {
  const ResidentModel& model = replay.model();
  const auto page_bytes = static_cast<int64_t>(model.page_bytes());
  // For places with an owner.
  const auto owned = [page_bytes](uint64_t Amount::*pages) {
    return [=](const Amount& of) -> Cell {
      if (of.unattributed_bytes.has_value()) return {};
      return of.*pages * static_cast<uint64_t>(page_bytes);
    };
  };
  TableColumns<Amount> columns;
  columns.AddBytes("resident_bytes", "resident",
                   [=](const auto& of) { return of.Bytes(page_bytes); });
  columns.Add("pages", "pages", [=](const auto& of) {
    return of.Bytes(page_bytes) / page_bytes;
  });
  columns.AddShare(static_cast<double>(model.RssBytes()), [=](const auto& of) {
    return static_cast<double>(of.Bytes(page_bytes));
  });
  columns.AddBytes("inferred_bytes", "inferred",
                   owned(&Amount::inferred_pages));
  if (by == GroupBy::kMapping) {
    columns.AddBytes("unowned_bytes", "no owner",
                     owned(&Amount::unowned_pages));
  }
  if (HasErrors(by, replay)) {
    // A page belongs to RSS, whichever place it is charged to.
    columns.AddError("error_bytes", "std error", [=, &model](const Amount& of) {
      return of.unattributed_bytes.has_value() && !model.sampled()
                 ? std::nullopt
                 : std::optional(of.variance * page_bytes * page_bytes);
    });
  }
  return columns;
}

// "1.2 MiB of libc.so.6, ...": the largest ones.
std::string UnownedText(const ResidentReplay& replay) {
  constexpr size_t kMost = 3;
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const auto& [mapping, pages] : replay.model().Unowned()) {
    if (pages > 0) order.emplace_back(pages, mapping);
  }
  std::sort(order.rbegin(), order.rend());
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kMost); ++i) {
    absl::StrAppend(
        &text, text.empty() ? "" : ", ",
        HumanBytes(static_cast<double>(order[i].first) *
                   static_cast<double>(replay.model().page_bytes())),
        " of ",
        ShortTerminalText(ShownMapping(replay.index(), order[i].second), 60,
                          /*keep_end=*/true));
  }
  return text;
}

}  // namespace

Table ResidentTable(GroupBy by, uint64_t limit, const ResidentReplay& replay,
                    ThreadFilter* threads) {
  Amounts amounts = by == GroupBy::kMapping ? ByMapping(replay, threads)
                                            : ByOwner(by, replay, threads);
  std::vector<Amount>& places = amounts.places;
  places.erase(
      std::remove_if(places.begin(), places.end(),
                     [](const Amount& amount) { return amount.IsNothing(); }),
      places.end());
  const Amount others = KeepTop(
      limit, [](const Amount& amount) { return amount.pages; }, &places);
  amounts.before.pages +=
      replay.model().UnlistedBeforeBytes() / replay.model().page_bytes();
  // Grouped by mapping there is no such row.
  Amount tracing;
  if (by != GroupBy::kMapping) {
    const uint64_t page_bytes = replay.model().page_bytes();
    tracing.pages =
        replay.TracingBytesOf(amounts.before.pages * page_bytes) / page_bytes;
    amounts.before.pages -= tracing.pages;
  }
  PlaceTableMaker<Amount> maker(by, ColumnsOf(by, replay));
  maker.AddPlaces(places);
  maker.AddRest(kOtherPlaces, others);
  maker.AddRest(kOtherThreads, amounts.other_threads);
  maker.AddRest(kBeforeTracing, amounts.before);
  maker.AddRest(kTracingItself, tracing);
  Amount rest;
  rest.variance = amounts.variance;
  rest.unattributed_bytes = replay.model().UnattributedBytes();
  maker.AddNamed(kUnattributed, rest);
  return maker.Take();
}

PlaceTree EmptyResidentTree(GroupBy by, const ResidentReplay& replay) {
  const ResidentModel& model = replay.model();
  PlaceTree tree(by, &replay.index(),
                 {TreeUnit::kBytes, "resident_bytes", "resident"});
  tree.SetRest(kUnattributed, static_cast<double>(model.UnattributedBytes()),
               static_cast<double>(model.RssBytes()));
  return tree;
}

// Inclusive sums come last, by SumUp(): each owner is added once, at its
// innermost frame.
PlaceTree ResidentTree(GroupBy by, const ResidentReplay& replay,
                       ThreadFilter* threads) {
  const ResidentModel& model = replay.model();
  PlaceTree tree = EmptyResidentTree(by, replay);
  const auto add = [&](uint32_t node, uint64_t pages) {
    tree.Add(node, static_cast<double>(pages * model.page_bytes()), 0);
  };
  for (uint32_t id = 1; id < model.owners().size(); ++id) {
    const uint64_t pages = model.PagesOf(id);
    if (pages == 0) continue;
    const PageOwner& owner = model.owners()[id];
    if (owner.before_tracing()) {
      const uint32_t before = tree.Child(0, NamedPlace(kBeforeTracing));
      add(tree.Child(before, PlaceOf(GroupBy::kMapping, replay.index(),
                                     owner.origin())),
          pages);
    } else if (IsOther(owner, threads)) {
      add(tree.Child(0, NamedPlace(kOtherThreads)), pages);
    } else {
      add(tree.NodeOf(replay.OriginOf(owner)), pages);
    }
  }
  tree.AddNamed(kBeforeTracing,
                static_cast<double>(model.UnlistedBeforeBytes()), 0);
  tree.SumUp();
  return tree;
}

std::string SampledText(const Header& header) {
  if (header.page_weight() <= 1) return "not every page fault was recorded";
  return absl::StrCat("one page in ", Grouped(header.page_weight()),
                      " was recorded");
}

std::string EstimatedText(const Header& header, bool sampled) {
  std::string text;
  if (header.page_period() > 1) {
    absl::StrAppend(&text,
                    "inferred: in bursts, some pages, chosen at random, are "
                    "traced with their own stack; the other pages take their "
                    "thread's nearest stack\n");
  }
  if (sampled) {
    absl::StrAppend(&text, "estimated: ", SampledText(header),
                    "; one standard error is shown beside the bytes\n");
    // Between two recorded pages lines take turns that nobody sees.
    constexpr uint32_t kFewStacks = 30;
    if (header.page_period() > 1 && header.page_weight() >= kFewStacks) {
      absl::StrAppend(&text, "from a --page-period of ", kFewStacks,
                      " on, stacks are too rare to tell lines apart: the "
                      "error is a lower bound\n");
    }
  }
  return text;
}

std::string ResidentHeading(const ResidentReplay& replay,
                            absl::string_view moment) {
  const ResidentModel& model = replay.model();
  std::string text = absl::StrCat(
      "RSS ", HumanBytes(static_cast<double>(model.RssBytes())), " at ", moment,
      "; ",
      replay.by_scan()
          ? "pages by scan: charged by allocation, not by first touch"
          : "bytes are charged to the line that first touched the page",
      "\n");
  absl::StrAppend(&text, EstimatedText(replay.header(), model.sampled()));
  if (replay.lost_samples() > 0) {
    absl::StrAppend(&text, Counted(replay.lost_samples(), "page event"),
                    " lost before that\n");
  }
  if (model.not_kept() > 0) {
    absl::StrAppend(&text, Counted(model.not_kept(), "page"),
                    " did not fit: they are unattributed\n");
  }
  const std::string unowned = replay.by_scan() ? "" : UnownedText(replay);
  if (!unowned.empty()) {
    absl::StrAppend(&text, "resident without an owner: ", unowned, "\n");
  }
  return text;
}

}  // namespace pymemrun
