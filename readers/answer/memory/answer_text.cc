#include "readers/answer/memory/answer_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/answer/memory/answer_notes.h"
#include "readers/output/screen_text.h"
#include "readers/replay/summary/run_facts.h"
#include "text/block_chart.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Parts below this share of the whole have no row of their own.
constexpr double kLeastShare = 0.005;
constexpr double kMiB = 1 << 20;
constexpr size_t kGap = 2;  // between columns
constexpr size_t kLeastName = 16;

// The common folder of the user's own files.
std::string FolderOf(const Answer& answer) {
  absl::string_view folder;
  bool is_first = true;
  for (const AnswerMoment* const moment : {&answer.peak, &answer.end}) {
    for (const PlaceHolding& holding : moment->split.places) {
      const absl::string_view file = holding.place.file;
      if (!holding.is_own || file.empty() || file.front() != '/') continue;
      if (is_first) folder = file.substr(0, file.rfind('/'));
      is_first = false;
      while (!folder.empty() &&
             !absl::StartsWith(file, absl::StrCat(folder, "/"))) {
        folder = folder.substr(0, folder.rfind('/'));
      }
    }
  }
  return std::string(folder);
}

class AnswerWriter {
 public:
  AnswerWriter(const Answer& answer, const AnswerTextOptions& options)
      : answer_(answer),
        options_(options),
        terminal_(options.terminal),
        text_(&options.terminal),
        columns_(text_.columns()),
        split_(answer.peak.split),
        folder_(FolderOf(answer)),
        source_(&answer.facts.index(), answer.facts.header.cwd(),
                answer.facts.header.start_realtime_ns()) {}

  std::string TakeBrief() {
    AddSentences();
    AddPlaces();
    AddAlso();
    return text_.Take();
  }

  std::string Take() {
    AddHead();
    AddSentences();
    AddParts();
    AddPlaces();
    AddEnd();
    AddAlso();
    AddNext();
    return text_.Take();
  }

 private:
  std::string NameOf(const Place& place) const {
    std::string name = TerminalText(ShortPath(place.file, folder_));
    if (place.line != 0) absl::StrAppend(&name, ":", place.line);
    return name;
  }

  void AddHead() {
    const Header& header = answer_.facts.header;
    std::vector<std::string> parts;
    const absl::string_view path = header.script();
    const std::string script = TerminalText(path.substr(path.rfind('/') + 1));
    if (!script.empty()) parts.push_back(script);
    parts.push_back(HumanSeconds(answer_.facts.DurationUs()));
    parts.push_back(EndText(answer_.facts));
    parts.push_back(RecordedText(answer_.facts, answer_.has_pages));
    text_.Paragraph(absl::StrJoin(parts, "   "));
    text_.Line();
  }

  // The line to name: an import only if no other line holds much, or grows.
  // Imports come after all other lines.
  const PlaceHolding* First() const {
    constexpr double kMuch = 0.05;
    const double much = answer_.growing.empty() ? kMuch : kLeastShare;
    const PlaceHolding* largest = nullptr;
    for (const PlaceHolding& holding : split_.places) {
      if (!holding.is_own || holding.bytes <= kLeastShare * split_.rss_bytes) {
        continue;
      }
      if (!holding.is_import && holding.bytes > much * split_.rss_bytes) {
        return &holding;
      }
      if (largest == nullptr) largest = &holding;
    }
    return largest;
  }

  std::string PeakText() const {
    const bool is_open = answer_.PeakIsOpen();
    std::string text = absl::StrCat("Peak ", is_open ? "at least " : "",
                                    ShortBytes(answer_.peak_bytes), " at ",
                                    HumanSeconds(answer_.peak.time_us), ".");
    if (!is_open) return text;
    return absl::StrCat(text, " RSS was not read in the last ",
                        HumanSeconds(answer_.end_unknown_us), ".");
  }

  void AddSentences() {
    const std::string loss = LossText(answer_);
    AddIfAny(loss);
    AddIfAny(CutText(answer_));
    const std::string headline = PeakText();
    std::string text = headline;
    const PlaceHolding* const first = First();
    if (split_.rss_bytes > 0) {
      const LargestPart part =
          LargestPartOf(answer_, first == nullptr ? 0 : first->bytes);
      if (part.bytes > kLeastShare * split_.rss_bytes) {
        absl::StrAppend(&text, " ", ShortBytes(part.bytes), " of it (",
                        Percent(part.bytes / split_.rss_bytes), ") ", part.is,
                        ".");
        if (first != nullptr) absl::StrAppend(&text, " Among your lines,");
      }
      if (first != nullptr) {
        absl::StrAppend(&text, " ", HoldsText(answer_, *first, name_of_));
      }
    }
    // After losses both figures are wrong, so their difference says nothing.
    const double back = split_.rss_bytes - answer_.end.split.rss_bytes;
    if (loss.empty() && answer_.end.split.rss_bytes > 0 && back > kMiB &&
        back > 0.05 * split_.rss_bytes) {
      absl::StrAppend(
          &text, " ", ShortBytes(back), " was released before ",
          answer_.has_no_end ? "the last record." : "the program ended.");
    }
    text_.Paragraph(text, headline);
    AddIfAny(GrowingText(answer_, name_of_));
    if (!options_.brief) AddIfAny(ThreadsText(answer_));
    text_.Line();
  }

