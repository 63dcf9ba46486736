#include "launcher/options/option_table.h"

#include <algorithm>
#include <string_view>

#include "launcher/options/option_readers.h"

namespace pymemrun {
namespace {

constexpr Named<bool> kDrssSince[] = {{"previous", false}, {"logged", true}};
constexpr Named<GaugeSource> kRssSources[] = {{"auto", GaugeSource::kAuto},
                                              {"faults", GaugeSource::kFaults},
                                              {"hints", GaugeSource::kHints},
                                              {"rusage", GaugeSource::kRusage},
                                              {"statm", GaugeSource::kStatm}};
constexpr Named<Delivery> kDeliveries[] = {{"auto", Delivery::kAuto},
                                           {"embed", Delivery::kEmbed},
                                           {"preload", Delivery::kPreload}};
constexpr Named<PageSource> kPageSources[] = {{"auto", PageSource::kAuto},
                                              {"faults", PageSource::kFaults},
                                              {"scan", PageSource::kScan}};
constexpr Named<StateSource> kStateSources[] = {
    {"auto", StateSource::kAuto},
    {"switches", StateSource::kSwitches},
    {"schedstat", StateSource::kSchedstat}};
constexpr Named<OnFull> kOnFull[] = {{"block", OnFull::kBlock},
                                     {"drop", OnFull::kDrop}};

template <Trace kKind>
bool IsTraced(const Options& options) {
  return options.traces.has(kKind);
}

// Conditions under which an option has an effect.
constexpr Condition kCalls = {"--trace calls", IsTraced<Trace::kCalls>};
constexpr Condition kPages = {"--trace pages", IsTraced<Trace::kPages>};
constexpr Condition kCounters = {"--trace counters",
                                 IsTraced<Trace::kCounters>};
constexpr Condition kGil = {"--trace gil", IsTraced<Trace::kGil>};
constexpr Condition kStates = {"--trace states", IsTraced<Trace::kStates>};
constexpr Condition kHeap = {
    "--heap sampled, all or stats",
    [](const Options& o) { return o.heap.mode != HeapMode::kOff; }};
constexpr Condition kRecorded = {"--heap sampled or all", [](const Options& o) {
                                   return RecordsHeap(o.heap);
                                 }};
constexpr Condition kSampled = {"--heap sampled", [](const Options& o) {
                                  return o.heap.mode == HeapMode::kSampled;
                                }};
constexpr Condition kAdapted = {"--heap-rates auto", [](const Options& o) {
                                  return o.heap.mode == HeapMode::kSampled &&
                                         o.heap.rates.adapt;
                                }};

constexpr Condition kRunFile = {
    "a run file; --heap stats writes one only with --trace",
    [](const Options& o) {
      return o.heap.mode != HeapMode::kStats || o.trace_given;
    }};

constexpr char kOutput[] = "Output";
constexpr char kWhat[] = "What to trace";
constexpr char kOfCalls[] = "Calls (--trace calls)";
constexpr char kOfPages[] = "Pages (--trace pages)";
constexpr char kOfGil[] = "GIL (--trace gil)";
constexpr char kOfStates[] = "States (--trace states)";
constexpr char kOfHeap[] = "Heap (--heap)";
constexpr char kOfCounters[] = "Counters (--trace counters)";
constexpr char kRun[] = "How to run the program";
constexpr char kHelp[] = "Help";

constexpr char kFilePattern[] = "a file pattern";
constexpr char kNamePattern[] = "a name pattern";

// Parentheses hold the defaults. The first screen of help prints the first
// sentence of each usual option.
constexpr OptionRow kTable[] = {
    {kOutput, "output", "PATH",
     "Write the run file to PATH (run.pb). PATH may contain {pid}, "
     "{time}, {name} and {host}. By default an earlier run.pb in the "
     "current folder is renamed to old-run.DATE_TIME_PID.pb.",
     ReadOutput, "the path of a file; standard output belongs to the program",
     nullptr, kUsual | kHasLetter},
    {kOutput, "force", nullptr,
     "Replace the output file if it is an earlier run file.",
     SetFlag<&Options::force>},
    {kOutput, "compress", "LEVEL",
     "Compress the run file with zstd at LEVEL 1 to 19, or none (1).",
     ReadCompress, "a number from 1 to 19, or none"},
    {kOutput, "no-argv", nullptr,
     "Leave the script's name and arguments out of the run file.",
     SetFlag<&Options::no_argv>},
    {kOutput, "store-source", nullptr,
     "Store the text of the source lines that the run file names. By "
     "default only a hash of each line is stored.",
     SetFlag<&Options::store_source>},
    {kOutput, "quiet", nullptr, "Do not print the end report on stderr.",
     SetFlag<&Options::quiet>},

    {kWhat, "light", nullptr,
     "Trace pages and sampled allocations, but no calls; cheap enough "
     "for production. Short for --trace pages --page-source scan --heap "
     "sampled --native.",
     ReadLight, "", nullptr, kUsual | kPreset},
    {kWhat, "full", nullptr,
     "Record every allocation, also those of C code. Short for --trace "
     "calls,pages --heap all --native.",
     ReadFull, "", nullptr, kUsual | kPreset},
    {kWhat, "trace", "LIST",
     "Trace these: calls, pages, gil, states, tasks, counters, or none "
     "(calls,pages). gil records which thread holds the GIL and which "
     "threads wait for it. states records when threads run, wait for a "
     "CPU or sleep, and what they sleep for. tasks records the steps of "
     "asyncio tasks and of greenlets. counters records RSS, PSS, CPU "
     "time, page faults and open descriptors over time, runs of the "
     "cycle collector, and the values of pymemrun.counter(). By default, "
     "page faults are not traced under a debugger.",
     ReadTrace,
     "a list of calls, pages, gil, states, tasks and counters, or none",
     nullptr, kUsual},
    {kWhat, "heap", "off|sampled|all|stats",
     "Record Python's allocations and frees (sampled). stats counts "
     "allocations by size and prints the table on stderr at the end; "
     "without --trace it writes no run file.",
     ReadHeap, "off, sampled, all or stats", nullptr, kUsual},
    {kWhat, "objects", "LIST",
     "Dump the object graph to run.obj.pb, beside the run file, at these "
     "moments: exit, signal, signal:NAME, every:TIME, rss>BYTES, peak "
     "(none). signal is SIGUSR2. TIME is, for example, 60s or 5m. peak "
     "keeps the dump taken near the highest RSS. Later dumps are "
     "run.obj-1.pb and so on.",
     ReadObjects,
     "a list of exit, signal, signal:NAME, every:TIME (100ms to 168h), "
     "rss>BYTES, peak, each at most once",
     &kRunFile},
    {kWhat, "follow", "none|fork|all",
     "Trace child processes, each into its own file run.PID.pb (fork). "
     "fork traces forked children. all also traces each CPython that the "
     "program or a child starts.",
     ReadFollow, "none, fork or all"},
    {kWhat, "paused", nullptr,
     "Start with tracing off, until the script calls pymemrun.start(). "
     "Page events, the GIL, thread states, task steps and counters are "
     "recorded from the start even so.",
     SetFlag<&Options::paused>},
    {kWhat, "trace-startup", nullptr,
     "Start tracing at the interpreter's `import site`. By default "
     "tracing starts with the script.",
     SetFlag<&Options::trace_startup>},
    {kWhat, "import", "LIST",
     "Import the modules in LIST, for example numpy,json, before tracing "
     "starts. The run file does not record these imports. Repeatable.",
     ReadImport, "a list of modules' names", nullptr, kRepeatable},

    {kOfCalls, "min-drss", "BYTES",
     "Log an event when RSS changed by BYTES or more (one page). 0 logs every "
     "event. Sizes: 4096, 4K = 4KiB = 4096, 1M = 1MiB = 1048576, 1MB = "
     "1000000.",
     ReadMinDrss, "a whole number of bytes such as 4096, 4KiB or 1M", &kCalls,
     kUsual},
    {kOfCalls, "min-call-drss", "BYTES",
     "Also log a RETURN when RSS changed by BYTES or more since its CALL "
     "(none). Each logged RETURN is then linked to its CALL.",
     ReadMinCallDrss, "a whole number of bytes above 0 such as 4096 or 1M",
     &kCalls},
    {kOfCalls, "drss-since", "previous|logged",
     "Measure the RSS change since the previous event or since the last "
     "logged event (previous). logged finds slow growth even if BYTES "
     "exceeds a page.",
     SetChoice<&Options::drss_since_logged, kDrssSince>, "previous or logged",
     &kCalls},
    {kOfCalls, "context", "N",
     "Also log the N events before each logged event, at most 1024 (1). "
     "If every event is logged, there is no context.",
     ReadContext, "a number from 0 to 1024", &kCalls},
    {kOfCalls, "events", "LIST",
     "Trace these kinds of event: call,return,c_call,c_return,c_except "
     "(all).",
     ReadEvents, "a list of call,return,c_call,c_return,c_except", &kCalls},
    {kOfCalls, "include", "GLOB",
     "Log only events in files whose full path matches GLOB. * matches / too. "
     "Repeatable.",
     Append<&Options::include>, kFilePattern, &kCalls, kRepeatable},
    {kOfCalls, "exclude", "GLOB",
     "Do not log events in files whose full path matches GLOB. "
     "Repeatable.",
     Append<&Options::exclude>, kFilePattern, &kCalls, kRepeatable},
    {kOfCalls, "function", "GLOB",
     "Log only events of functions whose name matches GLOB. Repeatable.",
     Append<&Options::function>, kNamePattern, &kCalls, kRepeatable},
    {kOfCalls, "thread", "GLOB",
     "Log only events on threads whose name matches GLOB. Repeatable.",
     Append<&Options::thread>, kNamePattern, &kCalls, kRepeatable},
    {kOfCalls, "stacks", nullptr,
     "Store the call stack of every logged event even with --min-drss 0. "
     "With other sizes stacks are always stored.",
     SetFlag<&Options::stacks>, "", &kCalls},
    {kOfCalls, "rss-source", "auto|faults|hints|rusage|statm",
     "Read RSS from this source (auto: the best that works).",
     SetChoice<&Options::rss_source, kRssSources>,
     "auto, faults, hints, rusage or statm"},
    {kOfCalls, "verify-rss", nullptr,
     "Compare RSS with statm at every event. This is slow. The end report "
     "says how often, for how long and by how much RSS was wrong.",
     SetFlag<&Options::verify_rss>, "", &kCalls},

    {kOfPages, "page-period", "N",
     "Record a random 1 in N pages, and count each as N pages (auto). 1 "
     "records every page with its own stack. auto records every page; in "
     "a burst, random pages get their own stack, and the others get "
     "their thread's nearest stack.",
     ReadPagePeriod, "auto, or a number from 1 to 10000", &kPages},
    {kOfPages, "page-source", "auto|faults|scan",
     "Source of page events (auto). faults records which thread and code "
     "touched each page. scan asks the kernel which pages are resident, "
     "up to four times a second and as RSS rises; it needs no perf "
     "permission. auto is faults, or scan if perf is refused; --light "
     "uses scan.",
     SetChoice<&Options::page_source, kPageSources>, "auto, faults or scan",
     &kPages},

    {kOfGil, "gil-min", "TIME",
     "When a thread waits longer than TIME for the GIL, record its stack "
     "and the holder's stack (1ms). TIME is, for example, 500us or 5ms.",
     ReadGilMin, "a whole number of us, ms or s, from 1us to 1 hour", &kGil},

    {kOfStates, "state-source", "auto|switches|schedstat",
     "Source of thread states (auto). switches records every context "
     "switch. schedstat reads the scheduler's counters every 100 ms; it "
     "needs no perf permission. auto is switches, or schedstat if perf "
     "is refused.",
     SetChoice<&Options::state_source, kStateSources>,
     "auto, switches or schedstat", &kStates},

    {kOfHeap, "heap-rates", "SPEC",
     "Sample allocations at the rates in SPEC. A size is the mean number "
     "of bytes between samples; by default it grows from 32KiB to 512KiB "
     "as the program allocates. {128:1e-4, 8192:0.1} samples 1 in 10000 "
     "allocations below 128 bytes, 1 in 10 below 8192 bytes, and every "
     "larger one. auto adapts the rates to --heap-budget.",
     ReadHeapRates,
     "auto, a size, or {SIZE:PROBABILITY, ...} with rising sizes, at most 16",
     &kSampled},
    {kOfHeap, "heap-budget", "PERCENT",
     "With --heap-rates auto, heap events may take PERCENT of the "
     "program's time (5%).",
     ReadHeapBudget, "a percentage from 0.1% to 100%", &kAdapted},
    {kOfHeap, "heap-domains", "LIST",
     "Record these Python allocators: obj,mem,raw (all). When one "
     "allocator calls the next, the allocation counts once, for the "
     "first.",
     ReadHeapDomains, "a list of obj,mem,raw", &kHeap},
    {kOfHeap, "native", nullptr,
     "Also record what C code allocates with malloc and related "
     "functions, and the memory it maps (on).",
     SetNative<true>, "", &kRecorded},
    {kOfHeap, "no-native", nullptr, "Record only Python's own allocations.",
     SetNative<false>, "", &kRecorded},

    {kOfCounters, "counters-every", "TIME",
     "Read the process's counters every TIME (100ms), 10ms or longer. "
     "Where reading is slow, it happens less often and takes at most 1 % "
     "of a CPU.",
     ReadCountersEvery, "a time from 10ms to 7 days, such as 100ms, 1s or 1m",
     &kCounters},

    {kRun, "python", "PATH",
     "Run this Python: a virtual environment or an interpreter. The "
     "default is the active virtual environment, or else the first "
     "Python found in the order given in docs/cli.md.",
     SetText<&Options::python>, "a path"},
    {kRun, "delivery", "auto|embed|preload",
     "How the tracer gets into the interpreter (auto). embed runs the "
     "built-in interpreter. preload runs the selected Python and "
     "preloads the tracer into it. auto embeds if the selected Python is "
     "the built-in one.",
     SetChoice<&Options::delivery, kDeliveries>, "auto, embed or preload"},
    {kRun, "on-full", "block|drop",
     "What to do when the collector cannot keep up (block). block waits at "
     "most "
     "2 s, then drops and counts events. drop never waits.",
     SetChoice<&Options::on_full, kOnFull>, "block or drop"},

    {kHelp, "help", nullptr,
     "Show the usual options. -h shows the interpreter's own help.",
     SetFlag<&Options::help>, "", nullptr, kNoVariable},
    {kHelp, "help-all", nullptr, "Show this text.", SetFlag<&Options::help_all>,
     "", nullptr, kNoVariable},
    {kHelp, "version", nullptr,
     "Show the versions of pymemrun, of the Python that it would run, "
     "and of the Pythons that it can preload into.",
     SetFlag<&Options::version>, "", nullptr, kNoVariable},
};

}  // namespace

std::span<const OptionRow> OptionTable() { return kTable; }

namespace {

constexpr size_t kColumns = 80;
constexpr size_t kIndent = 22;

constexpr char kUsage[] =
    "pymemrun runs a Python program as python3 does and records its memory "
    "use.\n\n"
    "Usage: pymemrun [options] [--] script.py [args...] | -m module | -c code "
    "| -\n";

std::string Wrapped(std::string_view text) {
  std::string out;
  size_t column = kIndent;
  while (!text.empty()) {
    size_t space = text.find(' ');
    std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size()
                                                       : space + 1);
    if (column != kIndent && column + 1 + word.size() > kColumns) {
      out += '\n' + std::string(kIndent, ' ');
      column = kIndent;
    } else if (column != kIndent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string OptionText(const OptionRow& row, std::string_view value,
                       std::string_view help) {
  std::string line = "  ";
  if (row.Is(kHasLetter)) line += std::string("-") + row.name[0] + ", ";
  line += std::string("--") + row.name;
  if (!value.empty()) line.append(" ").append(value);
  if (line.size() >= kIndent - 1) {
    line += '\n';
    line.append(kIndent, ' ');
  } else {
    line.resize(kIndent, ' ');
  }
  return line + Wrapped(help);
}

}  // namespace

std::string_view ShortValue(const OptionRow& row) {
  const std::string_view value = row.value ? row.value : "";
  return value.find('|') == std::string_view::npos ? value : "MODE";
}

std::string HelpText() {
  std::string text = std::string(kUsage) + "\nThe usual options:\n";
  for (const OptionRow& row : OptionTable()) {
    if (!row.Is(kUsual)) continue;
    const std::string_view help = row.help;
    const size_t stop = std::min(help.find(". "), help.size() - 1);
    text += OptionText(row, ShortValue(row), help.substr(0, stop + 1));
  }
  return text +
         "\nExamples:\n"
         "  pymemrun script.py      trace a script; `pymemreport summary "
         "run.pb` shows it\n"
         "  pymemrun --heap all -o heap.pb -m module\n"
         "                          record every allocation of a module\n"
         "  eval \"$(pymemrun env)\"  trace each Python that this shell "
         "starts\n"
         "\nThe other short options are the interpreter's: -h shows its own "
         "help.\n`pymemrun --help-all` and `man pymemrun` describe every "
         "option.\n";
}

std::string AllHelpText() {
  std::string text = std::string(kUsage) +
                     "\n"
                     "Every short option except -o is the interpreter's. All "
                     "arguments from the\nscript, -m, -c or - on belong to the "
                     "program. Parentheses hold the defaults.\n";
  std::string_view group;
  for (const OptionRow& row : OptionTable()) {
    if (group != row.group) text += std::string("\n") + row.group + ":\n";
    group = row.group;
    text += OptionText(
        row, row.value ? row.value : "",
        std::string(row.help) +
            (row.needs ? std::string(" Needs ") + row.needs->option + "."
                       : ""));
  }
  return text +
         "\n"
         "The variable PYMEMRUN_NAME sets an option that the command line "
         "omits, as in\nPYMEMRUN_MIN_DRSS=1M or PYMEMRUN_QUIET=1. There, "
         "separate several patterns with\n`:`, and list items with commas. A "
         "set-user-ID program ignores these variables.\n"
         "\n"
         "`pymemrun env [options]` prints shell commands. After them, every "
         "Python that\nthe shell starts is traced. `pymemrun kernel install` "
         "adds a traced kernel to\nJupyter; `pymemrun kernel install --help` "
         "lists its options.\n"
         "\n"
         "The exit status is the program's, or 2 for wrong usage of "
         "pymemrun.\n";
}

}  // namespace pymemrun
