#!/usr/bin/env python3
"""A walk through a dump at Python's prompt, step by step as users of Meliae know it, and
what pymemobj says of keys and of a file that is no dump."""
import os
import pprint
import subprocess
import sys
import unittest

import support

PYMEMOBJ = os.environ["PYMEMOBJ_BIN"]
sys.path.insert(0, os.environ.get("PYMEMRUN_READER_PATH", "."))
try:
    import pymemrun_reader
except ImportError:
    pymemrun_reader = None

PROGRAM = """
import threading
class Worker:
    def __init__(self, pool, number):
        self.pool, self.number, self.name = pool, number, 'worker %d' % number
class Pool:
    def __init__(self):
        self.running, self.limit = True, 10
        self.workers = [Worker(self, number) for number in range(2000)]
POOL = Pool()
for worker in POOL.workers: vars(worker)
KEYS = {38: ['at int'], '38': ['at str'], 2.5: ['at float'], None: ['at None'], b'by': ['at bytes'],
        -5: ['at -5'], 'it is': ['at text']}
"""


class ObjectsWalkTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls("setUp")
        test.setUp()
        cls.ran = test.run_script(PROGRAM, "--objects", "exit", "--trace", "none")
        cls.path = cls.ran.path[:-len(".pb")] + ".obj.pb"

    def pymemobj(self, *arguments):
        return subprocess.run([PYMEMOBJ, *arguments], capture_output=True, text=True)

    def test_keys_are_what_they_are(self):
        rows = self.pymemobj(self.path, "query",
                             "SELECT source FROM edges JOIN nodes ON target = id "
                             "WHERE value = 'at text'", "--csv").stdout.split()
        self.assertEqual(2, len(rows), rows)
        lists = self.pymemobj(self.path, "query",
                              "SELECT nodes.address, leaf.value FROM edges "
                              "JOIN nodes ON source = nodes.id JOIN nodes leaf ON target = leaf.id "
                              "WHERE leaf.value LIKE '%at %' AND nodes.type = 'list'",
                              "--csv").stdout.split("\n")[1:]
        shown = {}
        for row in filter(None, lists):
            address, value = row.split(",")
            text = self.pymemobj(self.path, "path", address, "--chains", "1").stdout
            shown[value.strip("'")] = text.split(".KEYS")[1].split()[0]
        self.assertEqual({"at int": "[38]", "at str": "['38']", "at float": "[2.5]",
                          "at None": "[None]", "at bytes": "[b'by']", "at -5": "[-5]"},
                         {value: key for value, key in shown.items() if value != "at text"})

    def test_a_run_file_says_how_to_record_a_dump(self):
        said = self.pymemobj(self.ran.path)
        self.assertEqual(1, said.returncode)
        self.assertIn("--objects exit", said.stderr)

    @unittest.skipUnless(pymemrun_reader, "no module for this Python")
    def test_a_walk_from_the_summary_to_who_holds_it(self):
        om = pymemrun_reader.objects(self.path)
        before = len(om)
        self.assertIsNone(om.compute_parents())
        folded = om.collapse_instance_dicts()
        self.assertEqual(before - folded, len(om))
        self.assertGreaterEqual(folded, 2000)
        s = om.summarize()
        self.assertEqual(20, len(s))
        head, columns, first, *rest = repr(s).split("\n")
        self.assertIn("{:,} objects of ".format(len(om)), head)
        self.assertIn("{:,} bytes".format(om.total_bytes), head)
        self.assertEqual(19, len(rest))
        self.assertEqual(s[0].type, first.split()[-1])
        self.assertEqual("{:,}".format(s[0].size_bytes), first.split()[3])
        self.assertEqual(om.total_bytes, sum(row.size_bytes for row in om.summarize(None)))
        self.assertEqual(om.total_bytes, om.summarize(1).size_bytes)
        workers = om.get_all("Worker")
        self.assertEqual(2000, len(workers))
        one = workers[0]
        self.assertRegex(repr(one), r"^__main__.Worker\(\d+ \d+B \d+refs \d+par\)$")
        self.assertGreater(one.size, 100)  # its __dict__ included
        self.assertEqual(repr(one.c[0]), pprint.pformat(one.c[0]))
        self.assertEqual(len(one.c), pprint.pformat(one.c).count("\n") + 1)
        refs = one.refs_as_dict
        self.assertEqual(refs, one.refs_as_dict())
        self.assertEqual("worker %d" % refs["number"], refs["name"])
        self.assertIn("'name': 'worker ", pprint.pformat(refs))
        holder, = [parent for parent in one.p if parent.type_str == "list"]
        pool, = [parent for parent in holder.p if parent.type_str == "__main__.Pool"]
        self.assertIs(True, pool.refs_as_dict()["running"])
        self.assertEqual(10, pool.refs_as_dict()["limit"])
        self.assertEqual(holder, pool.refs_as_dict()["workers"])
        modules = [dict_ for dict_ in pool.p if dict_.type_str in ("dict", "module")]
        self.assertTrue(any("KEYS" in one.refs_as_dict() for one in modules))
        thread = om.get_all("module")
        self.assertIn("threading", [one.value for one in thread])
        for each in (om, one, one.c, om.summarize()):
            pprint.pformat(each)

    @unittest.skipUnless(pymemrun_reader, "no module for this Python")
    def test_all_that_an_object_refers_to(self):
        om = pymemrun_reader.objects(self.path)
        pool, = om.get_all("Pool")
        reached = list(pool.iter_recursive_refs())
        self.assertEqual(pool, reached[0])
        addresses = {each.address for each in reached}
        self.assertEqual(len(reached), len(addresses))
        for each in reached[:100]:
            self.assertLessEqual({of.address for of in each.c if of.type_str != "type"}, addresses)
        self.assertEqual(sum(each.size for each in reached), pool.compute_total_size())
        self.assertEqual({each.address for each in om.get_all("Worker")},
                         {each.address for each in pool.all("Worker")})
        workers = pool.refs_as_dict()["workers"]
        for without in ([workers], {workers.address}):
            self.assertEqual([], pool.all("Worker", without))
            self.assertLess(pool.compute_total_size(excluding=without),
                            pool.compute_total_size() - sum(each.size for each in workers.c))
        for wrong in ("x", [1.5], 3):
            with self.assertRaises(TypeError):
                pool.compute_total_size(wrong)

    @unittest.skipUnless(pymemrun_reader, "no module for this Python")
    def test_a_run_can_be_printed(self):
        with pymemrun_reader.open(self.ran.path) as run:
            self.assertEqual(repr(run), pprint.pformat(run))


if __name__ == "__main__":
    unittest.main()