  void AddIfAny(const std::string& sentences) {
    if (!sentences.empty()) text_.Paragraph(sentences);
  }

  void AddParts() {
    AddPart("RSS at the peak", split_.rss_bytes, /*is_sum=*/true);
    for (const auto& [name, bytes] : PartsOf(split_, answer_)) {
      AddPart(absl::StrCat("  ", name), bytes, false);
    }
    text_.Line();
  }

  void AddPart(const std::string& name, double bytes, bool is_sum) {
    constexpr size_t kNameColumns = 28, kSizeColumns = 9;
    std::string line = absl::StrCat(PadRight(name, kNameColumns),
                                    PadLeft(ShortBytes(bytes), kSizeColumns));
    const size_t used = kNameColumns + kSizeColumns + 2;
    if (!is_sum && columns_ > used + 8 && split_.rss_bytes > 0) {
      absl::StrAppend(
          &line, "  ",
          terminal_.Bar(BlockBar(bytes / split_.rss_bytes,
                                 std::min<size_t>(columns_ - used, 40),
                                 terminal_.unicode)));
    }
    is_sum ? text_.Heading(line) : text_.Line(line);
  }

  std::string Curve(const Place& place) const {
    const auto found = answer_.over_time.bytes.find(place);
    if (found == answer_.over_time.bytes.end()) return "";
    return terminal_.Bar(
        BlockCurve(found->second, Answer::kSteps, terminal_.unicode));
  }

  // A line's name gets a third of the width at most; its source text gets the
  // rest.
  void AddPlaces() {
    std::vector<const PlaceHolding*> own;
    PlaceHolding others, libraries;
    size_t other_lines = 0;
    for (const PlaceHolding& holding : split_.places) {
      if (!holding.is_own) {
        libraries.bytes += holding.bytes;
      } else if (own.size() < options_.lines &&
                 holding.bytes >= kLeastShare * split_.rss_bytes) {
        own.push_back(&holding);
      } else {
        ++other_lines;
        others.bytes += holding.bytes;
      }
    }
    if (own.empty() && other_lines == 0) return;
    constexpr size_t kCurveColumns = 12;
    const bool has_curves = columns_ >= 60 &&
                            !answer_.over_time.bytes.empty() && !own.empty() &&
                            !options_.brief;
    const std::string title = "Your lines at the peak";
    if (!options_.brief) {
      text_.Heading(
          has_curves
              ? absl::StrCat(PadRight(title, columns_ - kCurveColumns + 2),
                             "over time")
              : title);
    }
    size_t name_columns = 0;
    for (const PlaceHolding* holding : own) {
      name_columns = std::max(name_columns, ColumnsOf(NameOf(holding->place)));
      has_errors_ |= !ErrorOf(*holding).empty();
    }
    const size_t room = columns_ - ColumnsOf(Numbers(0)) - kGap -
                        (has_curves ? kCurveColumns : 0);
    name_columns =
        std::min({name_columns, std::max(columns_ / 3, kLeastName), room});
    for (const PlaceHolding* holding : own) {
      AddPlace(*holding, name_columns, has_curves ? kCurveColumns : 0);
    }
    if (options_.brief) return;
    if (other_lines > 0) {
      AddRest(others.bytes,
              Counted(other_lines, own.empty() ? "line" : "more line"));
    }
    if (libraries.bytes >= kLeastShare * split_.rss_bytes) {
      AddRest(libraries.bytes, "library code only", "not yours");
    }
    text_.Line();
  }

  // One standard error, if it is large enough to show.
  std::string ErrorOf(const PlaceHolding& holding) const {
    const double error = std::sqrt(std::max(holding.variance, 0.0));
    if (error <= 0.05 * holding.bytes) return "";
    return absl::StrCat(terminal_.unicode ? "±" : "+-", ShortBytes(error));
  }

  std::string Numbers(double bytes, absl::string_view error = "") const {
    const double share = split_.rss_bytes > 0 ? bytes / split_.rss_bytes : 0.0;
    return absl::StrCat(
        PadLeft(ShortBytes(bytes), 9),
        has_errors_ ? PadLeft(error, terminal_.unicode ? 9 : 10) : "",
        PadLeft(Percent(share), 6));
  }

  // `briefly`: there is little room.
  void AddRest(double bytes, absl::string_view what,
               absl::string_view briefly = "") {
    const std::string numbers = Numbers(bytes) + std::string(kGap, ' ');
    const bool fits = ColumnsOf(numbers) + ColumnsOf(what) <= columns_;
    text_.Line(absl::StrCat(numbers, fits || briefly.empty() ? what : briefly));
  }

