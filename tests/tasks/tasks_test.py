#!/usr/bin/env python3
"""Which task of asyncio grew, and which one held the event loop: against what the
program's own clock says, and what it counts."""
import glob
import json
import os
import re
import signal
import subprocess
import unittest

import support
from waiting import PATIENCE_S, wait_until

TASKS = ("--trace", "tasks")
MS = 1_000_000
# By what the names of tasks end in.
ENDS = {"cancelled": "cancelled", "fails": "raised"}

# 200 tasks that do little, one that keeps what it allocates, and one that blocks
# the loop in a call. It prints for how long, by its own clock.
PLANTED = r'''
import asyncio, time
kept = []
told = {}
async def worker(n):
    for _ in range(5):
        await asyncio.sleep(0.001)
async def leaks():
    for _ in range(20):
        kept.append(bytearray(b"x") * 500_000)  # LEAK
        await asyncio.sleep(0)
async def blocks():
    await asyncio.sleep(0.005)
    begin = time.perf_counter_ns()
    time.sleep(0.6)  # BLOCK
    told["blocked"] = time.perf_counter_ns() - begin
    await asyncio.sleep(0)
async def main():
    tasks = [asyncio.create_task(worker(n)) for n in range(200)]
    tasks.append(asyncio.create_task(leaks(), name="leaky"))
    tasks.append(asyncio.create_task(blocks(), name="blocker"))
    await asyncio.gather(*tasks)
asyncio.run(main())
import json
print(json.dumps(told))
'''

# It computes at one line, with the GIL all the time.
COMPUTES = r'''
import asyncio, json, time
told = []
async def computes():
    await asyncio.sleep(0)  # FROM
    begin = time.perf_counter_ns()
    while time.perf_counter_ns() - begin < 100_000_000: pass
    told.append(time.perf_counter_ns() - begin)
    await asyncio.sleep(0)  # TO
async def idle():
    while not told: await asyncio.sleep(0.001)
async def main():
    await asyncio.gather(computes(), *(idle() for _ in range(41)))
asyncio.run(main())
print(json.dumps(told))
'''

# Each coroutine has as many steps as it says in its name.
COUNTED = r'''
import asyncio
async def steps_1(): pass
async def steps_4():
    for _ in range(3): await asyncio.sleep(0)
async def inner():
    await asyncio.sleep(0)
    await asyncio.sleep(0)
async def steps_5():
    await inner()
    await inner()
async def steps_2_fails():
    await asyncio.sleep(0)
    raise ValueError
async def steps_2_cancelled():
    await asyncio.sleep(3600)
async def steps_3_cleans_up():
    try: await asyncio.sleep(3600)
    except asyncio.CancelledError: await asyncio.sleep(0)
async def main():
    asyncio.current_task().set_name("first name")
    await asyncio.sleep(0)
    asyncio.current_task().set_name("last name")
    tasks = [asyncio.create_task(c(), name=c.__name__) for c in
             (steps_1, steps_4, steps_5, steps_2_fails)]
    cancelled = [asyncio.create_task(c(), name=c.__name__) for c in
                 (steps_2_cancelled, steps_3_cleans_up)]
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in cancelled: task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)
    if hasattr(asyncio, "TaskGroup"):
        async with asyncio.TaskGroup() as group:
            group.create_task(steps_4(), name="grouped")
asyncio.run(main())
asyncio.run(steps_1())
'''

# What a program can see of its tasks, of its objects, and of how often these are
# referred to. Run with and without.
SEEN = r'''
import asyncio, gc, sys, types
async def nothing(): await asyncio.sleep(0)
async def main():
    tasks = [asyncio.create_task(nothing()) for _ in range(3)]
    print(sorted(t.get_name() for t in asyncio.all_tasks()))
    coroutine = tasks[0].get_coro()
    await asyncio.sleep(0)
    print([sys.getrefcount(t) for t in tasks], sys.getrefcount(coroutine))
    print(sys.getrefcount(asyncio.current_task()))
    print(coroutine.cr_await is None, coroutine.cr_frame.f_lineno)
    await asyncio.gather(*tasks)
    try: coroutine.throw(ValueError)
    except RuntimeError as error: print(error)
for _ in range(2): asyncio.run(main())
print(sys.getrefcount(nothing), sys.getrefcount(nothing.__code__))
print(len([o for o in gc.get_objects() if isinstance(o, types.CoroutineType)]))
print(types.CoroutineType.throw, types.CoroutineType.send)
def by_hand():
    made = nothing()
    try: made.send(None)
    except RuntimeError as error: print(error)
    made.close()
by_hand()
class Own(asyncio.Task): pass
loop = asyncio.new_event_loop()
loop.set_task_factory(lambda loop, coro, **more: Own(coro, loop=loop, **more))
print(loop.run_until_complete(nothing()))
loop.close()
'''

