#!/usr/bin/env python3
"""The standard library's tests give the same results under `pymemrun` as under
the interpreter itself: test by test, with the default options. Each run file
ends cleanly and holds rows of the module's own test functions, or it is shown
that no memory moved in these.

    stdlib_test.py [--children|--pages|--heap|--counters|--follow] MODULE...

--children: sys.executable is the launcher, so that the child interpreters which
the tests start are traced runs of their own.
--pages: with `--trace pages`, where nothing at all may differ, and the run file
holds page events.
--heap: with `--trace none --heap all`, likewise.
--counters: with `--trace counters`, likewise.
--follow: with `--follow all`, and the run files of all processes are whole.

What differs must be in stdlib_expected.txt, with its reason. Exit status: 0 the
same, 1 a difference, 77 these tests are not installed, or another Python is
built in.
"""
import argparse
import collections
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time

import decoded_rows
import support
from stdlib_results import compare, run_module

PYTHON = "/usr/bin/python3"
TOOLS = {name: os.environ.get(name, "") for name in
         ("PYMEMRUN_BIN", "PYMEMCAT_BIN")}
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "stdlib_expected.txt")
SKIPPED = 77

# With --children: tests of what sys.executable itself is, not of what runs under
# it. Both runs leave them out.
OF_THE_EXECUTABLE = {
    # The launcher's long options are its own: --help, --help-all, --version,
    # unknown ones.
    "test_cmd_line": ("test_help", "test_help_all", "test_version",
                      "test_parsing_error"),
    # A ._pth file stands beside the interpreter that runs, which a symbolic
    # link to the launcher does not change.
    "test_site": ("test_underpth_*",),
    # sys.orig_argv begins with the interpreter.
    "test_sys": ("test_orig_argv",),
}

# Modules that only load their tests from a package.
ELSEWHERE = {"test_ctypes": "ctypes.test", "test_unittest": "unittest.test",
             "test_multiprocessing_fork": "test._test_multiprocessing"}


def expected_differences(module, children):
    """(kind, heading) of the tests that fail for any tool of this kind."""
    names = {module, module + "_children"} if children else {module}
    names |= {"%s/%d.%d" % (name, *sys.version_info[:2]) for name in names}
    allowed = set()
    with open(EXPECTED, encoding="utf-8") as file:
        for line in file:
            line = line.partition("#")[0].strip()
            if line.partition(" ")[0] in names:
                _, kind, test = line.split(None, 2)
                allowed.add((kind, test))
    return allowed


def own_tests(path, module):
    """The test functions of the module, or package, in a run file: how many rows
    each has in its own frame, and those that the default options show of such a
    run. Those have a change of RSS by a page at one of their events, or at the
    event after one, whose context that is."""
    name = ELSEWHERE.get(module, "test." + module)
    own = importlib.util.find_spec(name).origin.removesuffix("__init__.py")
    own = own.encode()
    rows, shown, before = collections.Counter(), set(), None
    for row in decoded_rows.decoded_rows(support.file_records(path)):
        test = None
        if row.code.name.startswith(b"test_") and row.code.file.startswith(own):
            test = row.code.qualname.decode()
            rows[test] += 1
        if abs(row.drss) >= support.PAGE:
            shown |= {test, before} - {None}
        before = test
    return rows, shown


