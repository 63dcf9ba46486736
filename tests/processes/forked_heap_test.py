"""--follow fork: what a forked child has of its parent. Its heap begins with the
parent's blocks; of the tracer it inherits nothing that stays."""
import json
import os
import sys
import unittest

from process_support import ProcessesTest, ProcessRun


# What bytearrays take beside their bytes, where each allocation is recorded.
OBJECTS = (0, sys.getsizeof(bytearray()), 2 * sys.getsizeof(bytearray()))


class HeapTest(ProcessesTest):
    """The heap of a child begins with its parent's blocks."""

    def test_a_free_of_a_parents_block_counts(self):
        for options in (("--heap", "all"), ("--heap", "all", "--native"),
                        ("--heap", "sampled")):
            with self.subTest(options):
                first, children = self.run_family("""
held = [bytearray(20_000_000), bytearray(21_000_000)]
if (pid := os.fork()) == 0:
    held.pop()
    more = in_child()
    del more
    os._exit(0)
os.wait()
del held
""", "--trace", "none", *options, files=1)
                (child,) = children.values()
                blocks = {e.size: e.address for e in first.heap()
                          if not e.is_free and e.size > 20_000_000}
                self.assertEqual(len(blocks), 2)
                freed = {e.address for e in child.heap() if e.is_free}
                small, large = (blocks[size] for size in sorted(blocks))
                self.assertIn(large, freed)
                self.assertNotIn(small, freed)
                self.assertLess({small, large},
                                {e.address for e in first.heap() if e.is_free})

    def test_reports_of_a_child_begin_with_the_parents_blocks(self):
        for heap in ("all", "sampled"):
            with self.subTest(heap):
                _, children = self.run_family("""
def hold(size): return bytearray(size)
held = [hold(20_000_000), hold(21_000_000)]
if (pid := os.fork()) == 0:
    in_child()
    import pymemrun
    pymemrun.mark("before")
    held.pop()
    if os.fork() == 0:
        in_child()
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
""", "--trace", "none", "--heap", heap, files=2)
                child, grandchild = sorted(
                    children.values(), key=lambda run: run.header.start_monotonic_ns)
                self.assertIn(self.held_by(child, "before") - 41_000_002, OBJECTS)
                self.assertIn(self.held_by(child, "end") - 20_000_001, OBJECTS)
                self.assertIn(self.held_by(grandchild, "0") - 20_000_001, OBJECTS)

    def test_what_is_taken_before_the_childs_first_event(self):
        # No sample can be taken then, and those after it are as many as ever.
        _, children = self.run_family("""
def in_between():
    bytearray(50_000_000)
def first():
    return [b"x" * 200_000 for _ in range(200)]
os.register_at_fork(after_in_child=in_between)
if (pid := os.fork()) == 0:
    held = first()
    os._exit(0)
os.wait()
""", "--trace", "none", "--heap", "sampled", files=1)
        (child,) = children.values()
        sizes = [e.size for e in child.heap() if not e.is_free]
        self.assertGreater(sizes.count(200_033), 100)

    def test_the_answer_says_what_was_inherited(self):
        first, children = self.run_family("""
def hold(size): return bytearray(size)
held = [hold(20 << 20), hold(20 << 20)]
if (pid := os.fork()) == 0:
    in_child()
    os._exit(0)
os.wait()
""", "--trace", "pages", "--heap", "all", files=1)
        (child,) = children.values()
        parts = child.report("report")
        self.assertRegex(parts, r"\n  inherited from the parent +[4-9]\d MiB")
        self.assertRegex(parts, r"Live in the parent when it forked: 40 MiB by "
                                r"\S+:\d+")
        self.assertNotIn("before tracing", parts)
        os.unlink(first.path)  # without it nobody knows the lines
        alone = child.report("report")
        self.assertIn("\n  inherited from the parent ", alone)
        self.assertNotIn("Live in the parent", alone)
        first_of_all = self.run_script("pass", "--trace", "pages")
        self.assertIn("\n  before tracing ", first_of_all.report("report"))

    def test_what_came_before_a_childs_first_call_is_not_its_parents(self):
        _, children = self.run_family("""
def hold(size): return bytearray(size)
held = hold(40 << 20)
if (pid := os.fork()) == 0:
    early = b"x" * (30 << 20)
    in_child()
    os._exit(0)
os.wait()
""", "--trace", "pages", "--heap", "all", files=1)
        (child,) = children.values()
        parts = child.report("report")
        self.assertRegex(parts, r"\n  inherited from the parent +[45]\d MiB")
        # Beside it files' pages, which a fork does not copy: 0.5 to 3 MiB, as a
        # fault maps what is cached around it, too.
        self.assertRegex(parts, r"\n  since the fork, untraced +3\d MiB")
        # Counted once: less than 10 MiB have a decimal place.
        self.assertNotRegex(parts, r"\n  unattributed +\d+ MiB")

    def held_by(self, run, moment):
        rows = json.loads(run.report("heap", "--json", "--at", moment))
        return sum(row["live_bytes"] for row in rows if row["function"] == "hold")

    def test_the_parent_tells_when_it_forked_whom(self):
        first, children = self.run_family("""
for _ in range(2):
    if os.fork() == 0:
        in_child()
        os._exit(0)
    os.wait()
""", "--trace", "none", "--heap", "all", files=2)
        forks = first.records("fork")
        self.assertEqual({fork.child_pid for fork in forks}, set(children))
        for fork in forks:
            header = children[fork.child_pid].header
            self.assertLess(
                first.header.start_monotonic_ns + fork.time_us * 1000 - 1000,
                header.start_monotonic_ns)