THREADS = r'''
import asyncio, threading
async def work():
    for _ in range(3): await asyncio.sleep(0.001)
async def main(): await asyncio.gather(work(), work())
threads = [threading.Thread(target=asyncio.run, args=(main(),), name="loop-%d" % n)
           for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
'''

KILLED = r'''
import asyncio, os, time
async def waits(): await asyncio.sleep(3600)
async def stuck():
    await asyncio.sleep(0.01)
    print("now", flush=True)
    while True: pass
async def main(): await asyncio.gather(waits(), stuck())
asyncio.run(main())
'''

FORKS = r'''
import asyncio, os
async def child():
    await asyncio.sleep(0)
async def forks():
    await asyncio.sleep(0)
    pid = os.fork()
    if pid == 0:
        asyncio.events._set_running_loop(None)
        asyncio.set_event_loop(None)
        os._exit(7 if loops() is None else 8)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
def loops():
    loop = asyncio.new_event_loop()
    return loop.run_until_complete(child())
print(asyncio.run(forks()))
'''

EAGER = r'''
import asyncio, time
async def eager(): time.sleep(0.03)
async def main():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    await asyncio.create_task(eager(), name="eager")
    await asyncio.sleep(0)
asyncio.run(main())
'''


def place(text, mark):
    line = next(number for number, line in enumerate(text.splitlines(), 1)
                if line.endswith("# " + mark))
    return f"script.py:{line}"


def rows(path, *options):
    """Without the tasks by which asyncio.run() ends a loop."""
    text = subprocess.run([support.PYMEMREPORT, "tasks", path, "--json", "--limit",
                           "0", *options], check=True,
                          stdout=subprocess.PIPE).stdout
    return [row for row in json.loads(text)
            if not re.match(r"(BaseEventLoop\.)?shutdown_", str(row["coroutine"]))]


def by_name(path, *options):
    return {row["name"]: row for row in rows(path, *options)}


@unittest.skipIf(support.FREE_THREADED or support.VERSION < (3, 10),
                 "its coroutines tell nothing")
