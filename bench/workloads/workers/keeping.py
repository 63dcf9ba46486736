"""What the workers of each program do: tasks of a few milliseconds. The worker
that makes the file first keeps what each of its tasks makes; others drop it."""
import os
import time

kept = []
_keeps = None


def keeps():
    """Whether this process is the one that leaks."""
    global _keeps
    if _keeps is None:
        try:
            os.close(os.open(os.environ["WORK_LEAKER"],
                             os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            _keeps = True
        except FileExistsError:
            _keeps = False
    return _keeps


def task(n):
    time.sleep(.003)
    if keeps():
        kept.append(b"x" * (100_000 + n))  # the leak
        return os.getpid()
    return len(b"x" * (100_000 + n)) * 0
