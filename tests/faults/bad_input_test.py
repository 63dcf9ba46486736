"""Bad input of every kind: one clear line, the right exit code, nothing
started."""
import os
import re
import shutil
import subprocess
import unittest

import fault_support
from fault_support import (FaultTest, PYMEMCAT, PYMEMREPORT, PYMEMRUN,
                           can_be_nobody, run)
from waiting import PATIENCE_S

CALLS = """
def f(): return len([])
for i in range(20000): f()
"""


class LauncherTest(FaultTest):
    """`pymemrun` refuses with 2 before anything runs."""

    STARTED = "open('started', 'w')\n"

    def refused(self, *arguments, says="", env=None, **kwargs):
        if env is not None:
            env = {**os.environ, **env}
        result = run([PYMEMRUN, *arguments], cwd=self.folder, env=env,
                     **kwargs)
        text = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (2, b""), text)
        self.assertRegex(text, r"\Apymemrun: [^\n]+\n\Z")
        if says:
            self.assertRegex(text, says)
        self.assertFalse(os.path.exists(self.path("started")))
        return text

    def setUp(self):
        super().setUp()
        self.script(self.STARTED)

    def run_files(self):
        return [name for name in os.listdir(self.folder)
                if name.endswith(".pb")]

    def as_python(self, *arguments, **kwargs):
        """Refused by the interpreter, in its own words; no run file."""
        expected = self.plain(arguments, **kwargs)
        found = run([PYMEMRUN, *arguments], cwd=self.folder, **kwargs)
        self.assert_same(expected, found)
        self.assertNotEqual(found.returncode, 0)
        self.assertEqual(self.run_files(), [])

    def test_scripts_that_are_none(self):
        os.mkdir(self.path("empty"))
        self.as_python("missing.py")
        self.as_python("empty")
        self.as_python("missing/deep.py")

    @can_be_nobody
    def test_unreadable_script(self):
        os.chmod(self.path("s.py"), 0)
        self.as_python("s.py", ordinary=True)

    def test_unknown_options(self):
        for option, nearest in (("--outptu", "--output"), ("--min-drs", "--min-drss"),
                                ("--follw", "--follow"), ("--quite", "--quiet"),
                                ("--stack", "--stacks")):
            self.refused(option, "s.py", says=f"{option}.*{nearest}")
        self.refused("--zzzzzzzzzzzzzz", "s.py", says="--zzzzzzzzzzzzzz")
        self.refused("--bad\x1b[31m", "s.py", says=r"\\x1b")
        self.assertEqual(self.run_files(), [])

    def test_values_that_are_none(self):
        for option, value in (("--min-drss", "lots"), ("--min-drss", "-1"),
                              ("--min-drss", ""), ("--min-drss", "99999999999999999999"),
                              ("--min-drss", "4096x"), ("--context", "-1"),
                              ("--context", "many"), ("--rss-source", "guess"),
                              ("--events", "calls"), ("--on-full", "explode"),
                              ("--trace", "everything"), ("--compress", "fast"),
                              ("--drss-since", "today")):
            with self.subTest(option=option, value=value):
                self.refused(option, value, "s.py", says=option)
        self.refused("--output", says="--output")
        self.assertEqual(self.run_files(), [])

    def test_output_exists(self):
        for make in (lambda path: open(path, "w").close(), os.mkdir,
                     os.mkfifo, lambda path: os.symlink("nowhere", path),
                     lambda path: os.symlink("s.py", path)):
            path = self.new_run()
            make(path)
            self.refused("-o", path, "s.py", says=os.path.basename(path))
        with open(self.path("s.py")) as file:
            self.assertEqual(file.read(), self.STARTED)

    def test_force_takes_the_place_of_a_run_only(self):
        precious = self.new_run()
        with open(precious, "w") as file:
            file.write("precious\n")
        self.refused("--force", "-o", precious, "s.py", says="not a run file")
        with open(precious) as file:
            self.assertEqual(file.read(), "precious\n")
        path = self.new_run()
        os.symlink("s.py", path)
        self.refused("--force", "-o", path, "s.py")
        with open(self.path("s.py")) as file:
            self.assertEqual(file.read(), self.STARTED)

    def test_output_cannot_be_made(self):
        self.refused("-o", "no/such/folder/run.pb", "s.py", says="No such file")
        self.refused("-o", "s.py/run.pb", "s.py", says="Not a directory")
        self.refused("-o", "x" * 300, "s.py", says="too long")
        self.refused("-o", "/proc/run.pb", "s.py", says="/proc/run.pb")
        self.refused("-o", "/dev/full/x\x1b]0;title\x07", "s.py",
                     says=r"\\x1b\]0;title\\x07")

    @can_be_nobody
    def test_output_in_a_folder_of_somebody_else(self):
        os.mkdir(self.path("closed"), 0o700)
        self.refused("-o", "closed/run.pb", "s.py", says="ermission denied",
                     ordinary=True)

    def test_virtual_environment_of_another_python(self):
        venv = self.path("venv")
        os.makedirs(venv + "/bin")
        shutil.copy("/bin/true", venv + "/bin/python")
        with open(venv + "/pyvenv.cfg", "w") as config:
            config.write("home = /usr/bin\nversion = 3.7.9\n")
        ours = re.search(r"CPython (\d+\.\d+)",
                         run([PYMEMRUN, "--version"]).stdout.decode())[1]
        for arguments, env in ((["--python", venv + "/bin/python"], None),
                               (["--python", venv], None),
                               ([], {"VIRTUAL_ENV": venv})):
            self.refused("--delivery", "embed", *arguments, "s.py", env=env,
                         says=r"3\.7.*\b" + re.escape(ours))
        self.refused("--python", "/nowhere/python", "s.py", says="/nowhere")
        self.refused("--python", "/bin/true", "s.py", says="not a Python")
        self.assertEqual(self.run_files(), [])


