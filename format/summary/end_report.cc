#include "format/summary/end_report.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "format/summary/gauge_text.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/shell_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Assumed for any terminal: the report also goes to logs and pipes.
constexpr size_t kColumns = 80;
// With these the report stays below kMaxEndReportBytes.
constexpr size_t kMaxFileNameBytes = 1000;
constexpr size_t kMaxDumpNameBytes = 500;
constexpr size_t kMaxAnswerBytes = 1200;
constexpr size_t kMaxReasonBytes = 192;
constexpr size_t kMaxChildrenBytes = 256;

// The report as it grows, line by line. A line that continues another one is
// indented. Each line begins with "pymemrun: ", so it can be told from the
// program's output. Words are added greedily while they fit; one that is too
// long for any line gets a line of its own.
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
  // Adds `text`, which may be broken at its spaces.
  void AddWords(absl::string_view text) {
    for (const absl::string_view word : UnbrokenWords(text)) Add(word);
  }
  std::string Take() {
    // A line was begun and nothing followed.
    if (at_begin_)
      text_.resize(text_.rfind('\n') == std::string::npos ? 0
                                                          : text_.rfind('\n'));
    return text_.empty() ? "" : std::move(text_) + '\n';
  }

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

// The answer's lines, as many as there is room for. They are not broken: they
// are at most kAnswerColumns wide and aligned.
void AddAnswer(const EndReportInput& in, Paragraph* out) {
  size_t bytes = 0;
  for (const absl::string_view line :
       absl::StrSplit(in.answer, '\n', absl::SkipEmpty())) {
    bytes += line.size();
    if (bytes > kMaxAnswerBytes) return;
    out->NewLine();
    out->Add(line);
  }
}

// What was lost by it is said elsewhere.
void AddWriteError(const EndReportInput& in, Paragraph* out) {
  if (in.write_error.empty()) return;
  out->NewLine();
  out->Add(absl::StrCat(
      ShortTerminalText(in.file_name, kMaxChildrenBytes, true), ":"));
  out->AddWords(
      absl::StrCat("could not be written in full: ", in.write_error, "."));
}

// Each kind of loss in a line, singular and plural in one string. Only beside
// an answer: AddCounts() says the same in its own words.
void AddLosses(const EndReportInput& in, Paragraph* out) {
  const Footer& footer = in.footer;
  const std::pair<uint64_t, absl::string_view> losses[] = {
      {footer.dropped(), "row was|rows were"},
      {footer.page_samples_lost(), "page event was|page events were"},
      {footer.heap_events_lost(), "heap event was|heap events were"}};
  for (const auto& [count, words] : losses) {
    if (count == 0) continue;
    const std::pair<std::string, std::string> forms =
        absl::StrSplit(words, '|');
    out->NewLine();
    out->AddWords(
        absl::StrCat(Counted(count, forms.first, forms.second), " lost."));
  }
  if (footer.lost_on_write() == 0) return;
  out->NewLine();
  out->AddWords(absl::StrCat(Counted(footer.lost_on_write(), "row"),
                             " lost because the file could not be written."));
}

// As in "run.pb: 12 events, 3 rows (1 as context), 0 dropped, 5.4 KiB." Without
// a footer the numbers are what the records tell: then losses are a lower
// bound, or unknown.
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
                    ? "The run file was deleted while it was written; "
                      "its data is lost."
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
  out->NewLine();
  out->AddWords(
      absl::StrCat("No event passed ", absl::StrJoin(given, ", "), "."));
}

// Two peaks: the highest RSS that an event saw, and the kernel's own mark
// VmHWM, which also knows what happened between events (proc_pid_status(5)). A
// peak seen by an event that was not recorded has no time.
void AddPeak(const EndReportInput& in, Paragraph* out) {
  const Footer& footer = in.footer;
  const uint64_t seen =
      std::max(footer.max_rss_bytes(), footer.seen_max_rss_bytes());
  if (seen > 0) {
    const bool has_time = footer.max_rss_bytes() == seen;
    out->NewLine();
    out->AddWords(absl::StrCat(
        "Highest RSS at an event: ", HumanBytes(static_cast<double>(seen)),
        has_time ? absl::StrCat(" at ", HumanSeconds(footer.max_rss_us())) : "",
        "."));
  }
  if (footer.hwm_bytes() == 0) return;
  // A program that died, or became another, has said nothing of its end.
  const bool is_of_the_end = in.has_footer && footer.own_bytes() != 0;
  out->NewLine();
  out->AddWords(absl::StrCat(
      "VmHWM: ", HumanBytes(static_cast<double>(footer.hwm_bytes())),
      is_of_the_end ? "" : " as last sampled",
      footer.has_peak()
          ? absl::StrCat(", reached between events ",
                         footer.peak().after_number(), " and ",
                         footer.peak().before_number(), " (by ",
                         HumanSeconds(footer.peak().time_us()), ").")
          : "."));
}

