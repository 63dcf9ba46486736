#include "format/summary/end_report.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "format/summary/gauge_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr size_t kColumns = 80;
// With these the report stays below kMaxEndReportBytes.
constexpr size_t kMaxFileNameBytes = 1000;
constexpr size_t kMaxNameBytes = 192;
constexpr size_t kMaxReasonBytes = 192;

// The report as it grows, line by line. A line that continues another one is
// indented.
class Paragraph {
 public:
  // What follows begins a line.
  void NewLine() {
    if (!at_begin_) Break(kPrefix);
  }
  void NewIndentedLine() {
    if (!at_begin_) Break(kIndented);
  }
  // The same, unless `text` still fits on the line.
  void NewLineFor(absl::string_view text) {
    if (!Fits(ColumnsOf(text))) NewLine();
  }
  // Adds `piece`, which is never broken, after a space.
  void Add(absl::string_view piece) {
    const size_t columns = ColumnsOf(piece);
    if (!at_begin_ && !Fits(columns)) Break(kIndented);
    if (!at_begin_) {
      text_ += ' ';
      ++column_;
    }
    absl::StrAppend(&text_, piece);
    column_ += columns;
    at_begin_ = false;
  }
  // Adds the pieces as one, unless that is much longer than a line.
  void AddTogether(const std::vector<std::string>& pieces) {
    const std::string all = absl::StrJoin(pieces, " ");
    if (ColumnsOf(all) <= kColumns) return Add(all);
    NewIndentedLine();
    for (const std::string& piece : pieces) Add(piece);
  }
  // Adds `text`, which may be broken at its spaces.
  void AddWords(absl::string_view text) {
    for (const absl::string_view word :
         absl::StrSplit(text, ' ', absl::SkipEmpty())) {
      Add(word);
    }
  }
  std::string Take() { return std::move(text_) + '\n'; }

 private:
  static constexpr absl::string_view kPrefix = "pymemrun: ";
  static constexpr absl::string_view kIndented = "pymemrun:   ";

  bool Fits(size_t columns) const { return column_ + 1 + columns <= kColumns; }
  void Break(absl::string_view prefix) {
    absl::StrAppend(&text_, "\n", prefix);
    column_ = prefix.size();
    at_begin_ = true;
  }

  std::string text_{kPrefix};
  size_t column_ = kPrefix.size();
  bool at_begin_ = true;  // of a line: no space is needed
};

void AddPlace(const EndReportPlace& place, Paragraph* out) {
  out->AddTogether(
      {absl::StrCat(ShortTerminalText(place.file, kMaxNameBytes, true), ":",
                    place.line),
       ShortTerminalText(place.function, kMaxNameBytes, false),
       absl::StrCat("(", What_Name(place.what), ","),
       absl::StrCat(ShortTerminalText(place.thread_name, kMaxNameBytes, false),
                    "#", place.native_thread_id, ").")});
}

void AddCounts(const EndReportInput& in, Paragraph* out) {
  const Footer& footer = in.footer;
  out->Add(absl::StrCat(
      ShortTerminalText(in.file_name, kMaxFileNameBytes, true), ":"));
  const std::string size =
      absl::StrCat(HumanBytes(static_cast<double>(in.file_bytes)), ".");
  if (in.header.calls_off() && footer.events() == 0) return out->Add(size);
  out->Add(absl::StrCat(Counted(footer.events(), "event"), ","));
  const bool has_context = footer.context_rows() > 0;
  out->Add(absl::StrCat(Counted(footer.rows(), "row"), has_context ? "" : ","));
  if (has_context) {
    out->Add(
        absl::StrCat("(", Grouped(footer.context_rows()), " as context),"));
  }
  if (in.has_footer || footer.dropped() > 0) {
    out->Add(absl::StrCat(in.has_footer ? "" : "at least ",
                          Grouped(footer.dropped()), " dropped,"));
  } else {
    out->Add("losses unknown,");
  }
  if (footer.lost_on_write() > 0) {
    out->Add(Grouped(footer.lost_on_write()));
    out->AddWords("lost because the file could not be written,");
  }
  out->Add(size);
}

// Says what others did to the file, for whoever looks for it.
void AddOutputName(const EndReportInput& in, Paragraph* out) {
  const Footer::OutputName name = in.footer.output_name();
  if (name == Footer::OUTPUT_KEPT) return;
  out->NewLine();
  out->AddWords(name == Footer::OUTPUT_DELETED
                    ? "The run file was deleted while it was written; nothing "
                      "remains of it."
                    : "The run file was renamed or moved while it was "
                      "written.");
}

// Names the filters to look at where patterns were given and no row passed.
void AddNothingMatched(const EndReportInput& in, Paragraph* out) {
  const Footer& footer = in.footer;
  const Filters& filters = in.header.filters();
  std::vector<absl::string_view> given;
  if (filters.include_size() > 0) given.push_back("--include");
  if (filters.exclude_size() > 0) given.push_back("--exclude");
  if (filters.function_size() > 0) given.push_back("--function");
  if (filters.thread_size() > 0) given.push_back("--thread");
  const uint64_t rows =
      footer.rows() + footer.dropped() + footer.lost_on_write();
  if (given.empty() || rows > 0 || footer.events() == 0) return;
  if (filters.min_drss_bytes() > 0) given.push_back("--min-drss");
  out->AddWords(
      absl::StrCat("No event passed ", absl::StrJoin(given, ", "), "."));
}

