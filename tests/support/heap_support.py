"""What the tests of heap events share: programs under pymemrun above the
module heap_oracle (see heap_oracle.cc), and which blocks are alive by the run
file, read by heap_decoder alone.

A program says `pymemrun.mark(NAME); snapshot(NAME)` on a line of
its own, which is not compared, and `pymemrun.mark('begin');
heap_oracle.begin()` before all that is to be compared."""
import os
import tempfile

import fault_support
import heap_decoder
import support

TRACING = ("<tracing itself>", 0)
OBJ, MEM, RAW, MALLOC, MMAP, MREMAP = range(6)  # HeapAllocator
NAMES = ("begin", "end")  # of moments that are no marks, or not compared

PREAMBLE = """import heap_oracle, pymemrun; snapshot = heap_oracle.snapshot
pymemrun.mark('begin'); heap_oracle.begin()
"""


def at(name):
    """A line on which both sides are asked. Nothing is looked up in a type between:
    that may free a name that the interpreter's cache of methods keeps, and what
    else is at its place depends on addresses."""
    return f"pymemrun.mark({name!r}); snapshot({name!r})\n"


class Mismatch(Exception):
    """An event that does not fit those before it."""


class Live:
    """Which blocks are alive after each event. `strict`: every block of the
    program is seen coming and going, so that each free has its allocation."""

    def __init__(self, strict=True):
        self.blocks = {}  # address: Event
        self.mapped = []  # [begin, end, Event]: what is left of mappings
        self._moved = {}  # thread: what it moves, at distances
        self._gone = set()
        self.strict = strict
        self.frees = self.allocations = self.unknown_frees = 0

    def events(self):
        """Those of blocks, and of the parts of mappings with their bytes."""
        return list(self.blocks.values()) + [
            event._replace(address=begin, size=end - begin)
            for begin, end, event in self.mapped]

    def unmap(self, begin, end):
        """Takes out what is there: [begin, end, Event]..."""
        taken, left = [], []
        for part in self.mapped:
            low, high, event = part
            if high <= begin or end <= low:
                left.append(part)
                continue
            taken.append([max(low, begin), min(high, end), event])
            left += [piece for piece in ([low, begin, event], [end, high, event])
                     if piece[0] < piece[1]]
        self.mapped = left
        return sorted(taken, key=lambda part: part[0])

    def _map(self, event):
        begin, end = event.address, event.address + event.size
        parts = [[begin, end, event]]
        if event.allocator == MREMAP:
            parts = [[begin + low, min(begin + high, end), event]
                     for low, high in self._moved.pop(event.thread, ())
                     if begin + low < end]
            if parts:
                parts[-1][1] = end
        if parts and self.unmap(begin, end) and self.strict:
            raise Mismatch(f"{event} over a live mapping")
        self.mapped += parts

    def take(self, event):
        if event.is_free and event.free_of != heap_decoder.BLOCK:
            parts = self.unmap(event.address, event.address + event.size)
            if event.free_of == heap_decoder.MOVED_RANGE:
                self._moved[event.thread] = [
                    (low - event.address, high - event.address)
                    for low, high, _ in parts]
            return
        if not event.is_free and event.allocator in (MMAP, MREMAP):
            self._map(event)
            return
        if event.is_free:
            self.frees += 1
            if self.blocks.pop(event.address, None) is not None:
                self._gone.add(event.address)
                return
            self.unknown_frees += 1
            if self.strict and event.address in self._gone:
                raise Mismatch(f"freed twice: {event}")
            return
        self.allocations += 1
        if event.address in self.blocks:
            raise Mismatch(f"{event} at the address of the live "
                           f"{self.blocks[event.address]}")
        self._gone.discard(event.address)
        self.blocks[event.address] = event

    def by_line(self, heap, after_us=-1):
        """{(file, line): (blocks, bytes)} of those allocated after a time."""
        found = {}
        for event in self.blocks.values():
            if event.us <= after_us:
                continue
            place = heap.place(event.stack)
            blocks, size = found.get(place, (0, 0))
            found[place] = blocks + 1, size + event.size
        return found


