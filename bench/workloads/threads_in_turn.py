"""Threads that make calls in turn: one makes a burst of them, then hands on to the
next.  env WORK_THREADS: how many, WORK_CALLS: all calls of all of them together,
WORK_BURST: calls before handing on."""
import os
import threading

N = int(os.environ.get("WORK_THREADS", "8"))
CALLS = int(os.environ.get("WORK_CALLS", "2000000"))
BURST = int(os.environ.get("WORK_BURST", "1000"))

turns = [threading.Lock() for _ in range(N)]
done = [0] * N


def step(text):
    return len(text)


def worker(k):
    mine, following = turns[k], turns[(k + 1) % N]
    bursts = range(k, CALLS // BURST, N)
    for _ in bursts:
        mine.acquire()
        for _ in range(BURST):
            done[k] += step("calls")
        following.release()


def main():
    for lock in turns:
        lock.acquire()
    threads = [threading.Thread(target=worker, args=(k,)) for k in range(N)]
    for thread in threads:
        thread.start()
    turns[0].release()
    for thread in threads:
        thread.join()
    print("t:", sum(done))


if __name__ == "__main__":
    main()