// Can be pasted, whatever the name is. One that is too long is left out.
void AddNext(const EndReportInput& in, Paragraph* out) {
  if (!in.names_next || in.file_bytes == 0 ||
      in.footer.output_name() == Footer::OUTPUT_DELETED) {
    return;
  }
  const std::string name = ShellWord(in.file_name);
  if (name.size() > kMaxFileNameBytes) return;
  out->NewLine();
  out->Add("More:");
  out->Add(absl::StrCat("pymemreport ", name));
}

// The dumps of objects, and what reads them.
void AddDumps(const EndReportInput& in, Paragraph* out) {
  const std::string name = ShellWord(in.last_dump);
  if (in.dumps == 0 || name.size() > kMaxDumpNameBytes) return;
  out->NewLine();
  out->Add(in.dumps == 1 ? "Objects:"
                         : absl::StrCat("Objects, the last of ",
                                        Counted(in.dumps, "dump"), ":"));
  out->Add(absl::StrCat("pymemobj ", name, " suspects"));
}

std::string EndText(const EndReportInput& in) {
  if (!in.has_footer) {
    return "The file has no footer: the run did not end cleanly, or it is "
           "still running. These figures come from the records in the file.";
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

std::string ChildrenText(const EndReportInput& in) {
  constexpr absl::string_view kOne = "child process was";
  constexpr absl::string_view kMany = "child processes were";
  const uint64_t untraced = in.footer.untraced_children();
  const std::string name =
      ShortTerminalText(in.children_name, kMaxChildrenBytes, true);
  std::string text;
  if (in.started_children > 0) {
    text = absl::StrCat(
        Counted(in.started_children, kOne, kMany),
        " started; run files of Python programs among them: ", name, ".");
  } else if (in.traced_children > 0) {
    text = absl::StrCat(Counted(in.traced_children, kOne, kMany),
                        " traced: ", name, ".");
  }
  if (untraced > 0) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    Counted(untraced, kOne, kMany), " not traced",
                    in.started_children > 0
                        ? ": their environment had no tracer."
                        : ". --follow all traces Pythons that are started.");
  }
  return text;
}

std::string SourceText(const EndReportInput& in) {
  if (!HasRssSource(in.header, in.footer.events())) return "";
  return absl::StrCat(
      "RSS source: ", RssSourceText(in.header, in.footer, kMaxReasonBytes),
      ".");
}

std::string VerificationText(const EndReportInput& in) {
  if (!in.footer.has_rss_verification()) return "";
  return absl::StrCat(
      "RSS verified: ", RssVerificationText(in.footer.rss_verification()),
      "; the gauge itself read RSS ", RssReadsText(in.footer), ".");
}

// What a reader of the answer is to know besides; the usual is not said.
std::vector<std::string> Remarks(const EndReportInput& in) {
  std::vector<std::string> sentences;
  if (in.footer.end() != Footer::EXIT || in.footer.exit_status() != 0) {
    sentences.push_back(EndText(in));
  }
  sentences.push_back(ChildrenText(in));
  if (in.footer.gauge_changes() > 0) {
    sentences.push_back(SourceText(in));
  }
  sentences.push_back(VerificationText(in));
  return sentences;
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
  sentences.push_back(ChildrenText(in));
  sentences.push_back(SourceText(in));
  sentences.push_back(VerificationText(in));
  return sentences;
}

}  // namespace

// With an answer: the answer, what to do next, and only what is unusual.
// Without one: all figures in full, what to do next at the end.
std::string EndReportText(const EndReportInput& input) {
  Paragraph report;
  const bool has_answer = !input.answer.empty();
  if (has_answer) {
    AddAnswer(input, &report);
    AddNext(input, &report);
    AddDumps(input, &report);
    AddLosses(input, &report);
  } else {
    AddCounts(input, &report);
  }
  AddWriteError(input, &report);
  AddOutputName(input, &report);
  AddNothingMatched(input, &report);
  if (!has_answer) AddPeak(input, &report);
  report.NewLine();
  for (const std::string& sentence :
       has_answer ? Remarks(input) : ClosingSentences(input)) {
    if (sentence.empty()) continue;
    report.NewLineFor(sentence);
    report.AddWords(sentence);
  }
  if (!has_answer) {
    AddNext(input, &report);
    AddDumps(input, &report);
  }
  return report.Take();
}

}  // namespace pymemrun
