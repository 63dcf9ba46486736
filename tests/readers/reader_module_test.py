"""The module pymemrun_reader: what it gives of real runs is what the tools
print of them."""
import _thread
import ast
import collections
import concurrent.futures
import csv
import datetime
import functools
import io
import json
import operator
import os
import re
import signal
import subprocess
import sys
import unittest

import support

sys.path.insert(0, os.environ.get("PYMEMRUN_READER_PATH", "."))
import pymemrun_reader  # noqa: E402  where the line above says

# With an argument it waits until what load() did is in the file, so that what
# comes afterwards is in another frame.
SCRIPT = """
import os, sys, threading, time
pymemrun = __import__("pymemrun") if "pymemrun" in sys.builtin_module_names else None
kept = []
def load(count):
    for i in range(count):
        kept.append(bytearray(5000 + i))
def work():
    load(300)
load(1000)
def written(): return sum(f.stat().st_size for f in os.scandir() if f.name.endswith(".pb"))
for _ in sys.argv[1:] * 2:  # the first frame may hold a part
    before = written()
    while written() == before: time.sleep(0.01)
pymemrun.mark("loaded \\udcff")
thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
del kept[:500]
pymemrun.mark("done")
"""


def with_fields(names, rows):
    return [tuple(str(row[name]) for name in names) for row in rows]


class ReaderModuleTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("setUp")
        cls.all = self.run_script(SCRIPT, "--heap", "all", "--stacks",
                                  "--min-drss", "0", arguments=["wait"])
        cls.sampled = self.run_script(SCRIPT, "--heap", "sampled",
                                      "--heap-rates", "16KiB")
        cls.without = self.run_script(SCRIPT, "--heap", "off")

    def setUp(self):
        self.run_all = pymemrun_reader.open(self.all.path)

    def csv(self, command, *options, run=None):
        text = (run or self.all).report(command, "--csv", *options)
        return list(csv.DictReader(io.StringIO(text)))

    # -- What the run was

    def test_the_header(self):
        run, header = self.run_all, self.all.header
        self.assertEqual(run.pid, header.pid)
        self.assertEqual(run.argv[-2:],
                         [os.path.join(self.folder, "script.py"), "wait"])
        self.assertEqual(run.python_version, header.python_version.decode())
        self.assertEqual(run.page_bytes, os.sysconf("SC_PAGESIZE"))
        self.assertEqual((run.heap, run.heap_native), ("all", False))
        self.assertEqual(run.min_drss_bytes, 0)
        start = datetime.datetime.fromtimestamp(
            header.start_realtime_ns // 1000 / 1e6, datetime.timezone.utc)
        self.assertLess(abs(run.start_time - start),
                        datetime.timedelta(microseconds=2))
        self.assertIn(str(header.pid), repr(run))

    def test_the_end(self):
        footer = self.all.footer
        end = self.run_all.end
        self.assertEqual((end.how, end.status), ("exit", 0))
        self.assertEqual(end.time_s, footer.end_us / 1e6)
        self.assertEqual(end.rows, footer.rows)
        self.assertEqual(end.heap_allocations, footer.heap_allocations)
        self.assertEqual((self.run_all.torn, self.run_all.damages), (False, 0))
        summary, = json.loads(self.all.report("summary", "--json"))
        ours = self.run_all.summary()
        self.assertEqual(list(ours), list(summary))
        for name in "pid", "end", "rows", "duration_s", "python_version":
            self.assertEqual(ours[name], summary[name])

    # -- Events

    def test_rows_are_pymemcats(self):
        expected = self.all.rows("--records", "calls")
        rows = list(self.run_all.events("calls"))
        self.assertEqual(len(rows), self.all.footer.rows)
        names = ("event", "what", "file", "line", "function", "rss_bytes", "thread")
        self.assertEqual(with_fields(names, [r._asdict() for r in rows]),
                         with_fields(names, expected))
        self.assertEqual(["%.6f" % row.time_s for row in rows],
                         [row["clock_s"] for row in expected])

    def test_heap_events_are_pymemcats(self):
        for source in self.all, self.sampled:
            expected = list(csv.DictReader(io.StringIO(
                source.cat("--csv", "--raw-text", "--records", "heap").decode())))
            with pymemrun_reader.open(source.path) as run:
                events = list(run.events(["heap"]))
            self.assertGreater(len(events), 50)
            self.assertEqual(len(events), len(expected))
            for event, row in zip(events, expected):
                what = "FREE" if isinstance(event, pymemrun_reader.Free) else "ALLOC"
                self.assertEqual(what, row["what"])
                self.assertEqual(event.address, int(row["address"], 16))
                self.assertEqual(event.thread, row["thread"])
                if what == "ALLOC":
                    self.assertEqual(event.size_bytes, int(row["size_bytes"]))
                    self.assertEqual(event.allocator, row["allocator"])
                    self.assertAlmostEqual(event.weight, float(row["weight"]),
                                           delta=event.weight * 1e-3)

    def test_frees_take_away_what_was_allocated(self):
        live = {}
        for event in self.run_all.events("heap"):
            if isinstance(event, pymemrun_reader.Free):
                live.pop(event.address, None)
            else:
                live[event.address] = event
        lines = collections.Counter()
        for block in live.values():
            frame = self.run_all.stack(block.stack)[-1]
            lines[frame] += block.size_bytes
        rows = {(row.file, row.line, row.function): row.live_bytes
                for row in self.run_all.top("library-line", limit=None, at="exit")}
        tracing = sum(size for frame, size in lines.items()
                      if frame.function == "<tracing itself>")
        self.assertEqual(tracing, self.run_all.snapshot("exit").tracing_bytes)
        self.assertEqual(rows, {frame: size for frame, size in lines.items()
                                if frame.function != "<tracing itself>"})

    def test_what_c_code_maps_is_reserved(self):
        run = self.run_script(
            "import ctypes\n"
            "libc = ctypes.CDLL(None)\n"
            "libc.mmap.restype = ctypes.c_void_p\n"
            "at = libc.mmap(None, ctypes.c_size_t(5 << 30), 0, 0x4022, -1, 0)\n"
            "libc.munmap(ctypes.c_void_p(at), ctypes.c_size_t(1 << 30))\n",
            "--heap", "all", "--native", "--trace", "none")
        reader = pymemrun_reader.open(run.path)
        events = list(reader.events("heap"))
        mapped, = (event for event in events
                   if isinstance(event, pymemrun_reader.Allocation) and
                   (event.allocator, event.size_bytes) == ("mmap", 5 << 30))
        gone, = (event for event in events
                 if isinstance(event, pymemrun_reader.Unmap) and
                 event.size_bytes == 1 << 30)
        self.assertEqual((gone.address, gone.moves, gone.thread),
                         (mapped.address, False, mapped.thread))
        end = reader.snapshot("end")
        self.assertGreaterEqual(end.reserved_bytes, 4 << 30)
        self.assertLess(end.reserved_bytes, 5 << 30)
        self.assertLess(end.live_bytes, 1 << 30)

    def test_marks_and_the_order_of_the_file(self):
        first, second = self.run_all.events("marks")
        self.assertEqual((first.label, second.label), ("loaded \udcff", "done"))
        self.assertRegex(first.thread, r"^MainThread#\d+$")
        kinds = collections.Counter(type(e).__name__ for e in self.run_all.events())
        self.assertEqual(kinds["Mark"], 2)
        self.assertEqual(kinds["Row"], self.all.footer.rows)
        self.assertEqual(kinds["Allocation"], self.all.footer.heap_allocations)
        self.assertEqual(kinds["Free"], self.all.footer.heap_frees)

    def test_stacks_begin_with_the_outermost_frame(self):
        script = os.path.join(self.folder, "script.py")
        stacks = [self.run_all.stack(row.stack) for row in self.run_all.events("calls")
                  if (row.what, row.function) == ("CALL", "load")]
        self.assertEqual([frame.function for frame in stacks[0]], ["<module>", "load"])
        self.assertEqual(stacks[0][0], (script, 10, "<module>"))
        self.assertEqual([frame.function for frame in stacks[1]][-2:], ["work", "load"])
        self.assertEqual(self.run_all.stack(0), [])
        with self.assertRaises(KeyError):
            self.run_all.stack(4_000_000_000)

    def test_iterators_stand_for_themselves(self):
        first, second = self.run_all.events("calls"), self.run_all.events("calls")
        self.assertEqual([next(first) for _ in range(40)],
                         [next(second) for _ in range(40)])
        self.run_all.close()
        self.assertEqual(next(first), next(second))
        with self.assertRaisesRegex(ValueError, "closed"):
            self.run_all.events()

    # -- The heap

    def test_a_snapshot_is_pymemreports(self):
        for source in self.all, self.sampled:
            run = pymemrun_reader.open(source.path)
            for at in "peak", "heap-peak", "end", "exit", "50%", 0.01:
                expected = self.csv("heap", "--at", str(at), "--limit", "0", run=source)
                expected = [r for r in expected if r["file"] != "<tracing itself>"]
                rows = run.snapshot(at)
                self.assertEqual(len(rows), len(expected))
                for row, other in zip(rows, expected):
                    self.assertEqual(row.file, other["file"])
                    self.assertEqual(row.line, int(other["line"] or 0))
                    self.assertEqual(row.live_bytes, int(other["live_bytes"]))
                    self.assertEqual(row.live_count, int(other["live_count"]))
                    self.assertEqual(row.error_bytes, int(other.get("error_bytes", 0)))
                self.assertAlmostEqual(rows.live_bytes,
                                       sum(row.live_bytes for row in rows),
                                       delta=len(rows))

    def test_the_stacks_of_a_snapshot_are_pymemreports(self):
        expected = json.loads(self.all.report("snapshot", "--json"))
        stacks = self.run_all.snapshot().stacks()
        self.assertEqual(len(stacks), len(expected))
        for stack, other in zip(stacks, expected):
            self.assertEqual([(f.file, f.line, f.function) for f in stack.frames],
                             [(f["file"], f["line"] or 0, f["function"])
                              for f in other["stack"]])
            self.assertEqual((stack.thread, stack.live_bytes, stack.live_count),
                             (other["thread"], other["live_bytes"], other["live_count"]))

    def test_top_by_each_kind(self):
        for by in "line", "function", "file", "thread", "allocator", "module":
            expected = self.csv("heap", "--by", by, "--limit", "3")
            expected = [r for r in expected if not next(iter(r.values())).startswith("<")]
            rows = self.run_all.top(by, 3)
            self.assertLessEqual(len(rows), 3)
            self.assertEqual([row.live_bytes for row in rows][:len(expected)],
                             [int(r["live_bytes"]) for r in expected], by)
            self.assertEqual(rows[0][0], next(iter(self.csv("heap", "--by", by)[0].values())))
        self.assertEqual(len(self.run_all.top(limit=None)), len(self.run_all.snapshot()))

    def test_the_history_is_pymemreports(self):
        expected = self.csv("history", "--interval", "10ms", "--top", "3")
        x, ys, labels = self.run_all.heap_history(0.01, top=3)
        self.assertEqual(labels[-1], "other")
        self.assertEqual(list(labels[:-1]), list(expected[0])[2:5])
        self.assertEqual(list(x), [float(row["time_s"]) for row in expected])
        for label, y in zip([*labels[:-1], "other places"], ys):
            self.assertEqual([round(value) for value in y],
                             [int(row[label]) for row in expected])

    def test_a_history_is_made_of_arrays(self):
        without = ("import sys; sys.modules['numpy'] = None\n"
                   "import pymemrun_reader\n"
                   "h = pymemrun_reader.open(sys.argv[1]).heap_history()\n"
                   "print(type(h.x), [list(y) for y in (h.x, *h.ys)])")
        environment = {**os.environ, "PYTHONPATH": os.environ["PYMEMRUN_READER_PATH"]}
        said = subprocess.run([sys.executable, "-c", without, self.all.path], text=True,
                              env=environment, stdout=subprocess.PIPE, check=True).stdout
        history = self.run_all.heap_history()
        self.assertIn("array.array", said)
        self.assertIn(repr([list(map(float, y)) for y in (history.x, *history.ys)]), said)
        self.assertEqual({len(y) for y in history.ys}, {len(history.x)})
        if "numpy" in sys.modules:  # tests/aarch64 has none
            self.assertEqual({y.dtype.name for y in (history.x, *history.ys)}, {"float64"})

    # -- What goes wrong

    def test_what_makes_no_sense_is_refused(self):
        for call in (lambda: self.run_all.top("colour"), lambda: self.run_all.events("cats"),
                     lambda: self.run_all.snapshot(-1), lambda: self.run_all.snapshot("now"),
                     lambda: self.run_all.heap_history(0), lambda: self.run_all.top(limit=-1),
                     lambda: self.run_all.heap_history(1e-9),
                     lambda: self.run_all.heap_history(from_s=-1),
                     lambda: self.run_all.heap_history(from_s=2, to_s=1)):
            with self.assertRaises(ValueError):
                call()
        with pymemrun_reader.open(self.without.path) as run:
            self.assertEqual(run.heap, "off")
            with self.assertRaisesRegex(ValueError, "no heap events.*--heap sampled"):
                run.snapshot()

    def test_files_that_cannot_be_opened(self):
        with self.assertRaises(FileNotFoundError) as caught:
            pymemrun_reader.open("/nowhere/run.pb")
        self.assertEqual(caught.exception.filename, "/nowhere/run.pb")
        with self.assertRaises(IsADirectoryError):
            pymemrun_reader.open(self.folder)

    def test_what_is_no_run_file_is_said_as_pymemcat_says_it(self):
        path = self.write("words.txt", "No run file at all.\n" * 99)
        said = subprocess.run([support.PYMEMCAT, path], stderr=subprocess.PIPE, text=True)
        with self.assertRaises(ValueError) as caught:
            pymemrun_reader.open(path)
        self.assertEqual(said.stderr, "pymemcat: %s\n" % caught.exception)

    def test_a_dump_of_objects_is_no_run(self):
        run = self.run_script("", "--objects", "exit")
        with self.assertRaisesRegex(ValueError, ": a dump of the object graph"):
            pymemrun_reader.open(run.path[:-len("pb")] + "obj.pb")

    def test_damage_counts_and_a_cut_off_end_is_told(self):
        with open(self.all.path, "rb") as file:
            whole = file.read()
        # Behind each of these frames another one begins: its last byte is of its
        # checksum. Inside, a few bits mean nothing: flipped, they do no damage.
        frames = [match.start() for match in
                  re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), whole)]
        torn = os.path.join(self.folder, "torn.pb")
        with open(torn, "wb") as file:
            file.write(whole[:len(whole) * 2 // 3])
        run = pymemrun_reader.open(torn)
        self.assertEqual((run.torn, run.end), (True, None))
        count = sum(1 for _ in self.run_all.events())
        self.assertLess(sum(1 for _ in run.events()), count)
        data = bytearray(whole)
        data[frames[2] - 1] ^= 0x10
        with open(torn, "wb") as file:
            file.write(data)
        self.assertEqual((run.torn, run.damages), (False, 1))  # it has grown
        self.assertEqual(run.end.how, "exit")
        # What is in no damaged frame is read: of some frame's loss blocks remain.
        alive = []
        for end in frames[2:-1]:
            data = bytearray(whole)
            data[end - 1] ^= 0x10
            with open(torn, "wb") as file:
                file.write(data)
            run = pymemrun_reader.open(torn)
            alive.append(len(run.snapshot("end")))
            self.assertEqual(run.damages, 1)
        self.assertGreater(max(alive), 0)

    def test_reading_can_be_interrupted(self):
        for read in self.run_all.snapshot, self.run_all.events().__next__:
            reached = []
            with self.assertRaises(KeyboardInterrupt):  # no Python code in between
                list(map(operator.call, (_thread.interrupt_main, read,
                                         functools.partial(reached.append, 1))))
            self.assertEqual(reached, [])
        self.assertGreater(len(self.run_all.snapshot()), 0)

    def test_an_iterator_is_not_read_by_a_handler_meanwhile(self):
        events = self.run_all.events()
        old = signal.signal(signal.SIGINT, lambda *_: next(events))
        self.addCleanup(signal.signal, signal.SIGINT, old)
        with self.assertRaisesRegex(ValueError, "in use"):
            list(map(operator.call, (_thread.interrupt_main, events.__next__)))
        self.assertEqual(list(events), [])  # as a generator that has raised

    def test_threads_read_beside_each_other(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            tops = list(pool.map(lambda _: self.run_all.top(), range(8)))
            counts = list(pool.map(lambda _: sum(1 for _ in self.run_all.events("marks")),
                                   range(8)))
        self.assertEqual(tops, [self.run_all.top()] * 8)
        self.assertEqual(counts, [2] * 8)

    # -- What is said of it

    def test_the_stub_has_what_the_module_has(self):
        folder = os.path.join(support.SOURCE, "readers", "python", "pymemrun_reader")
        with open(os.path.join(folder, "_reader.pyi")) as file:
            stub = ast.parse(file.read())
        extension = pymemrun_reader._reader
        public = {name for name in vars(extension)
                  if not name.startswith("_") or name == "__version__"}
        classes = {n.name: n for n in stub.body if isinstance(n, ast.ClassDef)}
        functions = {n.name for n in stub.body if isinstance(n, ast.FunctionDef)}
        self.assertEqual(public, set(classes) | functions | {"__version__"})
        for name, node in classes.items():
            theirs = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            ours = {n for n in vars(getattr(extension, name))
                    if not n.startswith("_") or n in theirs}
            self.assertEqual(ours, theirs, name)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))

    def test_all_is_documented(self):
        for name in pymemrun_reader.__all__:
            self.assertTrue(getattr(pymemrun_reader, name).__doc__, name)
        for name, member in vars(pymemrun_reader.Run).items():
            if not name.startswith("_"):
                self.assertTrue(member.__doc__, name)

    def test_the_example_prints_a_history(self):
        example = os.path.join(support.SOURCE, "examples", "heap_history.py")
        environment = {**os.environ, "PYTHONPATH": os.environ["PYMEMRUN_READER_PATH"]}
        said = subprocess.run([sys.executable, example, self.all.path, "0.001"], text=True,
                              env=environment, stdout=subprocess.PIPE, check=True).stdout
        self.assertIn("script.py:7 load", said)


if __name__ == "__main__":
    unittest.main()
