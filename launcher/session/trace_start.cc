#include "launcher/session/trace_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "launcher/session/collector_launch.h"
#include "launcher/session/exit_report.h"
#include "launcher/session/message.h"
#include "launcher/session/output_file.h"
#include "launcher/session/page_source.h"
#include "launcher/session/small_init.h"
#include "launcher/session/unasked.h"
#include "tracer/ring/shared_region.h"
#include "tracer/session/session.h"
#include "tracer/session/size_run.h"

namespace pymemrun {
namespace {

// Closes its open files when it goes: no descriptor of ours stays behind.
struct OwnedFiles : CollectorFiles {
  OpenedPages opened;   // its descriptors are `pages`
  pid_t collector = 0;  // that was started on them

  OwnedFiles() = default;
  OwnedFiles(const OwnedFiles&) = delete;
  OwnedFiles& operator=(const OwnedFiles&) = delete;
  ~OwnedFiles() {
    for (int fd : {region, reply, output, pid, text}) {
      if (fd >= 0) close(fd);
    }
    for (int fd : pages) close(fd);
  }
};

// While it lives, no limit on the size of files ends the program: the shared
// region counts as one. What the hard limit forbids fails as any other call.
class FileSizeLimitAside {
 public:
  FileSizeLimitAside() : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    const struct rlimit raised = {limit_.rlim_max, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &raised);
  }
  ~FileSizeLimitAside() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    signal(SIGXFSZ, handler_);
  }
  FileSizeLimitAside(const FileSizeLimitAside&) = delete;
  FileSizeLimitAside& operator=(const FileSizeLimitAside&) = delete;

 private:
  void (*const handler_)(int);
  struct rlimit limit_ = {RLIM_INFINITY, RLIM_INFINITY};
};

std::string TargetName(const CommandLine& command_line) {
  switch (command_line.form) {
    case ProgramForm::kScript:
      return ProgramName(command_line.target);
    case ProgramForm::kModule:
      return command_line.target.find('/') == std::string::npos
                 ? command_line.target
                 : "module";
    case ProgramForm::kCode:
      return "code";
    default:
      return "stdin";
  }
}

std::string ScriptText(const CommandLine& command_line) {
  switch (command_line.form) {
    case ProgramForm::kScript:
      return command_line.target;
    case ProgramForm::kModule:
      return "-m " + command_line.target;
    case ProgramForm::kCode:
      return "-c";
    default:
      return "-";
  }
}

void AddFilters(const Options& options, LaunchFacts* facts) {
  auto add = [facts](const char* key, const std::string& value) {
    facts->push_back({key, value});
  };
  add("min_drss_bytes", std::to_string(options.min_drss_bytes));
  add("context", std::to_string(options.context));
  add("drss_since_logged", options.drss_since_logged ? "1" : "0");
  add("stacks", options.stacks ? "1" : "0");
  add("paused", options.paused ? "1" : "0");
  add("kinds", std::to_string(options.kinds));
  for (const std::string& glob : options.include) add("include", glob);
  for (const std::string& glob : options.exclude) add("exclude", glob);
  for (const std::string& glob : options.function) add("function", glob);
  for (const std::string& glob : options.thread) add("thread", glob);
}

void AddHeap(const HeapConfig& heap, LaunchFacts* facts) {
  if (!RecordsHeap(heap)) return;
  facts->push_back({"heap", std::to_string(static_cast<int>(heap.mode))});
  facts->push_back({"heap_native", heap.native ? "1" : "0"});
  if (heap.mode != HeapMode::kSampled) return;
  if (heap.rates.mean_bytes > 0) {
    facts->push_back(
        {"heap_mean_bytes", std::to_string(heap.rates.mean_bytes)});
  }
  for (size_t i = 0; i < heap.rates.class_count; ++i) {
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 ":%.17g",
             heap.rates.classes[i].below_bytes,
             heap.rates.classes[i].probability);
    facts->push_back({"heap_class", text});
  }
}

