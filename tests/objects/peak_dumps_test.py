#!/usr/bin/env python3
"""Of the dumps at peaks the highest one is there, however the program ended."""
import glob
import os
import unittest

import object_dump
import support
from waiting import wait_until


class PeakDumpsTest(support.ProgramTest):
    def test_of_a_killed_program_the_highest_peak_alone_is_there(self):
        """Also of one whose dump is not yet complete then."""
        run = self.run_script("""
import os, sys, time
def dumps(): return {each.inode() for each in os.scandir() if each.name.startswith(sys.argv[1])}
while not dumps(): time.sleep(0.01)
first = dumps()
many = [bytes(1000) for _ in range(100_000)]
while dumps() <= first: time.sleep(0.001)
os.kill(os.getpid(), 9)
""", "--trace", "none", "--heap", "off", "--objects", "peak",
                              status=-9, arguments=[f"run{self._runs + 1}.obj"])
        last = run.path[:-3] + ".obj-1.pb"
        self.assertTrue(wait_until(lambda: not os.path.exists(last)))
        dump = object_dump.Dump(run.path[:-3] + ".obj.pb")
        self.assertEqual(dump.end.outcome, dump.end.COMPLETE)
        self.assertGreater(dump.begin.rss_bytes, 100 << 20)
        self.assertEqual(len(glob.glob(run.path[:-3] + ".obj*")), 1)


if __name__ == "__main__":
    unittest.main()
