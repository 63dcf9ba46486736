"""What the standard library's tests give, test by test, and what differs between
two runs of a module."""
import collections
import os
import re
import shutil
import subprocess
import time
import xml.etree.ElementTree

PATIENCE_S = 900  # for one run of one module

Run = collections.namedtuple("Run", "status results output seconds")


def clean_environment(folder, **more):
    """The caller's, less what makes the standard library's tests fail."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("PYMEMRUN_", "PYMEMCAT_", "PYMEMREPORT_"))
           and key not in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
                           "PYTHONPATH", "VIRTUAL_ENV")}
    env.update(TMPDIR=folder, **more)
    return env


def outcomes(report):
    """(outcome, test) for each test in regrtest's JUnit report."""
    if not os.path.exists(report):
        return
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        kinds = [child.tag for child in case
                 if child.tag in ("failure", "error", "skipped", "output")]
        outcome = kinds[0] if kinds else case.get("result", "subtests failed")
        # A test where only subtests failed stands there without a name.
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


def compare(plain, traced, allowed):
    """Lines that say what differs and is not `allowed`; empty if nothing does."""
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
            if seen and kind in ("STATUS", "ENDED", "subtests failed"):
                continue
            lines.append(f"{sign} {kind}: {test}" +
                         (f" ({count} times)" if count > 1 else ""))
    lines += [f"  no longer differs: {kind} {test}"
              for kind, test in sorted(allowed - seen)]
    return lines