void AddPages(const Options& options, const OwnedFiles& files,
              LaunchFacts* facts) {
  facts->push_back({"calls_off", options.trace_calls ? "0" : "1"});
  AddHeap(options.heap, facts);
  if (files.opened.by_scan) facts->push_back({"page_scan", "1"});
  if (files.pages.empty()) return;
  facts->push_back({"page_counters", std::to_string(files.opened.samplers)});
  facts->push_back({"page_signals", std::to_string(files.pages.size() -
                                                   files.opened.samplers)});
  facts->push_back({"page_period", std::to_string(options.page_period.faults)});
  facts->push_back({"page_weight", std::to_string(options.page_weight)});
  facts->push_back({"pages_user_only", files.opened.user_only ? "1" : "0"});
}

LaunchFacts FactsOf(const TraceRequest& request, const RunIdentity& identity,
                    const std::string& output, const OwnedFiles& files) {
  struct utsname system = {};
  uname(&system);
  char folder[PATH_MAX] = "";
  if (getcwd(folder, sizeof folder) == nullptr) folder[0] = '\0';
  LaunchFacts facts = {
      {"tool_version", PYMEMRUN_VERSION},
      {"pid", std::to_string(identity.pid)},
      {"parent_pid", std::to_string(getppid())},
      {"python", request.python},
      {"python_version", request.python_version},
      {"host", identity.host},
      {"cwd", folder},
      {"kernel", std::string(system.sysname) + " " + system.release},
      {"output", output},
      {"compress_level", std::to_string(request.options->compress_level)},
      {"store_source", request.options->store_source ? "1" : "0"},
      {"preloaded", request.preloaded ? "1" : "0"}};
  if (!request.not_recorded.empty()) {
    facts.push_back({"not_recorded", request.not_recorded});
  }
  if (!request.options->quiet) facts.push_back({"reporter", FindReporter()});
  AddFilters(*request.options, &facts);
  AddPages(*request.options, files, &facts);
  if (request.options->no_argv) return facts;
  facts.push_back({"script", ScriptText(*request.command_line)});
  facts.push_back({"argv", request.python});
  for (const std::string& argument : request.command_line->python) {
    facts.push_back({"argv", argument});
  }
  return facts;
}

// Pointers into `strings`, for TraceConfig; lives as long as the process.
Globs GlobsOf(const std::vector<std::string>& strings) {
  const char** globs = new const char*[strings.size()];
  for (size_t i = 0; i < strings.size(); ++i) globs[i] = strings[i].c_str();
  return {globs, strings.size()};
}

const TraceConfig* ConfigOf(const Options& options, const OwnedFiles& files,
                            const std::string& output) {
  // For the whole process; static as in application.cc.
  static TraceConfig* const config = new TraceConfig;
  config->output = strdup(output.c_str());
  config->calls = options.trace_calls;
  config->pages = !files.pages.empty();
  config->heap = options.heap;
  config->min_drss_bytes = options.min_drss_bytes;
  config->drss_since_logged = options.drss_since_logged;
  config->context = options.context;
  config->kinds = options.kinds;
  config->include = GlobsOf(options.include);
  config->exclude = GlobsOf(options.exclude);
  config->function = GlobsOf(options.function);
  config->thread = GlobsOf(options.thread);
  config->stacks = options.stacks;
  config->paused = options.paused;
  config->trace_startup = options.trace_startup;
  config->rss_source = options.rss_source;
  config->verify_rss = options.verify_rss;
  config->collector = files.collector;
  if (!files.opened.notice.empty()) {
    config->notice = strdup(MessageText(files.opened.notice).c_str());
  }
  // Says nothing once the program has put another file in stderr's place.
  config->say = [](const char* line, size_t size) {
    WriteToStandardError({line, size});
  };
  return config;
}

RunIdentity IdentityOf(const CommandLine& command_line) {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  return {getpid(), std::time(nullptr), TargetName(command_line), host};
}

bool RunUntraced(const std::string& why) {
  Say(why + "; the program runs untraced");
  Session::PrepareUntraced();
  return true;
}

// The collector is found beside the launcher's own executable.
const char* WhyNoCollector() {
  return access("/proc/self/exe", F_OK) == 0 ? "pymemrun-collector is missing"
                                             : "/proc is not mounted";
}

void FillControlPage(const Options& options, bool pages, ControlPage* page) {
  page->traced_pid = static_cast<uint32_t>(getpid());
  page->on_full = options.on_full;
  page->asks_pages = pages ? 1 : 0;
}

