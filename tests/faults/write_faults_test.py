"""The run file cannot be written, or only slowly: the program goes on unharmed,
and what the file lacks is counted and said once."""
import os
import re
import resource
import subprocess
import time
import unittest

from fault_support import (MANY, PYMEMCAT, FaultTest, Program, RunFile,
                           can_unshare, is_root, run,
                           wait_for_collector_to_end, wait_until)


class WriteFaultsTest(FaultTest):
    def said_once(self, stderr):
        """Nothing but the end report, or one line in its stead."""
        reports = len(re.findall(rb"\.pb: [\d,]+ events, |: Peak ", stderr))
        if reports == 0:
            self.assertEqual(stderr.count(b"\n"), 1, stderr)
        else:
            self.assertEqual(reports, 1, stderr)
            self.assertTrue(all(line.startswith(b"pymemrun: ")
                                for line in stderr.splitlines()), stderr)
            self.assertLessEqual(stderr.count(b"lost because"), 1, stderr)

    def loss_is_counted(self, path, rows_at_least=1):
        wait_for_collector_to_end(path)
        file = RunFile(path)
        self.assertEqual((file.headers, file.unordered), (1, 0))
        self.assertGreaterEqual(file.rows, rows_at_least)
        self.assertEqual(file.rows, file.next_number)  # a whole beginning
        if file.footer is not None:
            self.assertEqual(file.footer.rows, file.rows)
            self.assertEqual(file.footer.context_rows, file.context_rows)
            self.assertEqual(file.footer.dropped, 0)
            self.assertGreater(file.footer.lost_on_write, 0)
            self.assertEqual(file.rows + file.footer.lost_on_write,
                             file.footer.events)
        return file

    # Rows that do not compress well, so that a little room is soon used up.
    NOISY = """
import random, time
def f(n):
    if n > 0: return f(n - 1)
    return len([])
chance = random.Random(1)
time.sleep(0.4)  # so far a small frame
for i in range(60000): f(chance.randrange(12)); chance.random()
print("done")
"""

    @is_root
    @unittest.skipUnless(can_unshare("--mount"), "may not make a mount")
    def test_disk_full(self):
        script = self.script(self.NOISY)
        mounted = self.path("small")
        os.mkdir(mounted)
        copy = self.path("copy.pb")
        for room, more in (("16k", []), ("64k", []),
                           ("64k", ["--compress", "none"])):
            command = self.command([script], more, mounted + "/run.pb")
            found = run(["unshare", "--mount", "bash", "-c",
                         'mount -t tmpfs -o size=%s none "$1" && "${@:2}";'
                         ' status=$?; cp "$1/run.pb" "$0"; exit $status' % room,
                         copy, mounted, *command])
            with self.subTest(room):
                self.assertEqual(found[:2], (0, b"done\n"), found.stderr)
                self.said_once(found.stderr)
                self.assertRegex(found.stderr, rb"lost|No space")
                file = self.loss_is_counted(copy)
                self.assertIsNotNone(file.footer)
                # Also what the footer names must be in the file.
                read = run([PYMEMCAT, copy, "--csv"])
                self.assertEqual((read.returncode, read.stderr), (0, b""))

    def test_file_size_limit(self):
        # A soft limit is the program's: its collector has the hard one.
        script = self.script(self.NOISY)
        for soft, hard in ((8192, resource.RLIM_INFINITY), (0, 1 << 23),
                           (1 << 21, 1 << 21), (8192, 8192), (0, 0)):
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            with self.subTest(soft=soft, hard=hard):
                expected = self.plain([script], preexec_fn=limit)
                found = run(self.command([script]), cwd=self.folder,
                            preexec_fn=limit)
                self.assertEqual(found[:2], expected[:2])
                self.said_once(found.stderr)
                if hard not in (0, 8192):
                    wait_for_collector_to_end(self.output)
                    self.assert_whole(self.run_file())
                else:
                    self.assertRegex(found.stderr, b"untraced|lost")

    def test_a_file_at_its_size_limit_is_cut(self):
        # Room for small rings, and for a part of the run.
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1200000, 1200000))
        found = run(self.command([self.script(self.NOISY)], ["--compress", "none"]),
                    cwd=self.folder, preexec_fn=limit)
        self.assertEqual(found[:2], (0, b"done\n"), found.stderr)
        self.said_once(found.stderr)
        self.assertIn(b"lost because", found.stderr)
        self.loss_is_counted(self.output)
        self.assertLessEqual(os.path.getsize(self.output), 1200000)

    def test_the_programs_own_file_size_limit_stays(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 1 << 30))
        self.same([self.script("""
import resource, signal
print(resource.getrlimit(resource.RLIMIT_FSIZE))
print(signal.getsignal(signal.SIGXFSZ))
try: open("big", "wb", 0).write(bytes(9000)), open("big", "ab", 0).write(b"x")
except OSError as error: print(error)
""")], preexec_fn=limit)

    def attached(self, program, fault):
        """strace, which from here on puts a fault into the collector's
        writes."""
        # The header is there: only what follows it is to fail.
        if not wait_until(lambda: os.path.getsize(program.path) > 0, 10):
            self.fail("no header in the run file")
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e",
             "trace=write,pwrite64", "-e", "inject=write,pwrite64:" + fault,
             "-p", str(program.collector)], stderr=subprocess.PIPE)
        def traced():
            with open(f"/proc/{program.collector}/status") as status:
                return "TracerPid:\t0\n" not in status.read()
        if not wait_until(lambda: traced() or tracer.poll() is not None, 10):
            self.fail("strace does not attach")
        if tracer.poll() is not None:
            self.skipTest("strace: " + tracer.stderr.read().decode())
        return tracer

    def injected(self, fault, calls=50000, own=()):
        """Runs CALLS with a fault in the collector's writes; `seconds` is what
        the calls took."""
        program = Program(self, own, calls)
        tracer = self.attached(program, fault)
        program.go()
        self.seconds = program.seconds()
        time.sleep(0.5)
        result = program.finish()
        self.collector_peak = self.peak(program.collector)
        tracer.communicate()
        wait_for_collector_to_end(program.path)
        return program, result

    def failing(self, writes, error):
        """The outcome of a run of whose writes to the file those of a range
        fail, from the first on."""
        output = self.new_run()
        found = run(["strace", "-f", "-qq", "-o", "/dev/null", "-P", output,
                     "-e", "trace=write", "-e",
                     f"inject=write:error={error}:when={writes}",
                     *self.command([self.script(self.NOISY)], ["--quiet"],
                                   output=output)],
                    cwd=self.folder)
        if b"strace" in found.stderr:
            self.skipTest(found.stderr.decode())
        self.assertEqual(found.returncode, 0, found.stderr)
        wait_for_collector_to_end(output)
        return found

    def test_a_first_write_that_fails_loses_nothing(self):
        for writes, error in (("1", "EIO"), ("1..8", "ENOSPC")):
            with self.subTest(writes=writes):
                found = self.failing(writes, error)
                self.assertEqual(found[1:3], (b"done\n", b""))
                self.assert_whole(self.run_file())

    def test_what_a_full_disk_cost_is_said_when_room_comes_back(self):
        # More than waits in memory.
        program = Program(self, ["--compress", "none"], 6 * MANY)
        tracer = self.attached(program, "error=ENOSPC")
        header = os.path.getsize(program.path)
        program.go()
        program.seconds()
        tracer.terminate()  # it lets the collector go
        tracer.communicate()
        self.assertTrue(wait_until(
            lambda: os.path.getsize(program.path) > header + (8 << 20), 20))
        self.assertEqual(program.finish()[:2], (0, ""))
        wait_for_collector_to_end(program.path)
        file = RunFile(program.path)
        self.assertEqual(file.messages, "")
        self.assertEqual((file.headers, file.footers, file.unordered),
                         (1, 1, 0))
        self.assertGreater(file.footer.lost_on_write, 0)
        self.assertEqual(file.lost, file.footer.lost_on_write)
        self.assertEqual(file.rows + file.lost, file.footer.events)
        self.assertEqual(file.next_number, file.footer.events)
        # The names of what came before and after are all there.
        self.assertGreater(file.rows_named("f"), 0)
        self.assertEqual(file.rows_named("?"), 0)

    def test_a_file_whose_name_goes_while_it_is_written(self):
        for change, name, said in (
                ("os.rename(output, output + '.new')", "OUTPUT_MOVED",
                 "renamed or moved while it was written"),
                ("os.link(output, output + '.new'), os.unlink(output)",
                 "OUTPUT_MOVED", "renamed or moved while it was written"),
                ("os.unlink(output)", None, "was deleted while it was")):
            with self.subTest(change):
                output = self.new_run()
                script = self.script(
                    f"import os\noutput = {output!r}\n{change}\n")
                found = run(self.command([script], output=output))
                text = re.sub(r"\npymemrun: *", " ", found.stderr.decode())
                self.assertEqual(found.returncode, 0, text)
                self.assertIn(said, text)
                wait_for_collector_to_end(output)
                if name is None:
                    self.assertFalse(os.path.exists(output))
                    continue
                file = RunFile(output + ".new")
                self.assert_whole(file)
                self.assertEqual(
                    file.footer.OutputName.Name(file.footer.output_name), name)
                shown = run([PYMEMCAT, "--summary", output + ".new"])
                self.assertIn(said, re.sub(r"\npymemrun: *", " ",
                                           shown.stdout.decode()))

    def test_a_file_that_keeps_its_name_is_not_spoken_of(self):
        found = run(self.command([self.script("print(1)")]))
        self.assertNotIn(b"while it was written", found.stderr)

    def test_input_output_error(self):
        for error in ("EIO", "ENOSPC", "EDQUOT"):
            with self.subTest(error):
                program, result = self.injected("error=" + error)
                self.assertEqual(result[0], 0)
                self.loss_is_counted(program.path, 0)

    def test_short_and_interrupted_writes_lose_nothing(self):
        for fault in ("error=EINTR:when=1+2",):
            with self.subTest(fault):
                program, result = self.injected(fault)
                self.assertEqual(result[:2], (0, ""))
                self.assert_whole(RunFile(program.path))

    def peak(self, pid):
        """Highest RSS so far, in bytes; 0 when the process has ended."""
        try:
            with open(f"/proc/{pid}/status") as status:
                return 1024 * int(re.search(r"VmHWM:\s+(\d+)",
                                            status.read())[1])
        except (OSError, TypeError):
            return 0

    def test_a_slow_write_delays_nobody(self):
        # Frames wait in memory meanwhile, and the end waits for the footer.
        program, result = self.injected("delay_enter=3000000:when=1", MANY)
        self.assertEqual(result[:2], (0, ""))
        file = RunFile(program.path)
        self.assert_whole(file)
        self.assertEqual(file.footer.stalls, 0)
        self.assertLess(self.seconds, 2.5)

    def test_a_write_slower_than_patience(self):
        program, result = self.injected("delay_enter=9000000:when=1", 1000)
        # 5 s for a collector that lives, half as much for one that does not.
        self.assertGreater(result[2], 4.5)
        self.assertLess(result[2], 6)
        self.assertEqual((result[0], result[1].count("\n")), (0, 1), result[1])
        self.assertIn("is still writing " + program.path, result[1])
        self.assert_whole(RunFile(program.path))

    def test_a_slow_disk_holds_the_program_back(self):
        # More than may wait in memory: then the program waits, for no stall
        # long, and nothing is lost.
        program, result = self.injected("delay_enter=60000", 6 * MANY,
                                        ["--compress", "none"])
        self.assertEqual(result[:2], (0, ""))
        file = RunFile(program.path)
        self.assert_whole(file)
        self.assertGreater(os.path.getsize(program.path), 16 << 20)
        self.assertLess(self.collector_peak, 48 << 20)

    @is_root
    @unittest.skipUnless(can_unshare("--mount"), "may not make a mount")
    def test_full_before_the_first_byte(self):
        script = self.script("print(1)")
        mounted = self.path("none")
        os.mkdir(mounted)
        command = self.command([script], output=mounted + "/run.pb")
        found = run(["unshare", "--mount", "bash", "-c",
                     'mount -t tmpfs -o size=4k none "$0" &&'
                     ' head -c 4096 /dev/zero > "$0/fill"; "$@"',
                     mounted, *command])
        self.assertEqual(found[:2], (0, b"1\n"))
        self.said_once(found.stderr)
        said = found.stderr.replace(b"\npymemrun:  ", b"")
        self.assertRegex(said, rb"(?m)^pymemrun: \S+/none/run\.pb: could not be written in "
                               rb"full: No space left on device\.$")


if __name__ == "__main__":
    unittest.main()
