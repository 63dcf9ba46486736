#!/usr/bin/env python3
"""Programs in places with less than usual: without /proc, in little address
space, in a container whose memory is used up. They run, and a line says what is
not recorded."""
import os
import resource
import subprocess
import unittest

import support
from fault_support import can_unshare

NO_PROC = 'mount -t tmpfs none /proc && exec "$@"'
# Makes a control group that has 2 MiB left for the program.
ENTERS_GROUP = """
import os, pymemrun, sys
group, limit, used = sys.argv[1:]
kept = [[str(i)] for i in range(200000)]
def tell(name, text):
    with open(os.path.join(group, name), "w") as file:
        file.write(str(text))
tell("cgroup.procs", os.getpid())
with open(os.path.join(group, used)) as file:
    now = int(file.read())
tell(limit, now + (2 << 20))
dumped = pymemrun.dump_objects(wait=True)
for item in kept: item[0]
tell(limit, now + (1 << 30))
print(dumped, os.listdir("."))
sys.exit(7)
"""


def new_group():
    """A folder for a control group, and the names of its limit and of what is
    used; None where none can be made."""
    for root, limit, used in (
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
            ("/sys/fs/cgroup", "memory.max", "memory.current")):
        group = os.path.join(root, f"pymemrun_test_{os.getpid()}")
        try:
            os.mkdir(group)
        except OSError:
            continue
        if os.path.exists(os.path.join(group, limit)):
            return group, limit, used
        os.rmdir(group)
    return None


class NarrowPlacesTest(support.ProgramTest):
    @unittest.skipUnless(can_unshare("--mount"), "may not make a mount")
    def test_without_proc_the_program_runs(self):
        script = self.write("plain.py", "import sys; print('ran'); sys.exit(3)")
        for delivery in ("embed", "preload"):
            run = subprocess.run(
                ["unshare", "--mount", "sh", "-c", NO_PROC, "sh", support.PYMEMRUN,
                 "--delivery", delivery, "--python", support.PYTHON, "--force", script],
                cwd=self.folder, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, timeout=support.PATIENCE_S)
            with self.subTest(delivery):
                self.assertEqual((run.returncode, run.stdout), (3, "ran\n"))
                self.assertEqual(run.stderr, "pymemrun: /proc is not mounted; "
                                             "the program runs untraced\n")

    def runs_untraced_where_plain_python_runs(self, which, sizes, why):
        script = self.write("little.py", "print('ran')")
        tried = 0
        for kilobytes in sizes:
            def limit():
                resource.setrlimit(which, (kilobytes << 10,) * 2)
            plain = subprocess.run([support.PYTHON, script], preexec_fn=limit, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if plain.returncode != 0:
                continue
            tried += 1
            run = self.pymemrun("--delivery", ("embed", "preload")[tried % 2], script,
                                preexec=limit)
            self.assertEqual((run.stdout, run.stderr),
                             ("ran\n", f"pymemrun: {why}; the program runs untraced\n"))
        if tried == 0:
            self.skipTest("no plain interpreter runs in so little")

    def test_where_a_plain_interpreter_has_room_the_program_runs(self):
        self.runs_untraced_where_plain_python_runs(
            resource.RLIMIT_AS, range(12500, 17000, 500),
            "too little address space is allowed (ulimit -v)")

    def test_where_a_plain_interpreter_has_data_enough_the_program_runs(self):
        self.runs_untraced_where_plain_python_runs(
            resource.RLIMIT_DATA, range(6000, 13000, 1000),
            "too little memory is allowed (ulimit -d)")

    def test_a_limit_on_open_files_is_named(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))
        script = self.write("little.py", "print('ran')")
        run = self.pymemrun(script, preexec=limit)
        self.assertEqual(run.stdout, "ran\n")
        self.assertIn("Too many open files (ulimit -n); the program runs untraced",
                      run.stderr)

    def test_what_little_address_space_leaves_out_is_said(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (60000 << 10,) * 2)
        left_out = "pages and allocations: ulimit -v leaves less than 64 MiB"
        script = self.write("little.py", "print('ran')")
        run = self.pymemrun(script, preexec=limit, env=support.USUAL)
        self.assertEqual(run.stdout, "ran\n")
        self.assertIn(f"pymemrun: not recorded: {left_out}\n", run.stderr)
        self.assertEqual(run.header.not_recorded, left_out)

    def test_an_untraced_run_does_not_leave_an_earlier_file_in_its_place(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 10,) * 2)
        script = self.write("small.py", "print('ran')")
        for options in ["-o", "x.pb", "--force"], []:
            name = options[1] if options else "run.pb"
            for preexec in None, limit:
                run = subprocess.run(
                    [support.PYMEMRUN, "-q", *options, script], cwd=self.folder,
                    preexec_fn=preexec, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, timeout=support.PATIENCE_S)
                self.assertEqual((run.returncode, run.stdout), (0, "ran\n"))
                self.assertEqual(os.path.exists(os.path.join(self.folder, name)),
                                 preexec is None)
            self.assertEqual(run.stderr,
                             "pymemrun: cannot create shared memory: File too large (ulimit -f); "
                             "the program runs untraced\n")

    def test_a_container_without_room_for_a_copy_gets_no_dump(self):
        group = new_group()
        if group is None:
            self.skipTest("no control group can be made")
        self.addCleanup(os.rmdir, group[0])
        run = self.run_script(ENTERS_GROUP, arguments=group, status=7)
        self.assertTrue(run.stdout.startswith("None ["), run.stdout)
        self.assertNotIn(".obj", run.stdout)
        self.assertRegex(run.stderr,
                         r"\Apymemrun: dump_objects\(\): not started: the container has "
                         r"[012]\.\d MiB left, and a copy of the process needs [4-9]\.\d MiB\n\Z")
        fact, = run.records("objects_dumped")
        self.assertIn(b"not started", fact.problem)


if __name__ == "__main__":
    unittest.main()
