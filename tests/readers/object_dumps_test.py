"""Dumps of the object graph, read by pymemobj and pymemrun_reader: they tell what an
oracle in Python tells of the same objects. The dump is one of Meliae's form, which this
test makes of its own interpreter."""
import collections
import csv
import gc
import io
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.environ.get('PYMEMRUN_READER_PATH', '.'))
try:
    import pymemrun_reader
except ImportError:
    pymemrun_reader = None
PYMEMOBJ = os.environ['PYMEMOBJ_BIN']


class Cache:
    def __init__(self):
        self.entries = {'key %d' % i: 'x' * (100 + i) for i in range(2000)}


class Objects:
    """What the modules of this interpreter lead to, as Meliae would dump it."""

    def __init__(self):
        self.planted = types.ModuleType('planted')
        self.planted.CACHE = Cache()
        roots = self.planted, collections
        left, self.refs, self.by_address = list(roots), {}, {}
        own = {id(frame) for frame in (sys._getframe(), self, self.__dict__, left, self.refs,
                                       self.by_address)}
        while left:
            one = left.pop()
            if id(one) in self.refs or id(one) in own:
                continue
            # Classes and other modules lead to all that is imported here.
            ends = isinstance(one, (type, types.FrameType, types.ModuleType))
            referents = [] if ends and one not in roots else gc.get_referents(one)
            if type(one) is dict:  # keys and values, as that tool has it
                referents = [each for item in one.items() for each in item]
            self.by_address[id(one)] = one
            self.refs[id(one)] = [id(other) for other in referents if id(other) not in own]
            left += referents
        # Once: what runs here may grow.
        self.sizes = {address: sys.getsizeof(one) for address, one in self.by_address.items()}

    def line(self, address):
        one = self.by_address[address]
        fields = {'address': address, 'type': type(one).__name__, 'size': self.sizes[address]}
        if isinstance(one, type) or isinstance(one, (types.ModuleType, types.FunctionType)):
            fields['name'] = one.__name__
        if type(one) is str:
            fields['value'] = one[:100]
        if type(one) in (str, tuple, list, dict, set):
            fields['len'] = len(one)
        return json.dumps(dict(fields, refs=self.refs[address]))

    def without(self, address):
        """The addresses that no reference leads to when there is no such object. Modules and
        what no other object refers to are roots, as readers of such dumps have it."""
        referred = {to for tos in self.refs.values() for to in tos}
        left = [a for a in self.refs if type(self.by_address[a]).__name__ == 'module'
                or a not in referred]
        reached = set()
        while left:
            one = left.pop()
            if one in reached or one == address or one not in self.refs:
                continue
            reached.add(one)
            left += self.refs[one]
        return set(self.refs) - reached


class ObjectDumps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        gc.disable()
        cls.addClassCleanup(gc.enable)
        cls.objects = Objects()
        cls.path = os.path.join(folder.name, 'old.json')
        with open(cls.path, 'w', encoding='utf-8') as file:
            for address in cls.objects.refs:
                file.write(cls.objects.line(address) + '\n')
        cls.cache = id(cls.objects.planted.CACHE)
        gone = cls.objects.without(cls.cache)
        cls.retained = sum(cls.objects.sizes[a] for a in gone)

    def rows(self, *arguments):
        out = subprocess.run([PYMEMOBJ, self.path, *arguments, '--csv'], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
        return list(csv.DictReader(io.StringIO(out)))

    def test_the_summary_counts_what_is_there(self):
        counts, sizes = collections.Counter(), collections.Counter()
        for address, one in self.objects.by_address.items():
            counts[type(one).__name__] += 1
            sizes[type(one).__name__] += self.objects.sizes[address]
        rows = {row['type']: row for row in self.rows('summary', '--limit', '0')}
        self.assertEqual(counts, {name: int(row['objects']) for name, row in rows.items()})
        self.assertEqual(sizes, {name: int(row['bytes']) for name, row in rows.items()})

    def test_a_planted_cache_retains_what_reachability_says(self):
        self.assertGreater(self.retained, 2000 * 1100)
        row, = self.rows('show', hex(self.cache))
        self.assertEqual(self.retained, int(row['retained_bytes']))
        self.assertEqual('Cache', self.rows('suspects')[0]['type'])

    def test_children_and_parents_are_the_references(self):
        for address in list(self.objects.refs)[:40]:
            children = self.rows('children', hex(address), '--limit', '0')
            expected = [hex(to) for to in self.objects.refs[address] if to in self.objects.refs]
            self.assertEqual(expected, [row['address'] for row in children])
        address = id(self.objects.planted.CACHE.entries)
        parents = {row['address'] for row in self.rows('parents', hex(address))}
        self.assertEqual({hex(a) for a, tos in self.objects.refs.items() if address in tos},
                         parents)

    def test_a_path_leads_from_a_root_to_the_object(self):
        steps = self.rows('path', hex(self.cache), '--chains', '1')
        self.assertEqual(hex(self.cache), steps[-1]['address'])
        self.assertEqual('module', steps[0]['type'])
        for before, after in zip(steps, steps[1:]):
            self.assertIn(int(after['address'], 16),
                          self.objects.refs[int(before['address'], 16)])

    @unittest.skipUnless(pymemrun_reader, 'no module for this Python')
    def test_the_module_tells_the_same(self):
        dump = pymemrun_reader.objects(self.path)
        self.assertEqual(len(self.objects.refs), len(dump))
        cache, = dump.get_all('Cache')
        self.assertEqual(self.cache, cache.address)
        self.assertEqual(self.retained, cache.retained)
        self.assertEqual(self.retained, dump.retained('Cache'))
        self.assertEqual(cache, dump[self.cache])
        self.assertRegex(repr(cache), r'^Cache\(%d %dB \d+refs 1par\)$' % (
            self.cache, self.objects.sizes[self.cache]))
        entries = dump[id(self.objects.planted.CACHE.entries)]
        self.assertEqual({key: value[:100] for key, value in
                          self.objects.planted.CACHE.entries.items()},
                         entries.refs_as_dict())
        self.assertEqual(2000, entries.length)
        self.assertEqual(entries.children, entries.c)
        self.assertEqual(entries[0], entries.c[0])
        self.assertEqual([id(self.objects.planted.CACHE.entries)],
                         [one.address for one in entries.c[1].parents])
        self.assertEqual(self.cache, cache.path()[-1][1].address)
        self.assertEqual('planted', dump[id(self.objects.planted)].value)
        rows = dump.summarize(limit=None)
        self.assertEqual(dump.total_bytes, sum(row.size_bytes for row in rows))
        with self.assertRaises(KeyError):
            dump[1]
        with self.assertRaises(ValueError):
            pymemrun_reader.objects(os.devnull)
        with self.assertRaises(OSError):
            pymemrun_reader.objects('/nowhere/run.obj.pb')


if __name__ == '__main__':
    unittest.main()