def clean_read(path):
    """Lines that say what is wrong with a run file."""
    read = subprocess.run([TOOLS["PYMEMCAT_BIN"], path, "--csv", "--every",
                           "1000"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace")
    if read.returncode == 0 and not read.stderr:
        return []
    return [f"pymemcat {os.path.basename(path)}: status {read.returncode}: "
            f"{read.stderr}"]


def clean_ends(folder):
    """Reads the run files of child interpreters: none may be damaged, or empty;
    but the collector of one that was just killed may be about to write."""
    files = sorted(name for name in os.listdir(folder) if name.endswith(".pb"))
    problems = []
    until = time.monotonic() + 5
    for name in files:
        path = os.path.join(folder, name)
        while os.path.getsize(path) == 0 and time.monotonic() < until:
            time.sleep(0.05)
        problems += clean_read(path)
    return len(files), problems


def check_rows(module, run):
    """Runs the module under pymemrun. What its run file shows of its test
    functions, in words; what is wrong; the run's results.

    `run` does one run with further options: its results, its run file, and what
    is wrong with them.

    With the default options a test function has rows if a page came, or went,
    between two events, at least one of them in its own frame. In some modules
    no page does: what they need is resident already, or comes deeper, in
    functions that they call. Then a run with every event logged has to say the
    same. Where pages come depends on where the program's memory begins. So if
    the two runs disagree, both are done again with a longer environment. They
    disagree by chance 1 time in 4 at most, 5 times in a row 1 time in 1000."""
    for number in range(5):
        os.environ["PADDING"] = 1500 * number * "x"
        first, path, problems = run("default.pb")
        tests, _ = own_tests(path, module)
        if tests or problems:
            return f"{len(tests)} test functions with rows", problems, first
        _, path, problems = run("everything.pb", "--min-drss", "0")
        tests, shown = own_tests(path, module)
        if not tests:
            problems.append("no event of a test_* function of the module")
        if not shown or problems:
            return (f"no page came in {sum(tests.values())} events of "
                    f"{len(tests)} test functions"), problems, first
    return "", ["no row of a test_* function of the module, although pages "
                f"came in {', '.join(sorted(shown))}"], first


# How a module is run where nothing at all may differ, and what the run file's
# footer must then count.
PAGES = (("--trace", "pages", "--page-period", "1"), "page_events")
HEAP = (("--trace", "none", "--heap", "all"), "heap_allocations")
# Or the kind of the records that are counted.
COUNTERS = (("--trace", "counters", "--heap", "off"), "gc_run")


def check_same(module, folder, options, counter):
    """Whether the module's results are the same with these options."""
    path = os.path.join(folder, "same.pb")
    plain = run_module([PYTHON], module, folder)
    traced = run_module([TOOLS["PYMEMRUN_BIN"], "--force", "-o", path,
                         *options], module, folder)
    problems = compare(plain, traced, set()) + clean_read(path)
    records = list(support.file_records(path))
    last = records[-1]
    counted = (getattr(last.footer, counter) if counter != "gc_run" else
               sum(r.WhichOneof("kind") == counter for r in records))
    if counted < (100 if counter == "gc_run" else 1000):
        problems.append(f"{counted} {counter}")
    if last.footer.heap_events_lost:
        problems.append(f"{last.footer.heap_events_lost} heap events lost")
    print(f"{module}: {'DIFFERS' if problems else 'same'}, "
          f"{sum(traced.results.values())} results, "
          f"{counted} {counter}, "
          f"{plain.seconds:.1f} s, traced {traced.seconds:.1f} s", flush=True)
    for line in problems:
        print("   ", line.rstrip())
    if problems:
        print(f"---- {module}, traced:\n{traced.output[-20000:]}")
    return not problems


def check_followed(module, folder):
    """Whether the module's results are the same where children are traced."""
    # Children of other users write there too.
    runs = tempfile.mkdtemp(prefix=module + ".runs.")
    os.chmod(runs, 0o1777)
    plain = run_module([PYTHON], module, folder)
    traced = run_module([TOOLS["PYMEMRUN_BIN"], "-o", runs + "/run.pb",
                         "--follow", "all"], module, folder)
    problems = compare(plain, traced, expected_differences(module, False))
    count, more = clean_ends(runs)
    shutil.rmtree(runs, ignore_errors=True)
    # What was killed before its collector had started leaves an empty file.
    problems += [line for line in more if "found an empty file" not in line]
    if count < 2:
        problems.append("no child was traced")
    print(f"{module}: {'DIFFERS' if problems else 'same'}, "
          f"{sum(traced.results.values())} results, {count} runs, "
          f"{plain.seconds:.1f} s, traced {traced.seconds:.1f} s", flush=True)
    for line in problems:
        print("   ", line.rstrip())
    if problems:
        print(f"---- {module}, traced:\n{traced.output[-20000:]}")
    return not problems


def check(module, children, folder):
    """Whether the module's results are the same; prints one line, or more."""
    # Children of other users write there too.
    runs = tempfile.mkdtemp(prefix=module + ".runs.")
    os.chmod(runs, 0o1777)
    env = {}
    ignored = OF_THE_EXECUTABLE.get(module, ()) if children else ()
    if children:
        env = {"PYMEMRUN_TEST_SYS_EXECUTABLE": "launcher",
               "PYMEMRUN_QUIET": "1", "PYMEMRUN_FORCE": "1",
               "PYMEMRUN_OUTPUT": runs + "/{pid}.{time}.pb"}

    def run(name, *options):
        path = os.path.join(folder, name)
        command = [TOOLS["PYMEMRUN_BIN"], "--force", "-o", path, *options]
        result = run_module(command, module, folder, ignored, **env)
        found = compare(plain, result,
                        expected_differences(module, children))
        return result, path, found + clean_read(path)

    plain = run_module([PYTHON], module, folder, ignored)
    shows, problems, traced = check_rows(module, run)
    count, more = clean_ends(runs)
    problems += more
    shutil.rmtree(runs, ignore_errors=True)
    if children and count == 0:
        problems.append("no child interpreter was traced")
    print(f"{module}: {'DIFFERS' if problems else 'same'}, "
          f"{sum(traced.results.values())} results, "
          f"{shows}, "
          f"{plain.seconds:.1f} s, traced {traced.seconds:.1f} s" +
          (f", {count} child runs" if children else ""), flush=True)
    for line in dict.fromkeys(problems):
        print("   ", line.rstrip())
    if problems:
        print(f"---- {module}, traced:\n{traced.output[-20000:]}")
    return not problems


def check_all(options):
    good = True
    for module in options.modules:
        folder = tempfile.mkdtemp(prefix=module + ".", dir=os.getcwd())
        if options.follow:
            good = check_followed(module, folder) and good
        elif options.pages or options.heap or options.counters:
            how = (PAGES if options.pages else HEAP if options.heap else
                   COUNTERS)
            good = check_same(module, folder, *how) and good
        else:
            good = check(module, options.children, folder) and good
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--children", action="store_true")
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--heap", action="store_true")
    parser.add_argument("--counters", action="store_true")
    parser.add_argument("--follow", action="store_true")
    parser.add_argument("--keep", action="store_true",
                        help="leave outputs and run files where they are")
    options = parser.parse_args()
    version = subprocess.run([TOOLS["PYMEMRUN_BIN"], "--version"], check=True,
                             capture_output=True, text=True).stdout
    if f"CPython {sys.version.split()[0]}," not in version:
        print(f"not the interpreter of {PYTHON}: {version}")
        return SKIPPED
    if any(importlib.util.find_spec("test." + module) is None
           for module in options.modules):
        print("not installed: the tests of the standard library "
              "(Debian: libpython3.11-testsuite)")
        return SKIPPED
    same = check_all(options)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
