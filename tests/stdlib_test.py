#!/usr/bin/env python3
"""The standard library's tests give the same results under `pymemrun` as under
the interpreter itself: test by test, with the default options. Each run file
ends cleanly and holds rows of the module's own test functions.

    stdlib_test.py [--children] MODULE...

--children: sys.executable is the launcher, so that the child interpreters which
the tests start are traced runs of their own.

What differs must be in stdlib_expected.txt, with its reason. Exit status: 0 the
same, 1 a difference, 77 these tests are not installed, or another Python is
built in.
"""
import argparse
import collections
import csv
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

PYTHON = "/usr/bin/python3"
TOOLS = {name: os.environ.get(name, "") for name in
         ("PYMEMRUN_BIN", "PYMEMCAT_BIN", "PYMEMRUN_COLLECTOR")}
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "stdlib_expected.txt")
SKIPPED = 77
PATIENCE_S = 900  # for one run of one module

# With --children: tests of what sys.executable itself is, not of what runs under
# it. Both runs leave them out.
OF_THE_EXECUTABLE = {
    # The launcher's long options are its own: --help, --version, unknown ones.
    "test_cmd_line": ("test_help", "test_version", "test_parsing_error"),
    # A ._pth file stands beside the interpreter that runs, which a symbolic
    # link to the launcher does not change.
    "test_site": ("test_underpth_*",),
    # sys.orig_argv begins with the interpreter.
    "test_sys": ("test_orig_argv",),
}

# Modules that only load their tests from a package.
ELSEWHERE = {"test_ctypes": "ctypes.test", "test_unittest": "unittest.test",
             "test_multiprocessing_fork": "test._test_multiprocessing"}

Run = collections.namedtuple("Run", "status results output seconds")


def clean_environment(folder, **more):
    """The caller's, less what makes the standard library's tests fail."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("PYMEMRUN_", "PYMEMCAT_", "PYMEMREPORT_"))
           and key not in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
                           "PYTHONPATH", "VIRTUAL_ENV")}
    env.update(TMPDIR=folder, **more)
    if TOOLS["PYMEMRUN_COLLECTOR"]:
        env["PYMEMRUN_COLLECTOR"] = TOOLS["PYMEMRUN_COLLECTOR"]
    return env


def outcomes(report):
    """(outcome, test) for each test in regrtest's JUnit report."""
    if not os.path.exists(report):
        return
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        kinds = [child.tag for child in case
                 if child.tag in ("failure", "error", "skipped", "output")]
        outcome = kinds[0] if kinds else case.get("result", "subtests failed")
        # A test of which only subtests failed stands there without a name.
        yield outcome, case.get("name") or "(one whose subtests failed)"


def headings(output):
    """What unittest prints over each traceback: this names subtests too."""
    pattern = r"^={70}\n(FAIL|ERROR|UNEXPECTED SUCCESS): (.*)$"
    return re.findall(pattern, output, re.MULTILINE)


def complaints(output):
    """regrtest's words on what a module left changed or running."""
    for line in re.findall(r"^Warning -- (.*)$", output, re.MULTILINE):
        yield "WARNING", re.sub(r"0x[0-9a-f]+|\d+", "N", line)
    # Skips of whole classes are only counted.
    for line in re.findall(r"^(?:OK|FAILED)(?: \(.*\))?$", output,
                           re.MULTILINE):
        yield "ENDED", line


def run_module(command, module, folder, ignored=(), **env):
    report = os.path.join(folder, "report.xml")
    home = os.path.join(folder, "tmp")
    shutil.rmtree(home, ignore_errors=True)
    os.mkdir(home)
    start = time.monotonic()
    with open(os.path.join(folder, "output"), "wb") as output:
        status = subprocess.run(
            [*command, "-m", "test", "-v", "--timeout", str(PATIENCE_S - 60),
             "--junit-xml", report,
             *(f"--ignore={pattern}" for pattern in ignored), module],
            cwd=folder, env=clean_environment(home, **env),
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            timeout=PATIENCE_S).returncode
    seconds = time.monotonic() - start
    with open(output.name, encoding="utf-8", errors="replace") as file:
        text = file.read()
    results = collections.Counter(
        (kind, re.sub(r"0x[0-9a-f]+", "0x", name)) for source in
        (outcomes(report), headings(text), complaints(text))
        for kind, name in source)
    results["STATUS", str(status)] += 1
    if os.path.exists(report):
        os.unlink(report)
    return Run(status, results, text, seconds)


