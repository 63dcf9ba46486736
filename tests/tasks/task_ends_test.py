#!/usr/bin/env python3
"""How tasks of asyncio end: whether each returned, raised, or was cancelled."""
import json
import unittest

import support

# Each way for a coroutine to end.
ENDED = """
import asyncio, gc
class Own(asyncio.CancelledError): pass
async def raises(): raise KeyError
async def raises_at_last():
    await asyncio.sleep(0)
    raise ValueError
async def raises_it(): raise Own
async def exits():
    await asyncio.sleep(0)
    raise GeneratorExit
async def waits(): await asyncio.sleep(60)
async def cancelled_before(): await waits()
async def cancelled_inside(): await waits()
async def reraises():
    try: await waits()
    except asyncio.CancelledError: raise
async def raises_instead():
    try: await waits()
    except asyncio.CancelledError: raise OSError
async def swallows():
    try: await waits()
    except asyncio.CancelledError: return 7
async def returns(): return 1
async def main():
    asyncio.current_task().set_name("main")
    make = lambda c: asyncio.create_task(c(), name=c.__name__)
    early = make(cancelled_before)
    early.cancel()
    late = [make(c) for c in (cancelled_inside, reraises, raises_instead, swallows)]
    others = [make(c) for c in (raises, raises_at_last, raises_it, exits, returns)]
    await asyncio.sleep(0.01)
    for task in late: task.cancel()
    got = await asyncio.gather(early, *late, *others, return_exceptions=True)
    assert got[4] == 7 and got[9] == 1, got
    print("ok")
asyncio.run(main())
"""


class TaskEndsTest(support.ProgramTest):
    @unittest.skipIf(support.FREE_THREADED or tuple(support.VERSION) < (3, 10),
                     "this interpreter tells no steps of tasks")
    def test_how_each_task_ended_is_known(self):
        run = self.run_script(ENDED, "--trace", "tasks")
        self.assertEqual(run.stdout.split(), ["ok"])
        table = {row["name"]: row for row in json.loads(run.report("tasks", "--json"))}
        for name in ("cancelled_before", "cancelled_inside", "raises_it", "reraises"):
            self.assertEqual(table[name]["state"], "cancelled", name)
        for name in ("raises", "raises_at_last", "raises_instead", "exits"):
            self.assertEqual(table[name]["state"], "raised", name)
        for name in ("swallows", "returns", "main"):
            self.assertEqual(table[name]["state"], "done", name)
        self.assertIn("4 ended with an exception, 4 were cancelled.", run.report("tasks"))


if __name__ == "__main__":
    unittest.main()
