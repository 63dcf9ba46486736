#include "launcher/session/trace_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "launcher/session/collector_launch.h"
#include "launcher/session/event_sources.h"
#include "launcher/session/exit_report.h"
#include "launcher/session/launch_facts.h"
#include "launcher/session/lineage.h"
#include "launcher/session/message.h"
#include "launcher/session/output_file.h"
#include "launcher/session/own_files.h"
#include "launcher/session/small_init.h"
#include "launcher/session/unasked.h"
#include "tracer/ring/shared_region.h"
#include "tracer/session/session.h"
#include "tracer/session/size_run.h"

namespace pymemrun {
namespace {

// While it lives, no limit on the size of files ends the program: the shared
// region counts as one. What the hard limit forbids fails as any other call.
// (setrlimit(2): SIGXFSZ, or EFBIG where that is ignored).
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

// Closes its files on destruction, so that no descriptor stays open.
struct OwnedFiles : CollectorFiles {
  OpenedPages opened;          // its descriptors are `pages`
  OpenedStates opened_states;  // likewise `states`
  pid_t collector = 0;         // that was started on them

  OwnedFiles() = default;
  OwnedFiles(const OwnedFiles&) = delete;
  OwnedFiles& operator=(const OwnedFiles&) = delete;
  ~OwnedFiles() {
    for (int fd : {region, reply, output, pid, text}) {
      if (fd >= 0) close(fd);
    }
    for (int fd : pages) close(fd);
    for (int fd : states) close(fd);
  }
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

// Pointers into `strings`, for TraceConfig; lives as long as the process.
Globs GlobsOf(const std::vector<std::string>& strings) {
  const char** globs = new const char*[strings.size()];
  for (size_t i = 0; i < strings.size(); ++i) globs[i] = strings[i].c_str();
  return {globs, strings.size()};
}

bool FollowIntoChild(bool paused);

// What the run does without.
std::string NoticeOf(const OwnedFiles& files) {
  std::string notice;
  for (const std::string& line :
       {files.opened.notice, files.opened_states.notice}) {
    if (!line.empty()) notice += MessageText(line);
  }
  return notice;
}

// The only words at the end of a run that ends by exec.
std::string ExecNoticeOf(const std::string& run_file) {
  return MessageText(
             "The program calls exec. The new program is not recorded;") +
         MessageText("  --follow all records it if it is a Python.") +
         MessageText("Recorded so far: pymemreport " + run_file);
}

TraceConfig* ConfigOf(const Options& options, const OwnedFiles& files,
                      const std::string& output) {
  // For the whole process; static as in application.cc.
  static TraceConfig* const config = new TraceConfig;
  config->output = strdup(output.c_str());
  static const std::string* const package = new std::string(FindPackage());
  if (!package->empty()) config->package = package->c_str();
  config->traces = options.traces;
  config->traces.Set(Trace::kPages, !files.pages.empty());
  config->traces.Set(Trace::kHeap, RecordsHeap(options.heap));
  config->heap = options.heap;
  config->gil_min_wait_ns = options.gil_min_ns;
  config->min_drss_bytes = options.min_drss_bytes;
  config->min_call_drss_bytes = options.min_call_drss_bytes;
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
  config->import = GlobsOf(options.import);
  config->rss_source = options.rss_source;
  config->verify_rss = options.verify_rss;
  config->collector = files.collector;
  const std::string notice = NoticeOf(files);
  config->notice = notice.empty() ? nullptr : strdup(notice.c_str());
  config->follow = options.follow == Follow::kNone ? nullptr : FollowIntoChild;
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

// What a process was told, for its forked children.
struct Told {
  TraceRequest request;  // `collector` is there
  Options* options;      // the request's
  std::string folder;    // the current one at the start, with a slash
  std::string path;      // of the first process's run file
  ProcessName self;      // whichever process began to be traced last
};
Told* g_told = nullptr;  // for ever, as in application.cc

// One process's run, as far as it is put together.
struct Run : RunFacts {
  ControlPage* page = nullptr;
  OwnedFiles files;
  std::string launch_text;
};

// For dumps of the object graph. Lives as long as the process.
void SetDumps(const TraceRequest& request, const Run& run,
              TraceConfig* config) {
  const size_t bytes = run.launch_text.size();
  char* const text = static_cast<char*>(malloc(bytes));
  if (text != nullptr) {
    config->launch_text = {
        static_cast<char*>(memcpy(text, run.launch_text.data(), bytes)), bytes};
  }
  config->collector_path = strdup(request.collector.c_str());
  config->objects = request.options->objects;
}

bool RunUntraced(const std::string& why) {
  Say(why + kRunsUntraced);
  Session::PrepareUntraced();
  return true;
}

// The collector is found beside the launcher's own executable.
const char* WhyNoCollector() {
  return access("/proc/self/exe", F_OK) == 0 ? "pymemrun-collector is missing"
                                             : "/proc is not mounted";
}

// Where the system refuses pages, calls or the heap are traced without them.
// Then `files->notice` says so if they were asked for. Empty, or why nothing is
// left to trace.
std::string OpenPages(const Options& options, OwnedFiles* files) {
  const TraceSet traces = options.traces;
  if (!traces.has(Trace::kPages)) return {};
  files->opened = OpenPageSource(options);
  files->pages = files->opened.fds;
  std::string& notice = files->opened.notice;
  if (notice.empty() || files->opened.any()) return {};
  notice += "; --trace calls works without them";
  if (traces.has(Trace::kCalls)) {
    notice += "; calls are traced";
  } else if (RecordsHeap(options.heap)) {
    notice += "; the heap is traced";
  } else if (traces.has(Trace::kCounters)) {
    notice += "; counters are recorded";
  } else if (traces.has(Trace::kStates)) {
    notice += "; states are recorded";
  } else {
    return notice;
  }
  return {};
}

void OpenStates(const Options& options, OwnedFiles* files) {
  files->opened_states = OpenStateSource(options);
  files->states = files->opened_states.fds;
}

// Starts the collector. Empty, or why it did not start.
std::string Launch(const TraceRequest& request, Run* run) {
  OwnedFiles& files = run->files;
  files.pid = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (files.pid < 0) return "pidfd_open: " + ErrorText(errno);
  run->launch_text =
      LaunchTextOf(FactsOf(request, *run, files.opened, files.opened_states));
  files.text = MakeLaunchText(run->launch_text);
  if (files.text < 0) return "memfd: " + ErrorText(errno);
  int failure = StartCollector(request.collector, files, &files.collector);
  if (failure != 0) return request.collector + ": " + ErrorText(failure);
  return {};
}

// The same, and prepares tracing. Empty, or why tracing cannot begin; then
// there is no run file.
std::string Begin(const TraceRequest& request, Run* run) {
  const Options& options = *request.options;
  run->page->traced_pid = static_cast<uint32_t>(getpid());
  run->page->on_full = options.on_full;
  run->page->asks_pages = run->files.opened.any() ? 1 : 0;
  std::string error = Launch(request, run);
  if (!error.empty()) {
    run->page->traced_pid = 0;  // no collector waits for the program
    error = "the collector did not start: " + error;
  } else {
    TraceConfig* const config = ConfigOf(options, run->files, run->path);
    SetDumps(request, *run, config);
    const bool speaks = !options.quiet && !run->lineage.forked;
    config->exec_notice =
        speaks ? strdup(ExecNoticeOf(run->path).c_str()) : nullptr;
    const char* refused = Session::Prepare(run->page, config);
    if (refused != nullptr) error = refused;
  }
  if (!error.empty()) unlink(run->path.c_str());
  return error;
}

// Makes the memory that is shared with the collector. Empty, or why that
// failed.
std::string ShareMemory(const Options& options, bool forked, Run* run) {
  RegionFds shared;
  const bool side_ring =
      options.traces.has_any(kSideTraces) || RecordsHeap(options.heap);
  const RingSizes sizes = options.SizesOfRings(forked);
  run->page = SharedRegion::Create(side_ring, sizes, &shared);
  if (run->page == nullptr) {
    return "cannot create shared memory: " + ErrorText(errno);
  }
  run->files.region = shared.region;
  run->files.reply = shared.reply;
  return {};
}

std::string CurrentFolder() {
  char folder[PATH_MAX];
  return getcwd(folder, sizeof folder) != nullptr ? std::string(folder) + "/"
                                                  : "";
}

// Children's run files, the number of one in the place of `pid`: beside the
// first process's, or as the name says.
std::string ChildPath(const RunIdentity& identity, const std::string& pid) {
  const std::string& pattern = g_told->options->output;
  if (pattern.find("{pid}") == std::string::npos) {
    return NameWith("." + pid, g_told->path);
  }
  const std::string name = ExpandOutputName(pattern, identity, pid);
  return name[0] == '/' ? name : g_told->folder + name;
}

// Begins to trace the first process, whose file there is. Empty, or why not.
std::string Record(const TraceRequest& request, Run* run) {
  const Options& options = *request.options;
  OpenStates(options, &run->files);
  run->lineage = {NameOfProcess(getpid()), NameOfProcess(getppid()), false};
  g_told->path = run->path;
  g_told->self = run->lineage.self;
  if (options.follow != Follow::kNone) {
    run->children = ChildPath(run->identity, "*");
  }
  const std::string error = Begin(request, run);
  if (error.empty()) InstallExitReport(run->page, run->path, options.quiet);
  return error;
}

// In a forked child. Empty, or why it is not traced.
std::string StartChildsRun() {
  const TraceRequest& request = g_told->request;
  Run run;
  std::string error = ShareMemory(*request.options, true, &run);
  if (error.empty()) error = OpenPages(*request.options, &run.files);
  if (!error.empty()) return error;
  OpenStates(*request.options, &run.files);
  run.files.opened.notice.clear();  // the first process has said it
  run.files.opened_states.notice.clear();
  run.identity = IdentityOf(*request.command_line);
  run.lineage = {NameOfProcess(getpid()), g_told->self, true};
  run.path = ChildPath(run.identity, std::to_string(run.identity.pid));
  run.files.output = CreateNumberedFile(run.identity, &run.path, &error);
  if (error.empty()) error = Begin(request, &run);
  if (!error.empty()) return error;
  g_told->self = run.lineage.self;
  InstallExitReport(run.page, run.path, true);
  return {};
}

// As TraceConfig::follow.
bool FollowIntoChild(bool paused) {
  const FileSizeLimitAside aside;
  g_told->options->paused = paused;
  const std::string error = StartChildsRun();
  if (error.empty()) return true;
  Say("child " + std::to_string(getpid()) + ": " + error +
      "; it runs untraced");
  return false;
}

// Why nothing can be recorded. Empty: nothing speaks against it.
std::string WhyNot(const TraceRequest& request) {
  if (request.collector.empty()) return WhyNoCollector();
  const char* const no_room = WhyNoRoom();
  return no_room != nullptr ? no_room : "";
}

// Shares memory first, as the small init watches it. Forks next, so that all
// else belongs to the process that runs the program. An earlier run's file of
// that name makes way also where nothing is recorded: it must not be taken for
// this run's. Returns as StartTracing.
bool StartRun(const TraceRequest& request) {
  const Options& options = *request.options;
  Run run;
  std::string error = WhyNot(request);
  if (error.empty()) error = ShareMemory(options, false, &run);
  // Goes on in the child.
  if (error.empty() && AdoptsOrphans()) BecomeSmallInit(run.page);
  run.identity = IdentityOf(*request.command_line);
  const bool numbered = request.unasked && !options.force;
  OutputRequest output = {options.output, options.force, numbered, run.identity,
                          [&request](const std::string& file) {
                            return AskNameOf(request.collector, file);
                          }};
  std::string refused;
  run.files.output = CreateOutputFile(output, &run.path, &refused);
  if (run.files.output == kNoDescriptors) return RunUntraced(refused);
  if (run.files.output < 0) {
    if (!error.empty()) return RunUntraced(error + "; " + refused);
    Say(request.unasked ? refused + kRunsUntraced : refused);
    return false;
  }
  if (error.empty()) error = OpenPages(options, &run.files);
  if (error.empty()) error = Record(request, &run);
  if (error.empty()) return true;
  unlink(run.path.c_str());
  return RunUntraced(error);
}

}  // namespace

bool StartTracing(const TraceRequest& request) {
  const FileSizeLimitAside aside;
  // For the whole process; static as in application.cc.
  static Options* const options = new Options(*request.options);
  const std::string left_out = LeaveOutUnasked(options);
  g_told = new Told{request, options, CurrentFolder(), "", {}};
  if (!left_out.empty()) {
    std::string& all = g_told->request.not_recorded;
    all += (all.empty() ? "" : "; ") + left_out;
    if (!options->quiet && !request.unasked) Say("not recorded: " + left_out);
  }
  g_told->request.options = options;
  g_told->request.collector = FindCollector(request.collector);
  if (options->heap.mode == HeapMode::kStats && !options->trace_given) {
    SizeRun::Prepare(ConfigOf(*options, OwnedFiles(), ""));
  } else if (!StartRun(g_told->request)) {
    return false;
  }
  // Here it is the process that the program runs in, whichever started it.
  InstallSizesReport();
  return true;
}

std::string StartedProgramsOutput() {
  const std::string& pattern = g_told->options->output;
  if (g_told->options->follow != Follow::kAll || g_told->path.empty())
    return {};
  if (pattern.find("{pid}") == std::string::npos) {
    return NameWith(".{pid}", g_told->path);
  }
  return pattern[0] == '/' ? pattern : g_told->folder + pattern;
}

}  // namespace pymemrun
