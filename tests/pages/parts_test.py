#!/usr/bin/env python3
"""What RSS consists of, beside what the kernel says, whichever way pages are
learnt of."""
import json
import subprocess
import unittest

import support

KIB, MIB = 1 << 10, 1 << 20

THREADS = r"""
import threading

ready, never = threading.Barrier(41), threading.Event()


def wait(depth):
    if depth > 0:
        return wait(depth - 1)
    ready.wait()
    never.wait()


threads = [threading.Thread(target=wait, args=(50,), daemon=True)
           for _ in range(40)]
for thread in threads:
    thread.start()
ready.wait()


def stacks():
    total, wanted = 0, False
    with open("/proc/self/smaps") as file:
        for line in file:
            words = line.split()
            if not words[0].endswith(":"):
                begin, end = (int(x, 16) for x in words[0].split("-"))
                wanted = line.rstrip().endswith("[stack]") or any(
                    begin <= thread.ident < end for thread in threads)
            elif words[0] == "Rss:" and wanted:
                total += int(words[1]) * 1024
    return total


print(stacks())
"""


# Memory that was asked for as zeros and only read: RSS does not count it. One
# thread gives it back at once, several times.
ZEROS = r"""
import threading, time
kept = []
def read(keep):
    for _ in range(4):
        zeros = bytes(40_000_000)
        zeros.count(b"a")
        if keep:
            kept.append(zeros)
            break
for thread in [threading.Thread(target=read, args=(False,), name="reader"),
               threading.Thread(target=read, args=(True,), name="keeper")]:
    thread.start()
    thread.join()
time.sleep(0.1)
"""


class PartsTest(support.PageEventsTest):
    def parts(self, run, moment="end"):
        done = subprocess.run([support.PYMEMREPORT, "report", "--json", run.path],
                              check=True, capture_output=True, text=True)
        return json.loads(done.stdout)[moment]["parts"]

    def both(self, script):
        for source in "faults", "scan":
            with self.subTest(source):
                run = self.run_script(script, "--light", "--page-source", source,
                                      env=support.USUAL)
                self.assertEqual(run.header.page_scan, source == "scan")
                yield run

    def test_stacks_of_threads(self):
        for run in self.both(THREADS):
            # The main thread's may hold pages from before tracing.
            self.assertAlmostEqual(self.parts(run)["stacks"], int(run.stdout),
                                   delta=100 * KIB)

    def test_code_that_was_there_is_not_what_the_program_brought(self):
        """Where a page comes, pages around it may have been there before."""
        for run in self.both("x = 1"):
            self.assertLess(self.parts(run)["files_and_code"], 2.5 * MIB)

    def test_memory_that_was_only_read_as_zeros_is_nobodys(self):
        for run in self.both(ZEROS):
            for moment in "peak", "end":
                parts = self.parts(run, moment)
                self.assertLess(sum(parts.values()), 60 * MIB)
                self.assertGreater(parts["unattributed"], -MIB)
                self.assertLess(parts["python_heap"] + parts["native_heap"],
                                10 * MIB)


if __name__ == "__main__":
    unittest.main()