def live_at_marks(heap, strict=True):
    """{mark: {(file, line): (blocks, bytes)}}, with 'end', of blocks allocated
    after the mark 'begin'; and Live at the end."""
    begin = heap.marks.get("begin", -1)
    moments = sorted((us, name) for name, us in heap.marks.items()
                     if name != "begin")
    live, found = Live(strict), {}
    for event in heap.events:
        while moments and event.us > moments[0][0]:
            found[moments.pop(0)[1]] = live.by_line(heap, begin)
        live.take(event)
    for _, name in [*moments, (0, "end")]:
        found[name] = live.by_line(heap, begin)
    return found, live


def read_snapshot(path):
    found = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            name, number, blocks, size = line.rstrip("\n").split("\t")
            found[name, int(number)] = int(blocks), int(size)
    return found


class HeapTest(support.ProgramTest):
    """A test of programs above the oracle."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site = os.path.join(cls.folder, "site")
        os.mkdir(cls.site)
        with open(os.path.join(cls.site, "sitecustomize.py"), "w") as file:
            file.write("import heap_oracle\n")

    def run_above_oracle(self, text, *options, env=None, **kwargs):
        """Runs PREAMBLE and the text. Returns the run, its heap events and the
        oracle's {snapshot: {(file, line): (blocks, bytes)}}."""
        dumps = tempfile.mkdtemp(dir=self.folder)
        path = os.pathsep.join((self.site, os.environ["PYMEMRUN_HEAP_ORACLE"]))
        run = self.run_script(
            PREAMBLE + text, *options,
            env={"PYTHONPATH": path, "HEAP_ORACLE": dumps, "PYTHONHASHSEED": "0",
                 **(env or {})},
            **kwargs)
        fault_support.wait_for_collector_to_end(run.path)
        oracle = {name: read_snapshot(os.path.join(dumps, name))
                  for name in os.listdir(dumps)}
        return run, heap_decoder.HeapRun(run), oracle

    def own_lines(self, text):
        """The places of the lines that ask; and of the one that starts threads,
        whose blocks go some time after they were joined."""
        script = os.path.join(self.folder, "script.py")
        places = {(script, number) for number, line in
                  enumerate((PREAMBLE + text).splitlines(), 1)
                  if "heap_oracle." in line or "; snapshot(" in line}
        threading = self.run_python(
            "-c", "import threading; print(threading.__file__)").strip()
        with open(threading) as file:
            return places | {(threading, number)
                             for number, line in enumerate(file, 1)
                             if "_start_new_thread(" in line}

    def compare(self, found, expected, left_out=()):
        """That both say the same of each line. What stands under TRACING is
        missing elsewhere."""
        places = (found.keys() | expected.keys()) - set(left_out) - {TRACING}
        missing = {}
        for place in places:
            ours, theirs = found.get(place, (0, 0)), expected.get(place, (0, 0))
            if ours != theirs:
                missing[place] = theirs[0] - ours[0], theirs[1] - ours[1]
        blocks = sum(pair[0] for pair in missing.values())
        size = sum(pair[1] for pair in missing.values())
        all_less = all(min(pair) >= 0 for pair in missing.values())
        self.assertTrue(
            all_less and (blocks, size) == found.get(TRACING, (0, 0)),
            f"of {len(places)}, by tracing: {found.get(TRACING)}" + "".join(
                f"\n{place}: found {found.get(place)}, expected "
                f"{expected.get(place)}"
                for place in sorted(missing)[:20]))

    def assert_complete(self, run, heap):
        self.assertEqual(heap.lost, 0)
        self.assertEqual(run.footer.heap_events_lost, 0)
        frees = sum(event.is_free for event in heap.events)
        self.assertEqual(run.footer.heap_frees, frees)
        self.assertEqual(run.footer.heap_allocations,
                         len(heap.events) - frees)
