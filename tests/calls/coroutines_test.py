#!/usr/bin/env python3
"""Programs whose calls do not end in the order that they began in, asyncio's
tasks and gevent's greenlets, many of them at once: memory is at the lines that
took it, the reports agree, and what a call's own growth is, is right or left
out."""
import json
import subprocess
import unittest

import support

TASKS = 200
BLOCK = 64 << 10

# Each task takes two blocks, one before and one after the others have had a turn.
WORK = f"""
import mmap
kept = []
def block():
    mapped = mmap.mmap(-1, {BLOCK})
    for at in range(0, len(mapped), 4096): mapped[at] = 1
    return mapped
def early(): kept.append(block())
def late(): kept.append(block())
"""
ASYNCIO = WORK + f"""
import asyncio
async def task(n):
    early()
    await asyncio.sleep(.001 * (n % 7))
    late()
    if n % 10 == 0: raise ValueError(n)
    return n
async def generated():
    for n in range(10):
        await asyncio.sleep(0)
        yield n
async def main():
    tasks = [asyncio.create_task(task(n)) for n in range({TASKS})]
    cancelled = asyncio.create_task(asyncio.sleep(1000))
    results = await asyncio.gather(*tasks, return_exceptions=True)
    cancelled.cancel()
    print(sum(n for n in results if isinstance(n, int)),
          sum([n async for n in generated()]),
          await asyncio.to_thread(len, kept))
asyncio.run(main())
"""
GEVENT = WORK + f"""
import gevent.monkey
gevent.monkey.patch_all()
import gevent, time
def task(n):
    early()
    time.sleep(.001 * (n % 7))
    late()
    if n % 10 == 0: raise gevent.GreenletExit(n)
    return n
jobs = [gevent.spawn(task, n) for n in range({TASKS})]
gevent.joinall(jobs)
print(sum(job.value for job in jobs if isinstance(job.value, int)),
      45, len(kept))
"""
PRINTED = f"{sum(n for n in range(TASKS) if n % 10)} 45 {2 * TASKS}\n"


class CoroutinesTest(support.ProgramTest):
    def assert_right_lines(self, text):
        run = self.run_script(text, "--min-drss", "0", "--stacks",
                              "--min-call-drss", "1", "--trace", "calls,pages")
        self.assertEqual(run.stdout, PRINTED)
        rows = run.rows()
        self.assert_nothing_lost(run, rows)
        self.calls_are_right_or_unknown(rows)
        if run.header.rss_source != support.trace_pb2().FAULTS:
            return
        top = json.loads(run.report("top", "--json", "--limit", "1"))[0]
        self.assertEqual(top["function"], "block")
        taken = 2 * TASKS * BLOCK
        self.assertAlmostEqual(top["growth_bytes"], taken, delta=taken / 50)

    def calls_are_right_or_unknown(self, rows):
        """How long a call took, it can be seen from its CALL's row."""
        known = 0
        for row in rows:
            if row["what"] != "RETURN" or row["call_event"] == "":
                continue
            known += 1
            call = rows[int(row["call_event"])]
            self.assertEqual((call["what"], call["function"], call["thread"]),
                             ("CALL", row["function"], row["thread"]))
            self.assertEqual(int(row["call_drss_bytes"]),
                             row["rss_bytes"] - call["rss_bytes"])
            self.assertGreaterEqual(float(row["call_s"]), 0)
        self.assertGreater(known, 2 * 2 * TASKS)  # early, late, block

    def test_asyncio(self):
        self.assert_right_lines(ASYNCIO)

    def test_gevent(self):
        try:
            self.run_python("-c", "import gevent")
        except subprocess.CalledProcessError:
            self.skipTest("no gevent")
        self.assert_right_lines(GEVENT)


if __name__ == "__main__":
    unittest.main()