  void AddPlace(const PlaceHolding& holding, size_t name_columns,
                size_t curve_columns) {
    std::string line = Numbers(holding.bytes, ErrorOf(holding));
    std::string name = NameOf(holding.place);
    if (ColumnsOf(name) > name_columns) {
      name = CutPath(name, name_columns, terminal_.unicode);
    }
    absl::StrAppend(&line, std::string(kGap, ' '), PadRight(name, name_columns),
                    std::string(kGap, ' '));
    const size_t end = columns_ - curve_columns;
    const size_t used = ColumnsOf(line);
    if (end > used + 8) {
      const std::string source =
          source_.Line(holding.place.file, holding.place.line);
      line += CutToColumns(
          holding.pool_bytes > holding.bytes / 2
              ? absl::StrCat("[", TerminalText(holding.kept_by), "] ", source)
          : holding.waits_bytes > holding.bytes / 2
              ? absl::StrCat("[its threads] ", source)
              : source,
          end - used);
    }
    if (curve_columns > 0) {
      line = absl::StrCat(PadRight(line, end + 2), Curve(holding.place));
    }
    text_.Line(line);
  }

  void AddEnd() {
    AddIfAny(StillThere(answer_, name_of_));
    AddIfAny(FreeMemoryText(answer_, name_of_));
    AddIfAny(PoolsText(answer_));
    AddIfAny(InheritedText(answer_, name_of_));
    AddIfAny(UnrecordedText(answer_));
    if (!source_.first_changed().empty()) {
      text_.Paragraph(absl::StrCat(
          TerminalText(ShortPath(source_.first_changed(), folder_)),
          " changed after the run, or is gone: its lines have no text here."));
    }
    text_.Line();
  }

  void AddAlso() {
    for (const std::string& sentence : options_.also) text_.Paragraph(sentence);
    if (options_.also.empty()) AddIfAny(AlsoRecorded(answer_));
    if (!options_.also.empty()) text_.Line();
  }

  void AddNext() {
    constexpr size_t kMostCommands = 3, kMarks = 4;  // "  " and " \\"
    std::vector<NextCommand> all = options_.next;
    all.resize(std::min(all.size(), kMostCommands));
    for (NextCommand& next : all) {
      for (std::string& word : next.words) {
        // A path from the program that is longer than a line.
        if (terminal_.fits() && ColumnsOf(word) + kMarks > columns_)
          word = "...";
      }
      text_.Command(next.words, next.what);
    }
  }

  const Answer& answer_;
  const AnswerTextOptions& options_;
  const Terminal& terminal_;
  ScreenText text_;
  const size_t columns_;
  const MemorySplit& split_;
  const std::string folder_;
  SourceText source_;
  const NameOfPlace name_of_ = [this](const Place& place) {
    return NameOf(place);
  };
  bool has_errors_ = false;  // in the table of lines
};

}  // namespace

// Writes again with fewer lines of code, then with fewer commands, until it
// fits.
std::string AnswerText(const Answer& answer, const AnswerTextOptions& options) {
  if (options.brief) return AnswerWriter(answer, options).TakeBrief();
  constexpr ptrdiff_t kMostLines = 40;
  AnswerTextOptions fitting = options;
  for (;;) {
    std::string text = AnswerWriter(answer, fitting).Take();
    const ptrdiff_t lines = std::count(text.begin(), text.end(), '\n');
    if (lines <= kMostLines) return text;
    if (fitting.lines > 1) {
      --fitting.lines;
    } else if (fitting.next.size() > 1) {
      fitting.next.pop_back();
    } else {
      return text;
    }
  }
}

std::string SourceText::Line(absl::string_view file, uint32_t line) {
  std::optional<std::string> text = Find(file, line);
  if (!text.has_value() && first_changed_.empty()) {
    first_changed_ = std::string(file);
  }
  return text.value_or("");
}

// The text in the run file is best. Otherwise the file's text must have the
// line's hash or, without one, be older than the run.
std::optional<std::string> SourceText::Find(absl::string_view file,
                                            uint32_t line) {
  const std::string path = SourcePath(file, folder_);
  if (line == 0 || path.empty()) return "";  // no file has it
  const SourceLine* const known = index_.source_lines().Find(file, line);
  if (known != nullptr && !known->text.empty()) return std::string(known->text);
  auto [found, is_new] = files_.try_emplace(path);
  if (is_new) found->second = ReadSourceCode(path);
  const std::optional<SourceCode>& source = found->second;
  if (!source.has_value()) return std::nullopt;
  const std::vector<absl::string_view> lines = source->Lines();
  if (line > lines.size()) return std::nullopt;
  const absl::string_view text = lines[line - 1];
  const bool is_same = known != nullptr ? known->hash == SourceLineHash(text)
                                        : source->mtime_ns <= last_ns_;
  if (!is_same) return std::nullopt;
  return std::string(absl::StripAsciiWhitespace(text));
}

}  // namespace pymemrun
