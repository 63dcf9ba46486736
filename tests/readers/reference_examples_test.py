#!/usr/bin/env python3
"""What users of older profilers do, each step by our own commands: a log of RSS at
each call, memory by thread with peaks, a sampled heap over time, who holds the GIL.
The walk through a dump of objects is objects_walk_test.py, a notebook's cell
plain_shell_test.py."""
import csv
import io
import json
import os
import re
import subprocess
import sys
import unittest

import fault_support
import support

sys.path.insert(0, os.environ.get("PYMEMRUN_READER_PATH", "."))
try:
    import pymemrun_reader
except ImportError:
    pymemrun_reader = None

MIB = 1 << 20
with open(os.path.join(support.SOURCE, "examples", "threads.py"), encoding="utf-8") as _file:
    THREADS = _file.read()
GROWS = """\
import json
kept = []
def step(n):
    kept.append(bytes(b"x" * n))
    return json.dumps(len(kept))
for i in range(40):
    step(100_000 + i)
"""
SPINS = """\
import sys, threading
assert "fractions" in sys.modules  # imported before
def run():
    total = 0
    for i in range(1_500_000):
        total += i
threads = [threading.Thread(target=run) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


class EachCall(support.ProgramTest):
    """RSS at calls and returns: what is logged is chosen by how far RSS moved."""

    def test_events_that_moved_rss_by_a_page(self):
        run = self.run_script(GROWS, "--min-drss", "4096", "--context", "0")
        head, *lines = run.cat("--text").decode().splitlines()
        self.assertRegex(head, r"^ +Event +dEvent +Clock +What +File +#line +Function +RSS +dRSS$")
        self.assertTrue(lines)
        for line in lines:
            self.assertGreaterEqual(abs(int(line.split()[-1])), 4096, line)

    def test_and_the_event_before_each(self):
        run = self.run_script(GROWS, "--min-drss", "4096", "--context", "1")
        lines = run.cat("--text").decode().splitlines()[1:]
        before = [i for i, line in enumerate(lines) if line.startswith("PREV:")]
        self.assertTrue(before)
        for i in before:
            self.assertTrue(lines[i + 1].startswith("NEXT:"))
            self.assertEqual(int(lines[i].split()[1]) + 1, int(lines[i + 1].split()[1]))

    def test_memory_that_goes_is_logged_too(self):
        run = self.run_script("kept = [b'x' * 20_000_000]\nkept.clear()\n", "--context", "0")
        gone, = [line for line in run.cat("--text").decode().splitlines()[1:]
                 if int(line.split()[-1]) < -15_000_000]
        self.assertRegex(gone, r" C_RETURN .*# +2 list\.clear ")

    def test_events_are_counted_and_none_is_logged(self):
        logged = self.run_script(GROWS, "--min-drss", "0")
        run = self.run_script(GROWS, "--min-drss", "1T")
        self.assertEqual(run.rows(), [])
        self.assertEqual(run.footer.events, logged.footer.events)
        self.assertGreater(run.footer.events, 80)

    def test_every_event(self):
        run = self.run_script(GROWS, "--min-drss", "0")
        self.assert_nothing_lost(run)
        self.assertEqual(len([row for row in run.rows() if row["function"] == "step"]), 80)
        head, *lines = run.cat("--text").decode().splitlines()
        self.assertRegex(head, r"^Event +dEvent ")
        self.assertEqual([int(line.split()[0]) for line in lines], list(range(len(lines))))

    def test_a_file_that_is_named_by_time_and_process(self):
        script = self.write("script.py", "import os\nprint(os.getpid())")
        done = subprocess.run([support.PYMEMRUN, "--quiet", "-o", self.folder + "/{time}_{pid}.pb",
                               script], check=True, stdout=subprocess.PIPE, text=True)
        name, = [name for name in os.listdir(self.folder)
                 if name.endswith(f"_{done.stdout.strip()}.pb")]
        self.assertRegex(name, r"^\d{8}_\d{6}_\d+\.pb$")

    def test_rss_and_cpu_at_intervals(self):
        run = self.run_script("import time\nkept = b'x' * 20_000_000\ntime.sleep(0.3)",
                              "--trace", "counters", "--counters-every", "50ms")
        found = rows(run.report("counters", "--csv", "--counter", "rss"))
        self.assertGreater(max(float(row["value"]) for row in found), 20e6)
        times = [float(row["clock_s"]) for row in found]
        self.assertGreater(len(times), 2)
        self.assertEqual(times, sorted(times))
        self.assertIn("</svg>", run.report("counters", "--svg"))
        for name in "counters.svg", "counters.html":
            path = os.path.join(self.folder, name)
            run.report("counters", "-o", path)
            with open(path, encoding="utf-8") as picture:
                self.assertIn("RSS and CPU of script.py", picture.read())
            mask = os.umask(0)
            os.umask(mask)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o666 & ~mask)

    def test_a_function_alone_and_the_highest_rss(self):
        run = self.run_script(
            "import pymemrun\n@pymemrun.trace()\ndef work():\n    return bytes(range(256))\n"
            "work(); work()\nprint(pymemrun.rss_peak() >= pymemrun.rss())",
            "--paused", "--min-drss", "0")
        self.assertEqual(run.stdout, "True\n")
        names = [row["function"] for row in run.rows() if row["what"] == "CALL"]
        self.assertEqual(names, ["work", "work"])


class ByThread(support.ProgramTest):
    """A program of six threads, recorded where its own file runs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls()
        test.setUp()
        cls.run_file = test.run_script(
            THREADS, "--include", "*/threads.py", "--events", "call,return",
            "--min-drss", "0", name="threads.py")
        cls.prefix = cls.folder + "/"

    def report(self, command, *options):
        return self.run_file.report(command, *options)

    def peaks(self, *options):
        return self.report("peaks", "--min", "900K", "--min-time", "0",
                           "--strip-prefix", self.prefix, *options)

    def test_peaks_and_the_calls_within_one(self):
        lines = [line for line in self.peaks().splitlines() if ":do_stuff=>" in line]
        self.assertEqual(len(lines), 18)
        line = next(line for line in lines if "Thread-6>" in line)
        number, event = re.fullmatch(r"(\d+): (Thread-6>threads.py:\d+:do_stuff=>\d+)",
                                     line).groups()
        self.assertGreater(int(event.rpartition("=>")[2]), 5.9 * MIB)
        calls = self.report("calls", "--peak", number, "--min", "900K", "--min-time", "0",
                            "--strip-prefix", self.prefix).splitlines()
        self.assertRegex(calls[0], r"^do_stuff@threads.py:\d+-\d+, Time: [\d.]+ s, Memory: \d+ B$")
        # What the module `random` did was not recorded; the comprehension may be a call.
        self.assertTrue(all("random" not in call for call in calls))

    def test_the_command_line_explains_itself(self):
        for command in "peaks", "calls", "graph":
            said = subprocess.run([support.PYMEMREPORT, command, "--help-all"], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout
            for option in "--min ", "--min-time ", "--min-value ":
                self.assertIn(option, said, command)

    def test_from_a_line_of_the_log_to_the_calls(self):
        """As by `grep` for the number of a RETURN, which `calls` takes."""
        line = next(row for row in rows(self.peaks("--csv")) if row["function"] == "do_stuff")
        row = next(row for row in self.run_file.rows("--what", "RETURN")
                   if row["event"] == int(line["event"]))
        self.assertEqual((row["file"], row["line"]),
                         (os.path.join(self.prefix, line["file"]), int(line["line"])))
        by_event = self.report("calls", "--event", line["event"])
        self.assertIn(f"do_stuff@{self.prefix}threads.py:", by_event)
        # What other threads did within a call counts, where that is asked for.
        self.assertIn("do_stuff@", self.report("calls", "--event", line["event"],
                                               "--thread-attribution", "observed"))

    def test_calls_of_c_functions_alone(self):
        run = self.run_script(GROWS, "--min-drss", "0", "--context", "0",
                              "--events", "c_call,c_return")
        self.assertEqual({row["what"] for row in run.rows()}, {"C_CALL", "C_RETURN"})
        self.assertEqual(sum(row["function"] == "list.append" for row in
                             run.rows("--file", "*/script.py")), 80)
        flow = {row["function"]: row for row in rows(
            run.report("flow", "--csv", "--limit", "0", "--file", "script.py"))}
        self.assertEqual(flow["list.append"]["calls"], "40")
        run = self.run_script("kept = []\nkept.extend(range(500_000))\n", "--min-drss", "0",
                              "--events", "c_call,c_return,c_except")
        peak, = run.report("peaks", "--min", "2M").splitlines()
        self.assertRegex(peak, r"^1: MainThread>.*/script\.py:2:list\.extend=>[12]\d{7}$")
        self.assertRegex(run.report("calls", "--peak", "1", "--min", "2M"),
                         r"^list\.extend@.*/script\.py:2-2, Time: [\d.]+ s, Memory: [12]\d{7} B$")

    def test_the_picture_and_its_legend_as_files(self):
        for command, name in ("graph", "memg.svg"), ("peaks", "memg.txt"):
            self.report(command, "--min", "900K", "--min-time", "0", "-o", f"{self.folder}/{name}")
        with open(self.folder + "/memg.txt", encoding="utf-8") as legend, \
                open(self.folder + "/memg.svg", encoding="utf-8") as picture:
            numbers = {line.partition(":")[0] for line in legend if ":do_stuff=>" in line}
            shown = set(re.findall(r'class="peak"[^>]*>(\d+)<', picture.read()))
        self.assertTrue(shown)
        self.assertLessEqual(shown & numbers, numbers)
        self.assertTrue(shown & numbers)

    def test_stacks_come_with_the_events(self):
        run = self.run_script(THREADS, "--include", "*/threads.py", "--min-drss", "0",
                              "--stacks", name="threads.py")
        stacks = {row["stack"] for row in run.json_rows("--columns", "function,stack")
                  if row["function"] == "do_stuff"}
        self.assertTrue(any(re.search(r"threads\.py:\d+:run;.*threads\.py:\d+:do_stuff$", stack)
                            for stack in stacks), stacks)

    def test_forked_processes_have_files_of_their_own(self):
        run = self.run_script(
            "import os\ndef work(): return bytearray(9_000_000)\n"
            "child = os.fork()\nkept = work()\nif child == 0: os._exit(0)\n"
            "os.waitpid(child, 0)\nprint(child)", "--min-drss", "0")
        path = run.path[:-len(".pb")] + f".{run.stdout.strip()}.pb"
        fault_support.wait_for_collector_to_end(path)
        self.assertIn("work", support.Run(path, run).cat("--text").decode())

    def test_one_thread_and_the_time_of_day(self):
        found = rows(self.peaks("--thread", "Thread-3", "--csv"))
        self.assertEqual({row["thread"].split("#")[0] for row in found}, {"Thread-3"})
        self.assertTrue(all(float(row["unix_s"]) > 1.7e9 for row in found))
        flow = rows(self.report("flow", "--csv", "--thread", "Thread-3"))
        self.assertIn("do_stuff", [row["function"] for row in flow])
        times = self.run_file.json_rows("--columns", "event,clock_s,unix_s")
        start_s = {round(float(row["unix_s"]) - float(row["clock_s"]), 5) for row in times}
        self.assertLess(max(start_s) - min(start_s), 2e-5)
        by_event = {row["event"]: row["unix_s"] for row in times}
        for row in found:
            self.assertAlmostEqual(by_event[int(row["event"])], float(row["unix_s"]), delta=2e-6)

    def test_a_picture_with_a_line_for_each_thread(self):
        svg = self.report("graph", "--rebase", "5500K", "--min", "900K", "--min-time", "0",
                          "--peaks", "40")
        for number in range(1, 7):
            self.assertIn(f"Thread-{number}", svg)
        self.assertGreater(svg.count('class="peak"'), 24)
        # A picture of one part alone, with a row of the legend for each peak.
        peaks = self.peaks().splitlines()
        self.assertEqual(svg.count('class="peak"'), min(len(peaks), 40))

    def test_calls_as_slices_of_a_timeline(self):
        trace = json.loads(self.report("export", "--format", "chrome", "--min-duration", "0"))
        names = [event.get("name") for event in trace["traceEvents"]]
        self.assertGreaterEqual(sum("do_stuff" in str(name) for name in names), 18)


class HeapOverTime(support.ProgramTest):
    """Sampled allocations, by size classes."""

    def test_sizes_first_and_rates_from_them(self):
        done = self.run_script(GROWS, "--heap", "stats")
        table = done.stderr[done.stderr.index(43 * "-"):].splitlines()
        self.assertEqual(table[:2], [43 * "-", "HEAP USAGE SUMMARY"])
        self.assertEqual(table[2].split(), ["Size", "Count", "Bytes"])
        sizes = {}
        for line in table[3:]:
            found = re.fullmatch(r" *(\d+) - (\d+) +(\d+) +(\d+)", line)
            if not found:
                break
            low, high, count, total = map(int, found.groups())
            sizes[high] = count
            self.assertGreaterEqual(total, low * count)
            self.assertLessEqual(total, high * count)
        self.assertGreaterEqual(sizes[1 << 17], 40)
        run = self.run_script(GROWS, "--trace", "none", "--heap", "sampled",
                              "--heap-rates", "{256:1e-5, 8192:0.1}")
        live = rows(run.report("heap", "--csv", "--at", "end"))
        line = next(row for row in live if row["line"] == "4")
        self.assertGreaterEqual(int(line["live_bytes"]), 4_000_000)
        history = rows(run.report("history", "--csv", "--interval", "10ms", "--to", "end"))
        self.assertGreater(len(history), 1)
        moment = next(row for row in history if int(row["live_bytes"]) > 1_000_000)
        then = rows(run.report("snapshot", "--at", moment["time_s"], "--csv"))
        self.assertEqual(sum(int(row["self_bytes"]) for row in then),
                         int(moment["live_bytes"]))
        self.assertIn("</svg>", run.report("history", "--svg", "--interval", "60s"))
        stacks = run.report("snapshot", "--at", "end", "--collapsed")
        self.assertRegex(stacks, r"(?m)^.*step \(.*script.py:4\).* \d+$")
        dot = run.report("export", "--format", "dot", "--at", "end")
        self.assertRegex(dot, r"f\d+ -> f\d+ \[label=")

    @unittest.skipUnless(pymemrun_reader, "no module for this Python")
    def test_the_same_in_python(self):
        run = self.run_script(GROWS, "--trace", "none", "--heap", "all")
        with pymemrun_reader.open(run.path) as profile:
            made = [event for event in profile.events("heap")
                    if getattr(event, "size_bytes", 0) > 100_000]
            self.assertGreaterEqual(len(made), 40)
            self.assertIn("step", str(profile.stack(made[0].stack)[-1]))
            history = profile.heap_history(interval_s=60)
            self.assertEqual(len(history.ys[0]), len(history.x))
            self.assertEqual(len(history.ys), len(history.labels))
            whole = profile.heap_history()
            part = profile.heap_history(from_s=whole.x[5], to_s=whole.x[-5])
            self.assertEqual(part.x[0], whole.x[5])
            self.assertEqual(part.x[-1], whole.x[-5])
            for number, moment in (0, 5), (-1, -5):
                self.assertEqual(sum(y[number] for y in part.ys), sum(y[moment] for y in whole.ys))
            snapshot = profile.snapshot("end")
            self.assertGreater(snapshot.live_bytes, 4_000_000)
            self.assertIn("step", str(snapshot.stacks()[0]))

    def test_a_part_of_the_run(self):
        run = self.run_script(
            "import pymemrun\n" + GROWS + "pymemrun.stop()\nkept.append(b'y' * 9_000_000)\n",
            "--trace", "none", "--heap", "all")
        lines = {row["line"] for row in rows(run.report("heap", "--csv", "--at", "end"))}
        self.assertIn("5", lines)
        self.assertNotIn("10", lines)
        # From a moment that the program chooses, at rates that its user does.
        run = self.run_script("import pymemrun\nbefore = b'y' * 9_000_000\npymemrun.start()\n" +
                              GROWS, "--paused", "--trace", "none", "--heap-rates",
                              "{256:1e-5, 8192:0.1}")
        lines = {row["line"] for row in rows(run.report("heap", "--csv", "--at", "end"))}
        self.assertIn("7", lines)
        self.assertNotIn("2", lines)


class Gil(support.ProgramTest):
    """Who holds the GIL, who waits, what threads do."""

    def test_a_module_that_computes_without_the_gil(self):
        """One thread holds it; the others need it little, and so wait little."""
        if support.FREE_THREADED:
            self.skipTest("there is no GIL")
        self.write("counts.py", """\
import hashlib, sys, threading, time
DATA = bytes(30_000_000)
def hashes():
    for _ in range(4): hashlib.sha256(DATA)
threads = [threading.Thread(target=hashes, name="hashes") for _ in range(2)]
for thread in threads: thread.start()
total, end = 0, time.monotonic() + .2
while time.monotonic() < end or any(thread.is_alive() for thread in threads): total += 1
for thread in threads: thread.join()
""")
        done = subprocess.run(
            [support.PYMEMRUN, "-o", "gil.pb", "--trace", "gil", "-m", "counts"], check=True,
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        # The table of threads comes at once, with shares of each one's time.
        self.assertRegex(done.stderr, r"(?m)^pymemrun: thread +holds +waits +without ")
        self.assertEqual(len(re.findall(r"(?m)^pymemrun: hashes#\d+( +\d+\.\d %){3}",
                                        done.stderr)), 2, done.stderr)
        table = rows(subprocess.run([support.PYMEMREPORT, "gil", "--csv", self.folder + "/gil.pb"],
                                    check=True, stdout=subprocess.PIPE, text=True).stdout)
        for row in table:
            held, waiting, without = (float(row[name])
                                      for name in ("held_s", "waiting_s", "without_s"))
            if row["thread"].startswith("hashes"):
                self.assertGreater(without, 4 * held)
            else:
                self.assertGreater(held, waiting)

    def test_threads_that_want_the_gil(self):
        if support.FREE_THREADED:
            self.skipTest("there is no GIL")
        run = self.run_script(SPINS, "--trace", "gil,states", "--import", "fractions,threading")
        table = rows(run.report("gil", "--csv"))
        spinning = [row for row in table if row["thread"].startswith("Thread-")]
        self.assertEqual(len(spinning), 2)
        for row in spinning:
            self.assertGreater(float(row["waiting_s"]), 0)
            self.assertGreater(float(row["held_s"]), 0)
        self.assertIn("S(GIL)", run.report("states"))
        waits = run.report("offgil", "--collapsed")
        self.assertRegex(waits, r"(?m)^Thread-.* \d+$")
        self.assertGreater(sum(int(line.rpartition(" ")[2]) for line in waits.splitlines()), 0)
        self.assertIn("</svg>", run.report("offgil", "--svg"))
        self.assertIn("</svg>", run.report("timeline", "--threads"))
        trace = json.loads(run.report("export", "--format", "chrome"))
        self.assertTrue(any("GIL" in str(event.get("name")) for event in trace["traceEvents"]))
        events = run.json_rows("--records", "gil")
        self.assertEqual({event["what"] for event in events}, {"GIL"})
        taken = sum(event["action"] == "taken" for event in events)
        self.assertGreater(taken, 2)
        # Two halves have all of it.
        half = f"{events[len(events) // 2]['clock_s']:.6f}"
        held = [sum(float(row["held_s"]) for row in rows(run.report("gil", "--csv", *part)))
                for part in ([], ["--to", half], ["--from", half])]
        self.assertAlmostEqual(held[0], held[1] + held[2], delta=2e-5)


if __name__ == "__main__":
    unittest.main()