void AddHighest(const EndReportInput& in, Paragraph* out) {
  const Footer& footer = in.footer;
  if (footer.max_rss_bytes() > 0) {
    const bool has_place = in.highest.has_value() && footer.max_rss_site() != 0;
    out->NewLine();
    out->AddWords(absl::StrCat(
        "Highest RSS of any row: ",
        HumanBytes(static_cast<double>(footer.max_rss_bytes())), " at ",
        HumanSeconds(footer.max_rss_us()), has_place ? "," : "."));
    if (has_place) AddPlace(*in.highest, out);
  }
  if (footer.seen_max_rss_bytes() > footer.max_rss_bytes()) {
    out->NewLine();
    out->AddWords(absl::StrCat(
        "Highest RSS of any event: ",
        HumanBytes(static_cast<double>(footer.seen_max_rss_bytes())), "."));
  }
}

void AddHwm(const EndReportInput& in, Paragraph* out) {
  const Footer& footer = in.footer;
  if (footer.hwm_bytes() == 0) return;
  // A program that died, or became another, has said nothing of its end.
  const bool is_of_the_end = in.has_footer && footer.own_bytes() != 0;
  const std::string hwm = absl::StrCat(
      "VmHWM: ", HumanBytes(static_cast<double>(footer.hwm_bytes())),
      is_of_the_end ? "" : " as last sampled");
  out->NewLine();
  if (!footer.has_peak()) return out->AddWords(absl::StrCat(hwm, "."));
  const bool has_place = in.peak.has_value() && footer.max_rss_site() != 0;
  out->AddWords(absl::StrCat(
      hwm, ", reached between events ", footer.peak().after_number(), " and ",
      footer.peak().before_number(),
      has_place ? ", after"
                : absl::StrCat(" (by ", HumanSeconds(footer.peak().time_us()),
                               ").")));
  if (has_place) AddPlace(*in.peak, out);
}

std::string EndText(const EndReportInput& in) {
  if (!in.has_footer) {
    return "The file has no footer: the run did not end cleanly, or it "
           "still goes on. These figures come from the records in the file.";
  }
  switch (in.footer.end()) {
    case Footer::EXIT:
      return absl::StrCat("Exit status ", in.footer.exit_status(), ".");
    case Footer::SIGNAL:
      return absl::StrCat("Ended by signal ", in.footer.exit_status(), ".");
    case Footer::EXEC:
      return "The program was replaced by another one (exec).";
    default:
      return "The program was killed or ended without clean-up.";
  }
}

std::string PageEventsText(const EndReportInput& in) {
  const Footer& footer = in.footer;
  std::string text = absl::StrCat(Counted(footer.page_events(), "page event"));
  const uint32_t weight = in.header.page_weight();
  if (weight > 1) absl::StrAppend(&text, " (one page in ", weight, ")");
  absl::StrAppend(&text, ", ", Grouped(footer.pages_inferred()),
                  " with an inferred stack, ",
                  Grouped(footer.page_samples_lost()), " lost");
  if (footer.page_stacks_lost() > 0) {
    absl::StrAppend(&text, ", ", Counted(footer.page_stacks_lost(), "stack"),
                    " lost");
  }
  return text + ".";
}

std::string HeapEventsText(const EndReportInput& in) {
  const Footer& footer = in.footer;
  return absl::StrCat(Counted(footer.heap_allocations(), "allocation"),
                      in.header.heap() == HEAP_SAMPLED ? " sampled, " : ", ",
                      Counted(footer.heap_frees(), "free"), ", ",
                      Grouped(footer.heap_events_lost()), " lost.");
}

// The sentences that stand by themselves.
std::vector<std::string> ClosingSentences(const EndReportInput& in) {
  std::vector<std::string> sentences = {EndText(in)};
  if (in.header.page_period() > 0) {
    sentences.push_back(PageEventsText(in));
  }
  if (in.header.heap() != HEAP_OFF) {
    sentences.push_back(HeapEventsText(in));
  }
  const uint64_t own_bytes =
      std::max(in.footer.own_bytes(), in.header.own_bytes());
  if (own_bytes > 0) {
    sentences.push_back(absl::StrCat(
        "pymemrun's own memory: ", HumanBytes(static_cast<double>(own_bytes)),
        "."));
  }
  const uint64_t children = in.footer.untraced_children();
  if (children > 0) {
    sentences.push_back(absl::StrCat(
        Counted(children, "child process was", "child processes were"),
        " not traced."));
  }
  if (HasRssSource(in.header, in.footer.events())) {
    sentences.push_back(absl::StrCat(
        "RSS source: ", RssSourceText(in.header, in.footer, kMaxReasonBytes),
        "."));
  }
  if (in.footer.has_rss_verification()) {
    sentences.push_back(absl::StrCat(
        "RSS verified: ", RssVerificationText(in.footer.rss_verification()),
        "; the gauge itself read RSS ", RssReadsText(in.footer), "."));
  }
  return sentences;
}

}  // namespace

std::string EndReportText(const EndReportInput& input) {
  Paragraph report;
  AddCounts(input, &report);
  AddOutputName(input, &report);
  AddNothingMatched(input, &report);
  AddHighest(input, &report);
  AddHwm(input, &report);
  report.NewLine();
  for (const std::string& sentence : ClosingSentences(input)) {
    report.NewLineFor(sentence);
    report.AddWords(sentence);
  }
  return report.Take();
}

}  // namespace pymemrun
