import sys
import _thread
try:
    RECORDER
except NameError:
    RECORDER = None
def first(n):
    return [abs(x) for x in range(n)]
def second(n):
    return sorted(range(n), key=lambda x: -x)
def body(work):
    for n in range(50):
        work(n)
def thread_main(work, done):
    if RECORDER:
        sys.setprofile(RECORDER)
    body(work)
    done.release()
locks = []
for work in (first, second):
    lock = _thread.allocate_lock()
    lock.acquire()
    locks.append(lock)
    _thread.start_new_thread(thread_main, (work, lock))
for lock in locks:
    lock.acquire()