class ReaderTest(FaultTest):
    READERS = ([PYMEMCAT], [PYMEMCAT, "--csv"], [PYMEMCAT, "--jsonl"],
               [PYMEMCAT, "--raw"], [PYMEMCAT, "--summary"],
               [PYMEMREPORT, "summary"], [PYMEMREPORT, "top"])

    def setUp(self):
        super().setUp()
        self.traced([self.script(CALLS)])
        with open(self.output, "rb") as file:
            self.whole = file.read()

    def bad(self, data):
        path = self.path("bad.pb")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def read(self, path, status, says, lines=1):
        """All readers: that exit status, so many lines, no crash."""
        for reader in self.READERS:
            with self.subTest(reader=reader[0].split("/")[-1:] + reader[1:]):
                found = run([*reader, path])
                text = found.stderr.decode()
                self.assertEqual(found.returncode, status, text)
                if status or says:
                    self.assertRegex(
                        text, r"\Apymem\w+: [^\n]*%s[^\n]*\n" % says)
                self.assertLessEqual(text.count("\n"), lines, text)
                self.assertNotRegex(text, "Aborted|terminate|Sanitizer")

    def test_files_that_are_not_there(self):
        self.read(self.path("missing.pb"), 1, "No such file")
        # A folder stands for the run files in it.
        empty = self.path("empty")
        os.mkdir(empty)
        self.read(empty, 1, "folder")

    def test_no_run_file(self):
        for data in (b"hello, this is some text\n" * 100, bytes(5000),
                     b"\x7fELF" + bytes(100), os.urandom(3000),
                     b"\x28\xb5\x2f\xfd" + os.urandom(100)):
            self.read(self.bad(data), 1, "", lines=2)

    def test_other_zstd_data(self):
        found = subprocess.run(["zstd", "-c"], input=b"some text\n" * 100,
                               stdout=subprocess.PIPE)
        self.read(self.bad(found.stdout), 1, "", lines=2)

    def test_empty(self):
        self.read(self.bad(b""), 1, "found an empty file")

    def test_truncated(self):
        last_frame = self.whole.rindex(b"\x28\xb5\x2f\xfd")
        for size in (len(self.whole) - 1, len(self.whole) - 30,
                     len(self.whole) // 2, last_frame):
            found = run([PYMEMCAT, self.bad(self.whole[:size]), "--csv"])
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertRegex(found.stderr.decode(),
                             r"\Apymemcat: [^\n]+byte \d+[^\n]+\n\Z")

    def test_following_a_dead_run_ends(self):
        path = self.bad(self.whole[:len(self.whole) // 2])
        readers = [subprocess.Popen([PYMEMCAT, "--follow", form, path],
                                    stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE)
                   for form in ("--csv", "--raw", "--summary")]
        for reader in readers:
            text = reader.communicate(timeout=PATIENCE_S)[1].decode()
            self.assertEqual(reader.returncode, 0, text)
            self.assertRegex(text, r"\Apymemcat: [^\n]+inside a frame[^\n]+\n\Z")

    def test_flipped_bytes(self):
        readers = (self.READERS[1], self.READERS[5])
        whole = [run([*reader, self.bad(self.whole)]).stdout
                 for reader in readers]
        for at in range(5, len(self.whole), max(1, len(self.whole) // 30)):
            data = bytearray(self.whole)
            data[at] ^= 0x10
            path = self.bad(bytes(data))
            for reader, undamaged in zip(readers, whole):
                found = run([*reader, path])
                text = found.stderr.decode()
                with self.subTest(at=at, reader=reader[1]):
                    self.assertIn(found.returncode, (0, 1), text)
                    # A bit that zstd does not use changes nothing.
                    if text or found.stdout != undamaged:
                        self.assertRegex(text, r"\A(pymem\w+: [^\n]+\n)+\Z")

    def test_newer_version(self):
        # The header says so: made anew by the format's description.
        module = fault_support.trace_pb2()
        raw = run([PYMEMCAT, self.output, "--raw"]).stdout
        records = list(fault_support._records(raw))
        records[0].header.format_version += 99
        data = b""
        for record in records:
            text = record.SerializeToString()
            size = len(text)
            while size > 0x7f:
                data += bytes([size & 0x7f | 0x80])
                size >>= 7
            data += bytes([size]) + text
        self.assertTrue(module)
        packed = subprocess.run(["zstd", "-c", "--check"], input=data,
                                stdout=subprocess.PIPE).stdout
        self.read(self.bad(packed), 1, "newer|version")

    def test_reader_of_the_output_goes(self):
        for reader in self.READERS[:4]:
            process = subprocess.Popen([*reader, self.output],
                                       stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            process.stdout.read(100)
            process.stdout.close()
            stderr = process.stderr.read()
            process.stderr.close()
            self.assertIn(process.wait(), (0, -13))
            self.assertEqual(stderr, b"")
        found = run(["bash", "-c", 'set -o pipefail; "$0" "$1" --csv | head -3',
                     PYMEMCAT, self.output])
        self.assertEqual((found.returncode in (0, 141), found.stderr),
                         (True, b""))
        self.assertEqual(found.stdout.count(b"\n"), 3)

    def test_output_that_takes_nothing(self):
        for reader in (self.READERS[1], self.READERS[5]):
            with open("/dev/full", "wb") as full:
                found = subprocess.run([*reader, self.output], stdout=full,
                                       stderr=subprocess.PIPE)
            self.assertEqual(found.returncode, 1)
            self.assertRegex(found.stderr, rb"\Apymem\w+: [^\n]*space[^\n]*\n\Z")

    def test_usage(self):
        for tool, arguments, says in (
                (PYMEMCAT, ["--cvs", "x"], "--csv"), (PYMEMCAT, [], "FILE"),
                (PYMEMCAT, ["x", "--every", "0"], "--every"),
                (PYMEMCAT, ["x", "--columns", "nope"], "nope"),
                (PYMEMCAT, ["x", "--what", "nope"], "nope"),
                (PYMEMCAT, ["x", "--min-drss", "z"], "--min-drss"),
                (PYMEMREPORT, ["sumary", "x"], "summary"),
                (PYMEMREPORT, ["top", "--limt", "3", "x"], "--limit"),
                (PYMEMREPORT, ["top", "--by", "nope", "x"], "--by"),
                (PYMEMREPORT, [], "")):
            with self.subTest(arguments=arguments):
                found = run([tool, *arguments])
                text = found.stderr.decode()
                self.assertEqual((found.returncode, found.stdout), (2, b""))
                self.assertRegex(text, r"\Apymem\w+: [^\n]+\n\Z")
                self.assertIn(says, text)


if __name__ == "__main__":
    unittest.main()
