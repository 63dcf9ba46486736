#include "readers/objects/blocks/load_allocations.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "format/records/record_visitor.h"
#include "readers/objects/blocks/block_replay.h"
#include "readers/places/place_table.h"
#include "readers/run/forked_run.h"
#include "readers/run/input_file.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Keeps the replay, which has the names.
class BlockAllocations final : public NodeAllocations {
 public:
  // A line is found once for each stack, not for each object.
  BlockAllocations(std::unique_ptr<BlockReplay> replay, NodeId nodes)
      : replay_(std::move(replay)), texts_(1) {
    OriginNumbers numbers(GroupBy::kLine, &replay_->index(), &places_);
    for (NodeId node = 0; node < nodes; ++node) {
      const auto allocation = replay_->Of(node);
      if (!allocation.has_value()) continue;
      if (allocation->stack >= by_stack_.size()) {
        by_stack_.resize(allocation->stack + allocation->stack / 2 + 16);
      }
      uint32_t& line = by_stack_[allocation->stack];
      if (line != 0) continue;
      Origin origin;
      origin.stack = allocation->stack;
      origin.thread = allocation->thread;
      line = numbers.NumberOf(allocation->stack, origin) + 1;
    }
    for (const Place& place : places_.places()) {
      texts_.push_back(LabelOf(place));
    }
  }

  std::optional<NodeAllocation> Of(NodeId node) const override {
    return replay_->Of(node);
  }
  uint32_t LineOf(NodeId node) const override {
    const auto allocation = replay_->Of(node);
    return allocation.has_value() ? by_stack_[allocation->stack] : 0;
  }
  const std::string& LineText(uint32_t line) const override {
    return texts_[line];
  }
  const RunIndex& index() const override { return replay_->index(); }
  bool sampled() const override { return replay_->sampled(); }

 private:
  const std::unique_ptr<BlockReplay> replay_;
  PlaceTable places_;
  // The line's number, by stack; 0: not needed.
  std::vector<uint32_t> by_stack_;
  std::vector<std::string> texts_;  // by the line's number
};

// Fails if the file is of no use.
absl::Status Replay(const std::string& path, const Console* console,
                    BlockReplay* replay, uint64_t* damages) {
  const auto file = InputFile::Open(path);
  const std::string name = TerminalText(path);
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(absl::StrCat("there is no ", name));
  }
  if (!file.ok()) {
    return {file.status().code(),
            absl::StrCat(name, ": ", file.status().message())};
  }
  std::optional<DamageTeller> teller;
  if (console != nullptr) teller.emplace(console, (*file)->shown_name());
  replay->TellDamage(teller.has_value() ? &*teller : nullptr);
  const auto with_parent = WithInherited(path, replay);
  FdSource source((*file)->fd());
  ReadResult result;
  const absl::Status status =
      ReadStream(&source, StreamReader::Options(),
                 with_parent == nullptr ? replay : with_parent.get(), &result);
  replay->TellDamage(nullptr);
  replay->Finish();
  *damages = result.damages;
  if (!status.ok() && !result.has_header) {
    return {status.code(), absl::StrCat(name, ": ", status.message())};
  }
  if (!replay->is_same_process()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " is of another process"));
  }
  if (!replay->has_heap_events()) {
    return absl::FailedPreconditionError(absl::StrCat(
        name,
        " has no heap events: the run was made with --heap off or stats"));
  }
  return absl::OkStatus();
}

}  // namespace

namespace {

// "a/run" for "a/run.obj.pb" and "a/run.obj-2.pb"; empty for other names.
std::string StemOfDump(const std::string& dump_path) {
  absl::string_view rest = dump_path;
  if (!absl::ConsumeSuffix(&rest, ".pb")) return "";
  const absl::string_view whole = rest;
  while (!rest.empty() && absl::ascii_isdigit(rest.back())) {
    rest.remove_suffix(1);
  }
  if (rest.size() == whole.size() || !absl::ConsumeSuffix(&rest, ".obj-")) {
    rest = whole;
    if (!absl::ConsumeSuffix(&rest, ".obj")) return "";
  }
  return rest.empty() || rest.back() == '/' ? "" : std::string(rest);
}

}  // namespace

std::string RunFileOf(const std::string& dump_path) {
  const std::string stem = StemOfDump(dump_path);
  if (stem.empty()) return "";
  std::string usual = absl::StrCat(stem, ".pb");
  std::error_code error;
  return !std::filesystem::exists(usual, error) &&
                 std::filesystem::is_regular_file(stem, error)
             ? stem
             : usual;
}

// Dumps of one run differ by their number, so the longest name, then the
// greatest, is the last.
std::string LastDumpOf(const std::string& run_path) {
  const std::filesystem::path run(run_path);
  const std::string folder =
      run.has_parent_path() ? run.parent_path().string() : ".";
  std::string stem = run.filename().string();
  if (absl::EndsWith(stem, ".pb")) stem.resize(stem.size() - 3);
  std::error_code error;
  std::string last;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (stem.empty() || StemOfDump(name) != stem) continue;
    // "run.obj.pb" precedes "run.obj-2.pb", which precedes "run.obj-10.pb".
    if (last.empty() ||
        std::pair(name.size(), name) > std::pair(last.size(), last)) {
      last = name;
    }
  }
  return last.empty() ? "" : (run.parent_path() / last).string();
}

AllocationsRead LoadAllocations(const std::string& dump_path,
                                const std::string& run_path,
                                const Console* console,
                                const ObjectGraph& graph) {
  AllocationsRead read;
  if (graph.facts().header.pid() == 0) {
    read.status = absl::FailedPreconditionError(
        "the dump does not say which process it is of");
    return read;
  }
  const std::string run = run_path.empty() ? RunFileOf(dump_path) : run_path;
  if (run.empty()) {
    read.status = absl::NotFoundError(
        "the run file is not known from the dump's name; give it with --run");
    return read;
  }
  auto replay = std::make_unique<BlockReplay>(&graph);
  read.status = Replay(run, console, replay.get(), &read.damages);
  read.own_bytes = replay->own_bytes();
  if (!read.status.ok()) return read;
  read.allocations =
      std::make_unique<BlockAllocations>(std::move(replay), graph.nodes());
  return read;
}

}  // namespace pymemrun