class TasksTest(support.ProgramTest):
    def traced(self, text, *options):
        return self.run_script(text, *TASKS, *options)

    def test_the_task_that_leaks_is_named(self):
        run = self.traced(PLANTED, "--heap", "all")
        table = rows(run.path, "--sort", "grown")
        self.assertEqual(table[0]["name"], "leaky")
        # Each block is new memory of 500,000 bytes.
        self.assertGreater(table[0]["grown_bytes"], 20 * 400_000)
        by_heap = rows(run.path, "--sort", "heap", "--at", "end")
        self.assertEqual(by_heap[0]["name"], "leaky")
        self.assertGreaterEqual(by_heap[0]["live_bytes"], 20 * 500_000)
        heap = json.loads(run.report("heap", "--by", "task", "--at", "end",
                                     "--json"))
        self.assertEqual(heap[0]["task"], "leaky leaks")
        self.assertIn("leaky leaks grew most", run.report("tasks"))

    def test_pages_are_of_the_task_whose_step_brought_them(self):
        run = self.run_script(PLANTED, "--trace", "pages,tasks", "--heap", "off")
        grown = {row["task"]: row["growth_bytes"]
                 for row in json.loads(run.report("top", "--by", "task", "--json"))
                 if row["share"] is not None}
        self.assertGreater(grown.pop("<no task>"), 0)  # modules are imported
        self.assertEqual(max(grown, key=grown.get), "leaky leaks")
        self.assertGreater(grown["leaky leaks"], 20 * 400_000)
        resident = json.loads(run.report("resident", "--by", "task", "--at", "end",
                                         "--json"))
        kept = {row["task"]: row["resident_bytes"] for row in resident}
        self.assertGreater(kept["leaky leaks"], 20 * 400_000)

    def test_the_task_that_blocks_is_named_with_its_line(self):
        run = self.traced(PLANTED, "--heap", "off")
        told_ms = json.loads(run.stdout)["blocked"] / MS
        table = rows(run.path, "--sort", "longest")
        row = table[0]
        self.assertEqual(row["name"], "blocker")
        self.assertEqual(row["longest_at"], place(PLANTED, "BLOCK"))
        self.assertLessEqual(row["blocked_ms"], told_ms)
        self.assertGreater(row["blocked_ms"], 599)
        self.assertGreaterEqual(row["longest_ms"], told_ms)
        self.assertIn("blocker blocks held the event loop longest",
                      run.report("tasks"))
        workers = [row for row in table if row["coroutine"] == "worker"]
        self.assertEqual(len(workers), 200)
        self.assertTrue(all(row["steps"] == 6 for row in workers))
        grouped = {row["task"]: row for row in rows(run.path, "--by", "function")}
        self.assertEqual(grouped["worker"]["tasks"], 200)
        self.assertEqual(grouped["worker"]["steps"], 1200)

    def test_a_task_that_computes_is_named_with_the_lines_around_it(self):
        run = self.traced(COMPUTES)
        told_ms = json.loads(run.stdout)[0] / MS
        row = rows(run.path, "--sort", "longest")[0]
        self.assertEqual(row["coroutine"], "computes")
        self.assertGreaterEqual(row["longest_ms"], told_ms)
        self.assertEqual(row["longest_at"],
                         place(COMPUTES, "FROM") + " to :" +
                         place(COMPUTES, "TO").split(":")[1])
        self.assertIn("42 other tasks were alive", run.report("tasks"))

    def test_steps_are_counted_and_ends_are_known(self):
        run = self.traced(COUNTED)
        table = by_name(run.path)
        for name, row in table.items():
            if name.startswith("steps_"):
                self.assertEqual(row["steps"], int(name.split("_")[1]), name)
                end = ENDS.get(name.rpartition("_")[2], "done")
                self.assertEqual(row["state"], end, name)
        self.assertIn("last name", table)
        self.assertNotIn("first name", table)
        if support.VERSION >= (3, 11):
            self.assertEqual(table["grouped"]["steps"], 4)
        # The last loop's only task has a number as its name.
        self.assertTrue(any(row["coroutine"] == "steps_1" and
                            name.startswith("Task-")
                            for name, row in table.items()))

    def test_the_program_sees_nothing(self):
        traced = self.traced(SEEN)
        plain = self.run_python("script.py")
        self.assertEqual(traced.stdout.splitlines(), plain.splitlines())

    def test_each_thread_may_have_a_loop(self):
        run = self.traced(THREADS)
        table = rows(run.path)
        self.assertEqual(len(table), 9)
        for n in range(3):
            of_one = rows(run.path, "--thread", f"loop-{n}")
            self.assertEqual(sorted(row["coroutine"] for row in of_one),
                             ["main", "work", "work"])

    def test_a_task_that_never_ends_is_known_when_the_program_is_killed(self):
        path = os.path.join(self.folder, "killed.pb")
        script = self.write("killed.py", KILLED)
        program = subprocess.Popen(
            [support.PYMEMRUN, *TASKS, "--quiet", "-o", path, script],
            stdout=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), b"now\n")
        program.send_signal(signal.SIGKILL)
        program.wait(PATIENCE_S)
        program.stdout.close()

        def states():
            found = subprocess.run([support.PYMEMREPORT, "tasks", path, "--json"],
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL).stdout
            return {row["coroutine"]: row["state"]
                    for row in json.loads(found or b"[]")}
        wait_until(lambda: states().get("stuck") == "runs")
        self.assertEqual(states()["waits"], "waits at killed.py:3")

    def test_a_forked_child_has_its_own_tasks(self):
        run = self.traced(FORKS, "--heap", "off")
        self.assertEqual(run.stdout.split(), ["7"])
        self.assertEqual([row["coroutine"] for row in rows(run.path)], ["forks"])
        [child] = glob.glob(run.path[:-len(".pb")] + ".*.pb")
        table = rows(child)
        self.assertEqual([row["coroutine"] for row in table], ["child"])

    @unittest.skipIf(support.VERSION < (3, 12), "there are no eager tasks")
    def test_an_eager_task_is_no_part_of_the_step_that_makes_it(self):
        run = self.traced(EAGER)
        # Before 3.14 it gets its name after that step.
        table = {row["coroutine"]: row for row in rows(run.path)}
        self.assertGreaterEqual(table["eager"]["longest_ms"], 30)
        self.assertLess(table["main"]["ran_s"], table["eager"]["ran_s"])

    def test_a_run_can_have_all_kinds(self):
        run = self.run_script(PLANTED, "--trace", "calls,pages,gil,tasks", "--heap",
                              "all")
        table = by_name(run.path)
        self.assertEqual(table["blocker"]["longest_at"], place(PLANTED, "BLOCK"))
        self.assertEqual(len(table), 203)
        trace = os.path.join(self.folder, "trace.json")
        run.report("export", "--format", "chrome", "-o", trace,
                   "--min-duration", "0ms")
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)
        events = events if isinstance(events, list) else events["traceEvents"]
        slices = [event for event in events
                  if event.get("name") == "blocker blocks" and
                  event.get("ph") in "XB"]
        self.assertGreaterEqual(len(slices), 3)


if __name__ == "__main__":
    unittest.main()
