"""For tests that compare times of a few microseconds."""
import contextlib
import os
import subprocess
import sys


@contextlib.contextmanager
def awake_processors():
    """Keeps every processor from halting, by work of the lowest priority. To wake
    one takes a hypervisor its time, and the kernel charges that to whoever runs
    there next."""
    spin = ("import os\n"
            "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
            "while True: pass")
    spinners = [subprocess.Popen([sys.executable, "-c", spin])
                for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
