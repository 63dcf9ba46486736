"""Whom `pymemreport objects --pid` and `watch PID` take for a program's collector."""
import os
import shutil
import subprocess
import unittest

import ordinary_user
import support
from waiting import wait_until


class ForgedCollectorTest(support.ProgramTest):
    @unittest.skipIf(ordinary_user.why_not(), str(ordinary_user.why_not()))
    def test_another_users_process_is_no_collector(self):
        """Whatever it is called, and whatever it has opened."""
        of = subprocess.Popen(["sleep", "1000"])
        forged = os.path.join(self.folder, "forged.pb")
        with open(forged, "wb"):
            pass

        def pretend():
            ordinary_user.become()
            os.dup2(os.open(forged, os.O_RDONLY), 4)
            os.dup2(os.pidfd_open(of.pid), 5)
            for fd in 4, 5:  # where it had that number, it closes at exec
                os.set_inheritable(fd, True)

        os.chmod(self.folder, 0o755)
        os.chmod(forged, 0o644)
        program = shutil.copy("/bin/sleep", os.path.join(self.folder,
                                                         "pymemrun-collector"))
        fake = subprocess.Popen([program, "1000"], preexec_fn=pretend,
                                close_fds=False)
        try:
            def looks_real():
                try:
                    with open(f"/proc/{fake.pid}/comm", encoding="ascii") as comm, \
                            open(f"/proc/{fake.pid}/fdinfo/5", encoding="ascii") as info:
                        return (comm.read().startswith("pymemrun-coll") and
                                f"Pid:\t{of.pid}\n" in info.read())
                except OSError:
                    return False

            self.assertTrue(wait_until(looks_real))
            done = subprocess.run([support.PYMEMREPORT, "objects", "--pid", str(of.pid)],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, "^pymemreport: [^\n]*expected one of your processes [^\n]*, found none\n$")
        finally:
            for process in fake, of:
                process.kill()
                process.wait()


if __name__ == "__main__":
    unittest.main()
