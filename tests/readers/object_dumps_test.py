"""Dumps of the object graph, read by pymemobj and pymemrun_reader: they tell what an
oracle in Python tells of the same objects. This test describes its own interpreter, and
`pymemrun-generate` writes that as a dump."""
import collections
import csv
import gc
import io
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
GENERATE = os.path.join(os.path.dirname(PYMEMOBJ), 'pymemrun-generate')
# Of EdgeKind in objects.proto.
OTHER, KEY, VALUE, INDEX, TYPE, DICT, ROOT = 0, 2, 3, 4, 5, 6, 13


class Cache:
    def __init__(self):
        self.entries = {'key %d' % i: 'x' * (100 + i) for i in range(2000)}


class Objects:
    """What the modules of this interpreter lead to, each with its referents."""

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
            if type(one) is dict:  # keys and values in turn
                referents = [each for item in one.items() for each in item]
            self.by_address[id(one)] = one
            self.refs[id(one)] = [id(other) for other in referents if id(other) not in own]
            left += referents
        # Once: what runs here may grow.
        self.sizes = {address: sys.getsizeof(one) for address, one in self.by_address.items()}

    def line(self, address):
        one = self.by_address[address]
        text = length = '-'
        if isinstance(one, type) or isinstance(one, (types.ModuleType, types.FunctionType)):
            text = one.__name__
        if type(one) is str:
            text = one[:100].translate({10: ' ', 13: ' '})
        if type(one) in (str, tuple, list, dict, set):
            length = len(one)
        return 'n %d %d %s %s %s\n' % (address, self.sizes[address], type(one).__name__, length,
                                       text.encode('ascii', 'replace').decode())

    def kind(self, address, index, to):
        one, of, all_refs = self.by_address[to], type(self.by_address[address]), self.refs[address]
        if of is dict:
            return (KEY, VALUE)[index % 2]
        if of in (list, tuple):
            return INDEX
        if isinstance(one, type) and to == all_refs[-1]:
            return TYPE
        # An instance that has two references has its dictionary and its type.
        is_dict = type(one) is dict and index == 0 and (len(all_refs) == 2 or of is types.ModuleType)
        return DICT if is_dict else OTHER

    def description(self):
        """For pymemrun-generate --graph: nodes, the root's references, and all others."""
        numbers = {address: number for number, address in enumerate(self.refs, 1)}
        yield from map(self.line, self.refs)
        for address in self.roots():
            yield 'e 0 %d %d\n' % (numbers[address], ROOT)
        for address, tos in self.refs.items():
            for index, to in enumerate(tos):
                if to in numbers:
                    yield 'e %d %d %d\n' % (numbers[address], numbers[to],
                                           self.kind(address, index, to))

    def reached(self, roots, without=None):
        left, reached = list(roots), set()
        while left:
            one = left.pop()
            if one in reached or one == without or one not in self.refs:
                continue
            reached.add(one)
            left += self.refs[one]
        return reached

    def roots(self):
        """Modules, what no other object refers to, and one of each circle beside these."""
        referred = {to for tos in self.refs.values() for to in tos}
        roots = [a for a in self.refs if type(self.by_address[a]).__name__ == 'module'
                 or a not in referred]
        reached = self.reached(roots)
        for address in self.refs:
            if address not in reached:
                roots.append(address)
                reached |= self.reached([address])
        return roots

    def without(self, address):
        """The addresses that no reference leads to when there is no such object."""
        return set(self.refs) - self.reached(self.roots(), address)


