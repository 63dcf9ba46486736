"""Four threads that compute, a different amount each. What each one took and waited is
written to $WORK_TRUTH: a thread that only computes has the GIL while it has a CPU, and
waits for it else (on a machine with a free CPU)."""
import json
import os
import threading
import time

N = int(os.environ.get("WORK_N", "1_000_000"))
found = []


def work(n):
    wall, cpu = time.monotonic(), time.thread_time()
    total = 0
    for i in range(n):
        total += i
    cpu = time.thread_time() - cpu
    found.append({"name": threading.current_thread().name, "ident": threading.get_ident(),
                  "span": time.monotonic() - wall, "held": cpu})


threads = [threading.Thread(target=work, args=(N * k,), name=f"worker{k}")
           for k in (1, 2, 3, 4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if "WORK_TRUTH" in os.environ:
    with open(os.environ["WORK_TRUTH"], "w", encoding="ascii") as file:
        json.dump(found, file)
