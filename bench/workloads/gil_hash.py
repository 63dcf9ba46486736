"""One thread computes, and two are in C code that lets go of the GIL."""
import hashlib
import os
import threading

N = int(os.environ.get("WORK_N", "1_000_000"))
data = bytes(32 << 20)


def hash_it():
    for _ in range(max(1, N // 100_000)):
        hashlib.sha1(data)


threads = [threading.Thread(target=hash_it) for _ in range(2)]
for thread in threads:
    thread.start()
total = 0
for i in range(4 * N):
    total += i
for thread in threads:
    thread.join()