class SharedMemoryTest(ProcessesTest):
    def test_pages_of_both_count_half(self):
        # Until something stands in the file behind what it began with.
        _, (child,) = self.run_family("""
held = b"x" * (64 << 20)
if (pid := os.fork()) == 0:
    in_child()
    path = os.path.join(os.path.dirname(__file__), f"run.{os.getpid()}.pb")
    first = 0
    while first == 0 or os.stat(path).st_size == first:
        in_child()
        first = first or os.stat(path).st_size
    os._exit(0)
os.wait()
""", files=1)
        child = ProcessRun(os.path.join(self.here, f"run.{child}.pb"))
        shared = [sample.pss_bytes for sample in child.records("process")
                  if sample.pss_bytes]
        self.assertGreater(min(shared), 32 << 20)
        self.assertLess(max(shared), 64 << 20)
        self.assertGreater(child.footer.hwm_bytes, 64 << 20)

    def test_a_process_alone_is_not_asked(self):
        first, _ = self.run_family("held = b'x' * (64 << 20)", files=0)
        self.assertEqual({sample.pss_bytes
                          for sample in first.records("process")}, {0})


class NothingLeftTest(ProcessesTest):
    def test_many_short_children(self):
        self.run_family("""
def resources():
    with open("/proc/self/maps") as maps:
        shared = sum("memfd:pymemrun" in line for line in maps)
    return len(os.listdir("/proc/self/fd")), shared
before = resources()
for _ in range(40):
    if (pid := os.fork()) == 0:
        in_child()
        # Of its parent's region the page of counts; its own two pieces.
        wrong = resources()[0] != before[0]
        try:
            os.waitpid(-1, 0)  # it has no child
            wrong = True
        except ChildProcessError:
            pass
        os._exit(wrong)
    assert os.waitpid(pid, 0) == (pid, 0)
try: os.wait()
except ChildProcessError: print(resources() == before)
""", files=40)
        self.assertEqual(self.result.stdout, "True\n")

    def test_generations(self):
        first, children = self.run_family("""
fds = len(os.listdir("/proc/self/fd"))
for generation in range(12):
    pid = os.fork()
    if pid:
        os._exit(os.waitpid(pid, 0)[1] >> 8)
    in_child()
    if len(os.listdir("/proc/self/fd")) != fds: os._exit(9)
os._exit(0)
""", "--heap", "sampled", "--trace", "calls,pages", files=12)
        own = [c.header.own_bytes for c in children.values()]
        # What a parent's tables took is given back.
        self.assertLess(max(own), 1.2 * first.header.own_bytes)


class ThreadsTest(ProcessesTest):
    def test_fork_while_threads_trace(self):
        self.check(int(os.environ.get("PYMEMRUN_TEST_FORKS", "24")))

    def check(self, forks):
        options = ["--trace", "calls,pages", "--heap", "all"]
        _, children = self.run_family(f"""
import signal
signal.alarm(280)
todo = iter(range({forks}))
wrong = []
def work():
    held = []
    for i in todo:
        held.append(bytearray(i * 977 % 300000 + 1)); del held[:-50]
        pid = os.fork()
        if pid == 0:
            signal.alarm(250)
            more = in_child()
            thread = threading.Thread(target=in_child)
            thread.start(); thread.join()
            os._exit(7)
        if os.waitpid(pid, 0)[1] != 7 << 8: wrong.append(i)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong)
""", *options, files=forks)
        self.assertEqual(self.result.stdout, "[]\n")
        for child in children.values():
            self.assertEqual(child.footer.exit_status, 7)
            self.assertEqual(child.footer.dropped, 0)
            self.assertEqual(child.footer.heap_events_lost, 0)
            self.assertIn("in_child", child.functions())


if __name__ == "__main__":
    unittest.main()
