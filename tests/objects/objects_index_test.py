#!/usr/bin/env python3
"""An index beside the dump of a program: every command prints what it prints without."""
import os
import subprocess
import unittest

import support

PYMEMOBJ = os.environ["PYMEMOBJ_BIN"]

PROGRAM = """
import collections, threading, weakref

class Node:
    def __init__(self, number):
        self.number, self.name = number + 1000, 'node %d' % number
        self.me = self if number % 3 == 0 else None

class Slots:
    __slots__ = 'left', 'right', '__weakref__'

NODES = [Node(number) for number in range(4000)]
BY_NAME = {node.name: node for node in NODES}
REFERENCES = [weakref.ref(node) for node in NODES[::10]]
TEXTS = ['text of %d' % (number % 100) for number in range(2000)] + [b'x' * 5000]
CHAIN = None
for number in range(3000):
    CHAIN = [CHAIN, number]
slots = Slots()
slots.left, slots.right = NODES[0], TEXTS
for number in range(200):
    one, other = Node(number), Node(number + 1)
    one.me, other.me = other, one
del one, other
"""


class ObjectsIndexTest(support.ProgramTest):
    def pymemobj(self, *arguments):
        done = subprocess.run([PYMEMOBJ, self.dump, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def column(self, sql):
        code, out, err = self.pymemobj("query", sql, "--csv", "--limit", "0")
        self.assertEqual((0, ""), (code, err))
        return out.split()[1:]

    def test_all_commands_print_the_same(self):
        run = self.run_script("import gc; gc.disable()\n" + PROGRAM, "--objects", "exit",
                              "--trace", "none", "--heap", "all")
        self.dump = run.path[:-3] + ".obj.pb"
        addresses = self.column(
            "SELECT address FROM nodes WHERE address IS NOT NULL AND (id % 4001 = 5 OR "
            "type = '__main__.Slots' OR id IN (SELECT id FROM nodes ORDER BY retained DESC LIMIT 4))")
        self.assertGreater(len(addresses), 4)
        commands = [["summary"], ["suspects", "--min-share", "2"], ["list"], ["duplicates"],
                    ["list", "--where", "value=text of 7*"], ["cycles"], ["collapse"],
                    ["dominators"], ["treemap"], ["export"], ["retained", "*Node"],
                    ["what-if", "*Node"], ["diff", self.dump], ["summary", "--where", "size>100"]]
        commands += [["query", "SELECT * FROM " + table, "--limit", "0"]
                     for table in ("nodes", "edges", "dominators", "types")]
        commands += [[command, address] for address in addresses for command in
                     ("show", "path", "parents", "children", "refs", "retained")]
        before = [self.pymemobj(*command) for command in commands]
        code, out, err = self.pymemobj("index")
        self.assertEqual((0, ""), (code, err))
        self.assertIn(self.dump + ".idx: an index of ", out.replace("\n", " "))
        for command, expected in zip(commands, before):
            self.assertEqual(expected, self.pymemobj(*command), command)
        # A dump that has changed is another one.
        with open(self.dump, "r+b") as file:
            file.seek(0)
            file.write(b"x")
        code, out, err = self.pymemobj("summary")
        self.assertEqual(1, code)
        self.assertIn("is the index of another dump", err)


if __name__ == "__main__":
    unittest.main()
