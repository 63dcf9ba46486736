"""What pymemreport says of real runs with heap events: bytes that the program is
known to have, at moments that it marks by how long it sleeps."""
import csv
import io
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from support import PYMEMREPORT, PYMEMRUN

PROGRAM = """\
import threading, time
keep = []
def load():
    keep.append(bytearray(3_000_000))   # line 4
def work():
    keep.append(bytearray(1_000_000))   # line 6
load()
time.sleep(0.2)
thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
big = bytearray(8_000_000)              # line 12
time.sleep(0.2)
keep.append(bytearray(5000))
del big
for i in range(100):
    bytearray(70_000)                   # line 17
time.sleep(0.2)
list(range(10))
"""
SAME_NAMES = """\
class Well:
    def __init__(self):
        self.data = bytearray(3_000_000)
class Log:
    def __init__(self):
        self.data = bytearray(1_000_000)
keep = [Well(), Log()]
"""
# One byte more than asked for, for the end of a C string, and the object.
LOADED, WORKED, BIG, TEMPORARY = 3_000_057, 1_000_057, 8_000_057, 70_057


class HeapReports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.script = os.path.join(cls.folder.name, 'job.py')
        with open(cls.script, 'w') as out:
            out.write(PROGRAM)
        cls.runs = {}
        for mode in ('all', 'sampled'):
            cls.runs[mode] = os.path.join(cls.folder.name, mode + '.pb')
            subprocess.run([PYMEMRUN, '--quiet', '--trace', 'none', '--heap', mode,
                            '-o', cls.runs[mode], '--', cls.script], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def report(self, command, *options, mode='all'):
        done = subprocess.run([PYMEMREPORT, command, self.runs[mode], *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertEqual(done.stderr, b'')
        return done.stdout.decode()

    def lines(self, *options, column='live_bytes', mode='all'):
        """Bytes by line of the script."""
        rows = json.loads(self.report('heap', '--json', '--limit', '0', *options, mode=mode))
        return {row['line']: row[column] for row in rows if row['file'] == self.script}

    def test_live_bytes_at_the_peak_are_exact(self):
        lines = self.lines()
        self.assertEqual(lines[6], WORKED)
        self.assertEqual(lines[12], BIG)
        # The list's first memory came there.
        self.assertEqual(lines[4] - LOADED, 32)
        self.assertNotIn(17, lines)

    def test_what_the_program_kept_is_what_is_alive_when_it_ends(self):
        lines = self.lines('--leaks')
        self.assertIn(lines[4] - LOADED, range(200))
        self.assertEqual(lines[6], WORKED)
        self.assertNotIn(12, lines)
        at_exit = self.lines('--at', 'exit')
        self.assertNotIn(4, at_exit)

    def test_temporary_blocks(self):
        rows = json.loads(self.report('heap', '--temporary', '4', '--json', '--limit', '0'))
        found = next(row for row in rows if row['file'] == self.script and row['line'] == 17)
        self.assertGreaterEqual(found['temporary_count'], 100)
        self.assertGreaterEqual(found['temporary_bytes'], 100 * TEMPORARY)

    def test_history_has_each_step(self):
        rows = list(csv.reader(io.StringIO(self.report(
            'history', '--csv', '--interval', '20ms', '--top', '3'))))
        heads = rows[0]
        self.assertEqual(heads[:2], ['time_s', 'live_bytes'])
        big = heads.index(self.script + ':12 <module>')
        load = heads.index(self.script + ':4 load')
        states = [(float(row[load]) >= LOADED, float(row[big]) >= BIG) for row in rows[1:]]
        changes = [s for i, s in enumerate(states) if i == 0 or s != states[i - 1]]
        if changes[0] == (False, False):
            changes.pop(0)
        self.assertEqual(changes[:3], [(True, False), (True, True), (True, False)])
        for row in rows[1:]:
            # Without what tracing itself allocated, which comes last if at all.
            own = 1 if heads[-1] == '<tracing itself>' else 0
            parts = [float(cell) for cell in row[2:len(row) - own]]
            self.assertAlmostEqual(sum(parts), float(row[1]), delta=len(parts))

    def test_samples_of_large_blocks_stand_for_themselves(self):
        rows = json.loads(self.report('heap', '--json', '--limit', '0', mode='sampled'))
        found = {row['line']: row for row in rows if row['file'] == self.script}
        # Their probability is above 0.99.
        self.assertAlmostEqual(found[12]['live_bytes'], BIG, delta=BIG / 50)
        self.assertIn('error_bytes', found[12])

    def test_snapshot_and_export_agree(self):
        collapsed = self.report('snapshot', '--collapsed')
        exported = self.report('export', '--format', 'collapsed')
        self.assertEqual(collapsed, exported)
        worked = [line for line in collapsed.splitlines() if 'work (' in line]
        self.assertEqual(len(worked), 1)
        self.assertRegex(worked[0], r'^_bootstrap .*;work \(.*job.py:6\) %d$' % WORKED)
        speedscope = json.loads(self.report('export', '--format', 'speedscope'))
        total = sum(int(line.rsplit(' ', 1)[1]) for line in collapsed.splitlines())
        self.assertEqual(sum(speedscope['profiles'][0]['weights']), total)

    def pprof(self, run, *options):
        """What `go tool pprof` prints of a run's live bytes."""
        tool = ['go', 'tool', 'pprof']
        if shutil.which('go') is None or subprocess.run(
                tool + ['-h'], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL).returncode not in (0, 2):
            self.skipTest('there is no go, or it has no pprof')
        profile = os.path.join(self.folder.name, 'heap.pb.gz')
        subprocess.run([PYMEMREPORT, 'export', run, '-o', profile], check=True)
        return subprocess.run(tool + [*options, profile], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True).stdout.decode()

    def test_pprof_reads_the_export(self):
        raw = self.pprof(self.runs['all'], '-lines', '-raw')
        self.assertIn('alloc_objects/count alloc_space/bytes inuse_objects/count '
                      'inuse_space/bytes[dflt]', raw)
        top = self.pprof(self.runs['all'], '-lines', '-top', '-unit=B', '-nodecount=1')
        first = top.splitlines()[-1]
        self.assertIn('job.py:12', first)
        flat = int(first.split()[0].rstrip('B'))
        self.assertIn(flat - BIG, range(200))

    def test_pprof_tells_functions_of_one_name_apart(self):
        script = os.path.join(self.folder.name, 'names.py')
        with open(script, 'w') as out:
            out.write(SAME_NAMES)
        run = os.path.join(self.folder.name, 'names.pb')
        subprocess.run([PYMEMRUN, '--quiet', '--trace', 'none', '--heap', 'all',
                        '-o', run, '--', script], check=True)
        top = self.pprof(run, '-top', '-unit=B')
        flat = {line.split()[-1]: int(line.split()[0].rstrip('B'))
                for line in top.splitlines() if '.__init__' in line}
        self.assertIn(flat['Well.__init__'] - LOADED, range(2000))
        self.assertIn(flat['Log.__init__'] - WORKED, range(2000))


if __name__ == '__main__':
    unittest.main()