// Where the system refuses pages, calls or the heap are traced without them.
// Then `files->notice` says so if they were asked for. Returns whether anything
// is left to trace.
bool OpenPages(const Options& options, OwnedFiles* files) {
  files->opened = OpenPageSource(options);
  files->pages = files->opened.fds;
  std::string& notice = files->opened.notice;
  if (notice.empty() || files->opened.any()) return true;
  notice += "; --trace calls works without them";
  if (options.trace_calls) {
    notice += "; calls are traced";
  } else if (RecordsHeap(options.heap)) {
    notice += "; the heap is traced";
  } else {
    return !RunUntraced(notice);
  }
  return true;
}

// Starts the collector on `files`. Empty, or why it did not start.
std::string Launch(const TraceRequest& request, const std::string& collector,
                   const RunIdentity& identity, const std::string& path,
                   OwnedFiles* files) {
  files->pid = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (files->pid < 0) return std::string("pidfd_open: ") + strerror(errno);
  files->text = MakeLaunchText(FactsOf(request, identity, path, *files));
  if (files->text < 0) return std::string("memfd: ") + strerror(errno);
  int failure = StartCollector(collector, *files, &files->collector);
  if (failure != 0) return collector + ": " + strerror(failure);
  return {};
}

// The same, and prepares tracing to `page`. Empty, or why tracing cannot begin.
std::string Begin(const TraceRequest& request, const std::string& collector,
                  const RunIdentity& identity, const std::string& path,
                  ControlPage* page, OwnedFiles* files) {
  FillControlPage(*request.options, files->opened.any(), page);
  const std::string error = Launch(request, collector, identity, path, files);
  if (!error.empty()) {
    page->traced_pid = 0;  // nobody to wait for
    return "the collector does not start: " + error;
  }
  const char* refused =
      Session::Prepare(page, ConfigOf(*request.options, *files, path));
  return refused != nullptr ? refused : "";
}

// Makes the memory that is shared with the collector. On failure returns null
// and sets errno.
ControlPage* ShareMemory(const Options& options, OwnedFiles* files) {
  RegionFds shared;
  const bool side_ring = options.trace_pages || RecordsHeap(options.heap);
  ControlPage* page = SharedRegion::Create(side_ring, &shared);
  if (page == nullptr) return nullptr;
  files->region = shared.region;
  files->reply = shared.reply;
  return page;
}

// Returns as StartTracing.
bool StartRun(const TraceRequest& request) {
  const Options& options = *request.options;
  std::string collector = FindCollector(request.collector);
  if (collector.empty()) return RunUntraced(WhyNoCollector());

  OwnedFiles files;
  ControlPage* page = ShareMemory(options, &files);
  if (page == nullptr) {
    return RunUntraced(std::string("no shared memory: ") + strerror(errno));
  }
  if (AdoptsOrphans()) BecomeSmallInit(page);  // goes on in the child
  if (options.trace_pages && !OpenPages(options, &files)) return true;

  RunIdentity identity = IdentityOf(*request.command_line);
  OutputRequest output = {options.output, options.force, identity,
                          [&collector](const std::string& file) {
                            return AskNameOf(collector, file);
                          }};
  std::string path, error;
  files.output = CreateOutputFile(output, &path, &error);
  if (files.output < 0) {
    Say(error);
    return false;
  }
  error = Begin(request, collector, identity, path, page, &files);
  if (!error.empty()) {
    unlink(path.c_str());
    return RunUntraced(error);
  }
  InstallExitReport(page, path, options.quiet);
  return true;
}

}  // namespace

bool StartTracing(const TraceRequest& request) {
  const FileSizeLimitAside aside;
  // For the whole process; static as in application.cc.
  static Options* const options = new Options(*request.options);
  LeaveOutUnasked(options);
  TraceRequest ours = request;
  ours.options = options;
  if (options->heap.mode == HeapMode::kStats && !options->trace_given) {
    SizeRun::Prepare(ConfigOf(*options, OwnedFiles(), ""));
  } else if (!StartRun(ours)) {
    return false;
  }
  // Here it is the process that the program runs in, whichever started it.
  InstallSizesReport();
  return true;
}

}  // namespace pymemrun
