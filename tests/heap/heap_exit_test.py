"""What is alive when a program ends: after its exit functions and threads,
before the interpreter takes itself down; and of programs that end otherwise."""
import json
import subprocess
import unittest

import fault_support
import support

KEPT, CACHED, LATE, THREADS, GONE = 3_000_000, 2_000_000, 500_000, 1_000_000, 7_000_000
MARGIN = 100_000
OVERHEAD = 200  # of the object and the lists that hold it

PROGRAM = f"""\
import atexit, os, sys, threading, time
kept = [bytearray({KEPT})]  # line 2
cached = [bytearray({CACHED})]  # line 3
def at_exit():
    cached.clear()
    kept.append(bytearray({LATE}))  # line 6
atexit.register(at_exit)
def work():
    time.sleep(0.1)
    kept.append(bytearray({THREADS}))  # line 10
class Last:
    def __del__(self):
        self.keep(bytearray({GONE}))  # line 13
    keep = kept.append
last = Last()
threading.Thread(target=work).start()
gone = bytearray({GONE})  # line 17
"""
WHOLE = {2: KEPT, 6: LATE, 10: THREADS}  # of a program that ends by itself


class HeapExitTest(support.ProgramTest):
    def leaks(self, run, file):
        """Bytes by line of what is alive at the end, large ones."""
        done = subprocess.run([support.PYMEMREPORT, "heap", "--leaks", "--json", "--by",
                               "library-line", "--limit", "0", run.path], check=True, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return {row["line"]: row["live_bytes"] for row in json.loads(done.stdout)
                if row["live_bytes"] > 100_000 and row["file"].endswith(file)}

    def footer(self, run):
        fault_support.wait_for_collector_to_end(run.path)
        return list(support.file_records(run.path))[-1].footer

    def check(self, run, expected, finalized=True, file=".py"):
        footer = self.footer(run)
        self.assertEqual(footer.finalize, footer.FINALIZED if finalized
                         else footer.NOT_FINALIZED)
        self.assertEqual(footer.HasField("finalize_heap_events"), finalized)
        found = self.leaks(run, file)
        self.assertEqual(found.keys(), expected.keys())
        for line, size in expected.items():
            self.assertIn(found[line] - size, range(OVERHEAD), line)

    def run_heap(self, text, *options, **kwargs):
        return self.run_script(PROGRAM + text, "--trace", "none", "--heap", "all",
                               *options, **kwargs)

    def test_exit_functions_and_threads_are_the_programs(self):
        run = self.run_heap("del gone\n")
        self.check(run, WHOLE)
        footer = self.footer(run)
        self.assertLess(footer.finalize_us, footer.end_us)
        self.assertLess(footer.finalize_heap_events,
                        footer.heap_allocations + footer.heap_frees)
        # What __del__ does when all is taken down comes after that.
        self.assertGreater(footer.heap_frees, 100)

    def test_a_large_block_is_alive_until_it_is_freed(self):
        """The peak has both lines, and RSS was read when all was freed."""
        run = self.run_script('big = "a" * 100_000_000\nbig2 = big + "b"\n'
                              "del big\ndel big2\nx = [i * i for i in range(1000)]\n",
                              "--trace", "none", "--heap", "all")
        done = subprocess.run([support.PYMEMREPORT, "report", "--json", run.path],
                              check=True, capture_output=True, text=True)
        answer = json.loads(done.stdout)
        held = {place["line"]: place["bytes"] for place in answer["peak"]["places"]
                if place["own"]}
        for line in 1, 2:
            self.assertAlmostEqual(held.get(line, 0), 100_000_000, delta=MARGIN, msg=answer)
        self.assertLess(answer["end"]["rss_bytes"], 90_000_000, answer)

    def test_calls_beside_change_nothing(self):
        run = self.run_script(PROGRAM + "del gone\n", "--heap", "all", "--native")
        self.check(run, WHOLE)

    def test_an_exception_keeps_what_its_frames_hold(self):
        run = self.run_heap("def fail():\n"
                            f"    held = bytearray({KEPT})\n"
                            "    del globals()['gone']\n"
                            "    1 / 0\n"
                            "fail()\n", status=1)
        self.check(run, {**WHOLE, 19: KEPT})

    def test_sys_exit(self):
        run = self.run_heap("del gone\nsys.exit(3)\n", status=3)
        self.check(run, WHOLE)

    def test_without_finalisation_the_end_is_the_end(self):
        for end, status in (("os._exit(0)", 0), ("os.kill(os.getpid(), 9)", -9),
                            ("os.execv('/bin/true', ['true'])", 0)):
            run = self.run_heap("del gone\nfor t in threading.enumerate():\n"
                                "    if t is not threading.current_thread(): t.join()\n"
                                # Frees alone come behind the last allocation.
                                f"del cached[:], kept[0]\n{end}\n",
                                status=status)
            self.check(run, {10: THREADS}, finalized=False)

    def test_code_and_modules(self):
        options = ["--quiet", "--trace", "none", "--heap", "all"]
        run = self.pymemrun(*options, "-c", PROGRAM + "del gone\n")
        self.check(run, WHOLE, file="<string>")
        self.write("job.py", PROGRAM + "del gone\n")
        run = self.pymemrun(*options, "-m", "job", env={"PYTHONPATH": self.folder})
        self.check(run, WHOLE)

    def test_a_forked_child_that_ends_is_not_the_programs_end(self):
        run = self.run_heap("del gone\npid = os.fork()\n"
                            "if pid == 0:\n    atexit.unregister(at_exit); sys.exit(0)\n"
                            "os.waitpid(pid, 0)\nlater = bytearray(800_000)\n")
        self.check(run, {**WHOLE, 23: 800_000})


if __name__ == "__main__":
    unittest.main()
