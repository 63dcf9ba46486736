"""The module pymemrun_reader: what its rows know of calls and threads, and several
files at once."""
import os
import sys
import unittest

import support

sys.path.insert(0, os.environ.get("PYMEMRUN_READER_PATH", "."))
import pymemrun_reader  # noqa: E402  where the line above says

SCRIPT = """
import threading
kept = []
def load(size):
    kept.append(bytearray(size))
def work():
    load(3 << 20)
load(1 << 20)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


class ReaderRowsTest(support.ProgramTest):
    def test_what_calls_and_threads_did_is_pymemcats(self):
        names = ("call_event", "call_s", "call_drss_bytes",
                 "call_thread_drss_bytes", "thread_drss_bytes")
        for pages in False, True:
            run = self.run_script(
                SCRIPT, "--min-call-drss", "100K", "--trace",
                "calls,pages" if pages else "calls")
            expected = run.rows("--records", "calls")
            with pymemrun_reader.open(run.path) as opened:
                rows = [row._asdict() for row in opened.events("calls")]
            self.assertTrue(any(row["call_event"] for row in rows))
            has_faults = pages and not run.header.page_scan
            for row, printed in zip(rows, expected):
                for name in names:
                    found = row[name]
                    self.assertEqual("" if found is None else
                                     f"{found:.6f}" if name == "call_s" else
                                     str(found), printed[name])
                self.assertEqual(row["thread_drss_bytes"] is None, not has_faults)

    def test_a_folder_stands_for_its_files(self):
        paths = [self.run_script("pass").path for _ in range(2)]
        folder = os.path.join(self.folder, "several")
        os.mkdir(folder)
        for name, path in zip(("b.pb", "a.pb"), paths):
            os.link(path, os.path.join(folder, name))
        expected = [run.pid for run in map(pymemrun_reader.open, paths)]
        for named in [folder], paths[::-1]:
            found = pymemrun_reader.open_all(*named)
            self.assertEqual([run.pid for run in found], expected)
        with self.assertRaises(OSError):
            pymemrun_reader.open_all(folder, "none.pb")


if __name__ == "__main__":
    unittest.main()
