#!/usr/bin/env python3
"""References have the names by which the program knows them, roots are the
frames, threads and modules that hold an object, and values are what they are."""
import os
import unittest

import object_dump
import support

PROGRAM = """
import io, threading, weakref, pymemrun, sys
class Target:
    def __init__(self, mark): self.mark = mark
class Slots:
    __slots__ = ("slot",)
class Sized(list):
    def __sizeof__(self): raise RuntimeError("must not run")
    def __repr__(self): raise RuntimeError("must not run")
    def __len__(self): raise RuntimeError("must not run")
    def __eq__(self, other): raise RuntimeError("must not run")
    __hash__ = None
sized = Sized([Target("in sized")])
instance = Target("in instance"); instance.attribute = Target("attribute")
slots = Slots(); slots.slot = Target("slot")
in_dict = {"key": Target("value"), 17: Target("at 17"), -(1 << 70): Target("large")}
in_list = [None, Target("second")]
def closing():
    closed = Target("closed")
    def inner(): return closed
    return inner
function = closing()
def generator():
    inside = Target("suspended")
    yield 1
    del inside
suspended = generator(); next(suspended)
shown = Target("in shown"); vars(shown)
written = io.BytesIO(); written.write(b"q" * 5000)
weak = Target("weak"); referring = weakref.ref(weak)
texts = ["x" * 300, "x" * 300 + "y", "\\u00e9\\U0001F600\\ud800", b"\\x00\\xff" * 80, 2.5, True, 1 << 63, -(1 << 90)]
texts.append("".join(["x"] * 300))
import array, collections
class Deque(collections.deque):
    def __len__(self): raise RuntimeError("must not run")
named_alike = type("array.array", (), {"__len__": array.array.__len__})()
counted = [bytearray(71), array.array("d", range(72)), collections.deque(range(73)), Deque("x" * 74)]
cycle = Target("garbage"); cycle.itself = cycle
import gc; gc.collect(); gc.disable(); del cycle
ready, over = threading.Event(), threading.Event()
def waits():
    local_of_thread = Target("in thread")
    ready.set(); over.wait()
    del local_of_thread
thread = threading.Thread(target=waits, name="the waiter"); thread.start(); ready.wait()
def deep(argument):
    here = Target("local")
    print(pymemrun.dump_objects(wait=True), sys._getframe().f_lineno)
    return here
deep(Target("argument"))
over.set(); thread.join()
"""


class ObjectsNamesTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls("setUp")
        run = test.run_script(PROGRAM, "--trace", "none", "--heap", "off")
        path, cls.line = run.stdout.split()
        cls.dump, cls.stderr = object_dump.Dump(path), run.stderr
        cls.parents = {}
        for node in cls.dump.nodes:
            for kind, name, target in node.edges:
                cls.parents.setdefault(target, []).append(
                    (cls.dump.kinds.Name(kind)[5:], name, node))

    def setUp(self):
        pass

    def marked(self, mark):
        """The Target with this mark."""
        found = [node for node in self.dump.nodes if node.type == "Target"
                 and self.mark_of(node) == mark.encode()]
        self.assertEqual(len(found), 1, mark)
        return found[0]

    def mark_of(self, node):
        named = {name: target for name, target in self.dump.targets(node)}
        if "mark" in named:
            return named["mark"].text
        return self.dump.target(named["__dict__"], "mark").text

    def held_by(self, mark):
        return self.parents[self.marked(mark).number]

    def assert_held(self, mark, kind, name, type_):
        held = [(k, n, parent.type) for k, n, parent in self.held_by(mark)]
        self.assertIn((kind, name, type_), held)

    def test_nothing_of_the_programs_ran(self):
        self.assertEqual(self.stderr, "")
        sized, = (node for node in self.dump.nodes if node.type == "Sized")
        self.assertTrue(sized.flags & 4)
        self.assertEqual(sized.length, 1)

    def test_lengths_are_those_that_len_says(self):
        said = {(node.type, node.length) for node in self.dump.nodes}
        for one in (("bytearray", 71), ("array", 72), ("deque", 73), ("Deque", 74),
                    ("array.array", None)):
            self.assertIn(one, said)

    def test_attributes_slots_keys_and_indexes(self):
        inline = support.VERSION >= (3, 11)
        self.assert_held("attribute", "ATTRIBUTE" if inline else "VALUE",
                         "attribute", "Target" if inline else "dict")
        self.assert_held("slot", "ATTRIBUTE", "slot", "Slots")
        self.assert_held("value", "VALUE", "key", "dict")
        self.assert_held("at 17", "VALUE", "17", "dict")
        self.assert_held("large", "VALUE", str(-(1 << 70)), "dict")
        self.assert_held("in sized", "INDEX", None, "Sized")
        (kind, _, parent), = self.held_by("second")
        indexes = self.dump.targets(parent, "INDEX")
        self.assertEqual(indexes[1][1], self.marked("second"))

    def test_a_dictionary_that_was_asked_for_is_its_instances(self):
        dict_, = (node for _, node in self.dump.targets(self.marked("in shown"), "DICT"))
        self.assertEqual([parent.type for _, _, parent in self.parents[dict_.number]], ["Target"])

    def test_a_buffer_of_bytes_counts_once(self):
        written, = (node for node in self.dump.nodes if node.type == "BytesIO")
        buffers = [node for _, node in self.dump.targets(written) if node.type == "bytes"]
        self.assertTrue(5000 < written.size + sum(node.size for node in buffers) < 9000)
        self.assertEqual(len(buffers), 1)

    def test_closures_frames_and_generators(self):
        self.assert_held("closed", "CELL", "closed", "cell")
        frame = "<frame>" if support.VERSION >= (3, 11) else "frame"
        self.assert_held("local", "LOCAL", "here", frame)
        self.assert_held("argument", "LOCAL", "argument", frame)
        self.assert_held("in thread", "LOCAL", "local_of_thread", frame)
        self.assert_held("suspended", "LOCAL", "inside",
                         "generator" if frame == "<frame>" else "frame")

    def test_threads_and_their_frames(self):
        threads = {node.text: node for _, node in self.dump.targets(self.dump.nodes[0])
                   if node.type == "<thread>"}
        self.assertEqual(set(threads), {b"MainThread", b"the waiter"})
        names = [[node.text for _, node in self.dump.targets(threads[name])
                  if node.type in ("<frame>", "frame")]
                 for name in (b"MainThread", b"the waiter")]
        self.assertEqual(names[0], [b"deep", b"<module>"])
        self.assertIn(b"waits", names[1])
        if support.VERSION >= (3, 11):
            top = self.dump.targets(threads[b"MainThread"])[0][1]
            self.assertEqual(top.line, int(self.line))

    def test_weak_references_keep_nothing(self):
        kinds = {kind for kind, _, _ in self.held_by("weak")}
        self.assertEqual(kinds, {"WEAK", "VALUE"})

    def test_garbage_is_what_nothing_else_reaches(self):
        garbage = self.marked("garbage")
        reached = self.dump.strong_from(
            node.number for _, node in self.dump.targets(self.dump.nodes[0])
            if node.text not in (b"gc tracked, not reached", b"frozen"))
        self.assertNotIn(garbage.number, reached)
        group = self.dump.group("gc tracked, not reached")
        self.assertIn(garbage.number, self.dump.strong_from([group.number]))
        self.assertEqual(len(self.dump.strong_from([0])), len(self.dump.nodes))
        # Of an interpreter that is at rest little is held by C alone.
        self.assertLess(len(self.dump.targets(group)), 60)

    def test_values_are_shown_and_cut(self):
        main = self.dump.target(self.dump.target(self.dump.target(
            self.dump.group("modules"), "sys.modules"), "__main__"), "__dict__")
        texts = [node for _, node in self.dump.targets(
            self.dump.target(main, "texts"), "INDEX")]
        self.assertEqual([node.text for node in texts[:8]], [
            b"x" * 100, b"x" * 100, "\u00e9\U0001F600\ud800".encode("utf-8", "surrogatepass"),
            b"\x00\xff" * 50, b"2.5", b"True", str(1 << 63).encode(),
            str(-(1 << 90)).encode()])
        self.assertEqual([node.length for node in texts[:4]], [300, 301, 3, 160])
        # Equal ones are known by the hash.
        self.assertEqual(texts[0].hash, texts[8].hash)
        self.assertNotEqual(texts[0].address, texts[8].address)
        self.assertNotEqual(texts[0].hash, texts[1].hash)
        self.assertEqual(texts[2].hash, 0)


if __name__ == "__main__":
    unittest.main()