def expected_differences(module):
    """(kind, heading) of the tests that fail for any profiler."""
    allowed = set()
    with open(EXPECTED, encoding="utf-8") as file:
        for line in file:
            line = line.partition("#")[0].strip()
            if line.startswith(module + " "):
                _, kind, test = line.split(None, 2)
                allowed.add((kind, test))
    return allowed


def compare(module, plain, traced):
    """Lines that say what differs and may not; empty if nothing does."""
    allowed = expected_differences(module)
    gone = plain.results - traced.results
    new = traced.results - plain.results
    seen = allowed & set(new)
    # An allowed failure shows in the report, the counts and the status too.
    ids = {re.search(r"\((\S+)\)", test)[1] for _, test in seen}
    lines = []
    for sign, side in (("-", gone), ("+", new)):
        for (kind, test), count in sorted(side.items()):
            if (kind, test) in seen or test in ids:
                continue
            if seen and kind in ("STATUS", "ENDED"):
                continue
            lines.append(f"{sign} {kind}: {test}" +
                         (f" ({count} times)" if count > 1 else ""))
    lines += [f"  no longer differs: {kind} {test}"
              for kind, test in sorted(allowed - seen)]
    return lines


def read_run(path, *options):
    """The rows of a run file, and lines that say what is wrong with it."""
    read = subprocess.run([TOOLS["PYMEMCAT_BIN"], path, "--csv", *options],
                          capture_output=True, text=True, errors="replace")
    problems = []
    if read.returncode != 0 or read.stderr:
        problems = [f"pymemcat {os.path.basename(path)}: status "
                    f"{read.returncode}: {read.stderr}"]
    return list(csv.DictReader(read.stdout.splitlines())), problems


def own_tests(rows, module):
    """The test functions of the module, or package, that have rows."""
    name = ELSEWHERE.get(module, "test." + module)
    origin = importlib.util.find_spec(name).origin
    own = origin.removesuffix("__init__.py")
    return {row["function"] for row in rows if row["file"].startswith(own) and
            row["function"].startswith("test")}  # test_x, or testX


def clean_ends(folder):
    """Reads the run files of child interpreters: none may be damaged."""
    files = sorted(name for name in os.listdir(folder) if name.endswith(".pb"))
    problems = []
    for name in files:
        problems += read_run(os.path.join(folder, name), "--every", "1000")[1]
    return len(files), problems


def check_rows(module, plain, folder, run):
    """The module's test functions that have rows, and what is wrong. `run` does
    a traced run with further options into a file."""
    rows, problems = read_run(os.path.join(folder, "module.pb"), "--function",
                              "test*")
    tests = own_tests(rows, module)
    if not tests:
        # None of them grew by a page: their calls are there all the same.
        again = run("calls.pb", "--min-drss", "0", "--function", "test*")
        rows, damage = read_run(os.path.join(folder, "calls.pb"))
        problems += compare(module, plain, again) + damage
        tests = own_tests(rows, module)
    if not tests:
        problems.append("no row of a test_* function of the module")
    return tests, problems


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
        command = [TOOLS["PYMEMRUN_BIN"], "-o", os.path.join(folder, name),
                   *options]
        return run_module(command, module, folder, ignored, **env)

    plain = run_module([PYTHON], module, folder, ignored)
    traced = run("module.pb")
    problems = compare(module, plain, traced)
    tests, more = check_rows(module, plain, folder, run)
    problems += more
    count, more = clean_ends(runs)
    problems += more
    shutil.rmtree(runs, ignore_errors=True)
    if children and count == 0:
        problems.append("no child interpreter was traced")
    print(f"{module}: {'DIFFERS' if problems else 'same'}, "
          f"{sum(traced.results.values())} results, "
          f"{len(tests)} test functions with rows, "
          f"{plain.seconds:.1f} s, traced {traced.seconds:.1f} s" +
          (f", {count} child runs" if children else ""), flush=True)
    for line in dict.fromkeys(problems):
        print("   ", line.rstrip())
    if problems:
        print(f"---- {module}, traced:\n{traced.output[-20000:]}")
    return not problems


def check_all(modules, children, keep):
    good = True
    for module in modules:
        folder = tempfile.mkdtemp(prefix=module + ".", dir=os.getcwd())
        good = check(module, children, folder) and good
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--children", action="store_true")
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
    same = check_all(options.modules, options.children, options.keep)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
