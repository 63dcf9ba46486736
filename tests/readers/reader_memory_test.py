"""What the readers take does not grow with the run file: below 64 MiB, and the
same for a hundred times the rows, in every form and by every way in."""
import os
import shutil
import subprocess
import tempfile
import unittest

from support import PYMEMCAT, PYMEMREPORT

GENERATE = os.path.join(os.path.dirname(PYMEMCAT), "pymemrun-generate")
FEW, MANY = 50_000, 5_000_000
MAX_BYTES = 64 << 20
# Between two readings of one file: what the allocator happens to keep.
SLACK_BYTES = 4 << 20


def generate(path, rows):
    with open(path, "wb") as file:
        subprocess.run([GENERATE, str(rows)], stdout=file, check=True)
    return path


class ReaderMemoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="memory_")
        cls.few = generate(os.path.join(cls.folder, "few.pb"), FEW)
        cls.many = generate(os.path.join(cls.folder, "many.pb"), MANY)
        # Without its end: cut inside the index.
        cls.cut = os.path.join(cls.folder, "cut.pb")
        with open(cls.many, "rb") as whole, open(cls.cut, "wb") as cut:
            cut.write(whole.read()[:-5])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def peak(self, *command, stdin=subprocess.DEVNULL):
        """The most resident memory of the command, which must succeed; not
        less than this process has, for the kernel counts from the fork on."""
        process = subprocess.Popen(command, stdin=stdin,
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, command)
        peak = usage.ru_maxrss << 10
        self.assertLess(peak, MAX_BYTES, command)
        return peak

    def test_every_form(self):
        for reader in ([PYMEMCAT, "--text"], [PYMEMCAT, "--csv"],
                       [PYMEMCAT, "--jsonl"], [PYMEMCAT, "--raw"],
                       [PYMEMCAT, "--summary"], [PYMEMREPORT, "top"],
                       [PYMEMREPORT, "summary"]):
            with self.subTest(reader[1:]):
                self.assertLess(self.peak(*reader, self.many),
                                self.peak(*reader, self.few) + SLACK_BYTES)

    def test_every_way_in(self):
        few = self.peak(PYMEMCAT, "--csv", self.few)
        # With the index, without one, and where nothing can be sought.
        for arguments in ([self.many, "--from", "0.5"], [self.cut, "--from", "0.5"],
                          [self.cut, "--to", "0.1"], [self.many, "--follow"],
                          [self.many, "--every", "7", "--function", "*a*"]):
            with self.subTest(arguments):
                self.assertLess(self.peak(PYMEMCAT, "--csv", *arguments),
                                few + SLACK_BYTES)
        with open(self.many, "rb") as file:
            self.assertLess(self.peak(PYMEMCAT, "--csv", "-", stdin=file),
                            few + SLACK_BYTES)

    def test_merged(self):
        # Each file has buffers of its own, whatever its size.
        few = self.peak(PYMEMCAT, "--csv", *[self.few] * 8)
        self.assertLess(self.peak(PYMEMCAT, "--csv", self.many, self.cut,
                                  *[self.few] * 6), few + SLACK_BYTES)


class SpreadsheetTest(unittest.TestCase):
    def test_as_many_rows_as_a_sheet_has(self):
        with tempfile.TemporaryDirectory() as folder:
            path = generate(os.path.join(folder, "run.pb"), 2_500_000)
            run = [PYMEMCAT, path, "--csv", "--columns", "event"]
            all_rows = subprocess.run(run, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True)
            self.assertRegex(all_rows.stderr, r"\A[^\n]* 1048576 [^\n]*\n\Z")
            step = all_rows.stderr.split("--every ")[1].split()[0]
            found = subprocess.run([*run, "--every", step], check=True,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
            self.assertEqual(found.stderr, b"")
            lines = found.stdout.count(b"\n")
            self.assertLessEqual(lines, 1048576)
            self.assertGreater(lines, 1048576 // 2)


if __name__ == "__main__":
    unittest.main()