class ObjectDumps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        gc.disable()
        cls.addClassCleanup(gc.enable)
        cls.objects = Objects()
        cls.path = os.path.join(folder.name, 'self.obj.pb')
        with open(cls.path, 'wb') as file:
            subprocess.run([GENERATE, '--graph'], check=True, stdout=file,
                           input=''.join(cls.objects.description()).encode())
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
        self.assertEqual(self.retained, cache.what_if().object_bytes)
        self.assertEqual(cache.what_if(), dump.what_if('Cache'))
        self.assertIsNone(cache.what_if().heap_bytes)
        self.assertIn('which process', cache.what_if().heap_not_known)
        self.assertIn(self.cache, dump)
        self.assertIn(cache, dump)
        self.assertNotIn(1, dump)
        self.assertNotIn(-1, dump)
        self.assertNotIn(None, dump)
        self.assertFalse(cache == None)  # noqa: E711
        self.assertTrue(cache != 5)
        self.assertIn(cache, [None, cache])
        with self.assertRaises(KeyError):
            dump[1]
        with self.assertRaises(IsADirectoryError):
            pymemrun_reader.objects(os.path.dirname(self.path))
        with self.assertRaises(ValueError):
            pymemrun_reader.objects(os.devnull)
        with self.assertRaises(OSError):
            pymemrun_reader.objects('/nowhere/run.obj.pb')

    @unittest.skipUnless(pymemrun_reader, 'no module for this Python')
    def test_arrays_are_the_graph(self):
        dump = pymemrun_reader.objects(self.path)
        arrays = dump.arrays()
        del dump  # they keep it
        nodes = len(arrays['address'])
        self.assertEqual(nodes + 1, len(arrays['first_edge']))
        for node in range(1, nodes):
            address = arrays['address'][node]
            self.assertEqual(self.objects.sizes[address], arrays['size'][node])
            edges = range(arrays['first_edge'][node], arrays['first_edge'][node + 1])
            self.assertEqual([to for to in self.objects.refs[address] if to in self.objects.refs],
                             [arrays['address'][arrays['target'][edge]] for edge in edges])
        node = arrays['address'].tolist().index(self.cache)
        self.assertEqual(self.retained, arrays['retained'][node])
        with self.assertRaises(TypeError):
            arrays['size'][0] = 1

    def queries(self, engine):
        dump = pymemrun_reader.objects(self.path)
        row, = dump.query('SELECT id, type, size, retained, address FROM nodes '
                          "WHERE type = 'Cache'", engine)
        self.assertEqual(('Cache', self.retained, hex(self.cache)),
                         (row.type, row.retained, row.address))
        entries, = dump.query('SELECT id FROM edges JOIN nodes ON target = id '
                              "WHERE source = %d AND type = 'dict'" % row.id, engine)
        names = dump.query("SELECT name FROM edges WHERE source = %d AND kind = 'value'"
                           % entries.id, engine)
        self.assertEqual(set(self.objects.planted.CACHE.entries), {row.name for row in names})
        values = dump.query('SELECT value, length FROM edges JOIN nodes ON target = id '
                            "WHERE source = %d AND kind = 'value'" % entries.id, engine)
        self.assertEqual({(value[:100], len(value))
                          for value in self.objects.planted.CACHE.entries.values()},
                         {tuple(row) for row in values})
        below = dump.query('SELECT node FROM dominators WHERE dominator = %d' % row.id, engine)
        self.assertIn((entries.id,), below)
        root, = dump.query('SELECT dominator, retained FROM dominators WHERE node = 0', engine)
        self.assertIsNone(root.dominator)
        self.assertGreaterEqual(root.retained, self.retained)
        types = dump.query('SELECT type, objects, size, retained FROM types '
                           'WHERE objects > 0 AND size > 0', engine)
        rows = {row.type: row for row in dump.summarize(limit=None)}
        self.assertEqual({(row.type, row.count, row.size_bytes, row.retained_bytes)
                          for row in rows.values() if row.size_bytes},
                         {tuple(row) for row in types})
        self.assertEqual([(1, None, 'x', 0.5)],
                         dump.query("SELECT 1, NULL, 'x', cast(0.5 AS double)", engine))
        for wrong in ('DELETE FROM nodes', 'SELECT', 'SELECT 1; SELECT 2', 'SELECT x FROM nodes',
                      'CREATE TABLE x (y INTEGER)', ''):
            with self.assertRaises(ValueError):
                dump.query(wrong, engine)

    @unittest.skipUnless(pymemrun_reader, 'no module for this Python')
    def test_errors_say_what_was_expected(self):
        dump = pymemrun_reader.objects(self.path)
        for call, error, text in (
                (lambda: dump.get_all(5), TypeError, 'expected a str, found 5'),
                (lambda: dump.retained(None), TypeError, 'expected a str, found None'),
                (lambda: dump.what_if(5), TypeError, 'expected a str, found 5'),
                (lambda: dump.query(5, 'sqlite'), TypeError, 'expected a str, found 5'),
                (lambda: dump['x'], TypeError, "expected a whole number, found 'x'"),
                (lambda: dump[1.5], TypeError, 'expected a whole number, found 1.5'),
                (lambda: dump[-5], KeyError, "'-5'"),
                (lambda: dump.summarize('x'), TypeError, "expected a whole number, found 'x'"),
                (lambda: dump.summarize(-1), ValueError,
                 'limit: expected 0 or more, or None')):
            with self.assertRaises(error) as raised:
                call()
            self.assertEqual(text, str(raised.exception))
        self.assertEqual(len(dump.summarize(None)), len(dump.summarize(10**30)))
        for call, path in ((lambda: pymemrun_reader.objects('/nowhere.pb'), '/nowhere.pb'),
                           (lambda: pymemrun_reader.objects(self.path, run='/nowhere'),
                            '/nowhere')):
            with self.assertRaises((FileNotFoundError, ValueError)) as raised:
                call()
            if isinstance(raised.exception, OSError):
                self.assertEqual(path, raised.exception.filename)
        with self.assertRaisesRegex(ValueError, '^' + __file__ + ': not a dump of objects'):
            pymemrun_reader.objects(__file__)

    @unittest.skipUnless(pymemrun_reader, 'no module for this Python')
    def test_queries_by_sqlite(self):
        self.queries('sqlite')
        with self.assertRaises(ValueError):
            pymemrun_reader.objects(self.path).query('SELECT 1', 'none')
        with self.assertRaisesRegex(ValueError, 'DuckDB reads relation'):
            pymemrun_reader.objects(self.path).query('SELECT 1', 'duckdb')


if __name__ == '__main__':
    unittest.main()
