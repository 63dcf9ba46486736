"""Threads that sleep, allocate and draw random numbers. Which calls took the
memory, and what happened in them?

    pymemrun --force --min-drss 0 -o run.pb threads.py
    pymemreport peaks run.pb
    pymemreport calls --peak 1 run.pb
"""
import random
import threading
import time

THREADS = 6
ROUNDS = 3
MIB = 1 << 20


class Worker(threading.Thread):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.kept = []

    def do_stuff(self):
        time.sleep(0.02 * random.randint(1, 3))
        size = self.number * MIB
        self.kept.append(b"x" * size)
        return [random.randint(0, 100) for _ in range(20)]

    def run(self):
        for _ in range(ROUNDS):
            self.do_stuff()


def main():
    workers = [Worker(number) for number in range(1, THREADS + 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(sum(len(worker.kept) for worker in workers))


if __name__ == "__main__":
    main()
