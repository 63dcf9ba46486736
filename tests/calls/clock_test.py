#!/usr/bin/env python3
"""The rows' clock is CLOCK_MONOTONIC's: never backward, on any thread, and right
at each moment of the run, also where the processor's counter is not to be trusted."""
import os
import re
import subprocess
import unittest

import fault_support
import support
from waiting import PATIENCE_S

# Each call is a pair of rows, and its result lies between them.
PROGRAM = r'''
import threading, time
def work(name):
    seen = []
    for n in range(40):
        seen.append(time.monotonic_ns())
        for k in range(300):
            abs(k)
        time.sleep(0.002)
    found[name] = seen
found = {}
threads = [threading.Thread(target=work, args=("T%d" % n,), name="T%d" % n)
           for n in range(5)]
for t in threads:
    t.start()
for t in threads:
    t.join()
time.sleep(0.4)
work("MainThread")
for name, seen in found.items():
    print(name, *seen)
'''
SLACK_NS = 1000000  # or a thousandth of the time since the start, if more


class ClockTest(support.ProgramTest):
    def check(self, run):
        rows = run.rows()
        clocks = [float(row["clock_s"]) for row in rows]
        self.assertEqual(clocks, sorted(clocks))
        self.assertEqual([row["event"] for row in rows], list(range(len(rows))))
        start_ns = run.header.start_monotonic_ns
        calls = {}
        for row in rows:
            if row["function"] == "monotonic_ns":
                name = row["thread"].rpartition("#")[0]
                calls.setdefault(name, []).append(
                    (row["what"], 1e9 * float(row["clock_s"])))
        self.assertEqual(len(calls), 6)
        for line in run.stdout.splitlines():
            name, *seen = line.split()
            self.assertEqual(len(calls[name]), 2 * len(seen))
            for n, text in enumerate(seen):
                since_ns = int(text) - start_ns
                slack_ns = max(SLACK_NS, since_ns / 1000)
                (what, begin_ns), (_, end_ns) = calls[name][2 * n:2 * n + 2]
                self.assertEqual(what, "C_CALL")
                self.assertLess(begin_ns - slack_ns, since_ns)
                self.assertGreater(end_ns + slack_ns, since_ns)
        # The last one is within the run.
        self.assertGreater(1000 * run.footer.end_us + SLACK_NS, since_ns)
        self.assertEqual(run.footer.clock_steps_back, 0)

    def tsc_is_used(self):
        if os.uname().machine == "aarch64":
            with open("/sys/devices/system/clocksource/clocksource0/"
                      "current_clocksource") as file:
                return file.read() == "arch_sys_counter\n"
        with open("/proc/cpuinfo") as file:
            flags = file.read()
        return "constant_tsc" in flags and "nonstop_tsc" in flags

    def test_agrees_with_the_monotonic_clock(self):
        run = self.run_script(PROGRAM, "--min-drss", "0")
        self.check(run)
        source = support.trace_pb2()
        self.assertIn(run.header.clock, (source.TSC, source.MONOTONIC))
        if self.tsc_is_used():
            self.assertEqual(run.header.clock, source.TSC)
            self.assertRegex(run.report("summary"),
                             r"\nclock +CPU's counter, calibrated against "
                             "CLOCK_MONO")

    @unittest.skipUnless(os.geteuid() == 0 and
                         fault_support.can_unshare("--mount"),
                         "may not make a mount")
    def test_without_a_tsc_to_trust(self):
        """A kernel that does not trust the counter, by what it says."""
        with open("/proc/cpuinfo") as file:
            info = re.sub(r" (constant|nonstop)_tsc", "", file.read())
        source = ("/sys/devices/system/clocksource/clocksource0/"
                  "current_clocksource")
        cpuinfo = self.write("cpuinfo", info)
        clock = self.write("clocksource", "hpet\n")
        script = self.write("script.py", PROGRAM)
        path = os.path.join(self.folder, "no_tsc.pb")
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             'mount --bind "$0" /proc/cpuinfo && '
             'if [ -e "$2" ]; then mount --bind "$1" "$2"; fi && '
             'shift 2 && exec "$@"', cpuinfo, clock, source,
             support.PYMEMRUN, "--min-drss", "0", "-o", path, script],
            cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(result.returncode, 0, result.stderr)
        run = support.Run(path, result)
        self.check(run)
        self.assertEqual(run.header.clock, support.trace_pb2().MONOTONIC)
        self.assertIn("counter is not reliable here", run.report("summary"))


if __name__ == "__main__":
    unittest.main()
