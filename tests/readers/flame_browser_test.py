"""The flame graph in a real browser: a click zooms, typing searches.

Without Chromium the test is skipped.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

from browser import CHROMIUM, Browser

PYMEMREPORT = os.environ['PYMEMREPORT_BIN']
GENERATE = os.path.join(os.path.dirname(PYMEMREPORT), 'pymemrun-generate')

FRAMES = '''Array.from(document.querySelectorAll('g.f')).map(g => ({
  name: g.querySelector('title').textContent.split('\\n')[0],
  bytes: Number(g.getAttribute('data-b')),
  depth: Number(g.getAttribute('data-d')),
  shown: g.style.display !== 'none',
  hit: g.classList.contains('hit'),
  width: Number(g.querySelector('rect').getAttribute('width')),
  text: g.querySelector('text').textContent,
  box: (r => [r.x + r.width / 2, r.y + r.height / 2])(
      g.querySelector('rect').getBoundingClientRect())}))'''
WHOLE = 1176  # the plot's width


@unittest.skipUnless(CHROMIUM, 'there is no chromium')
class FlameInABrowser(unittest.TestCase):
    NAME = 'flame.svg'

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        run = os.path.join(cls.folder.name, 'run.pb')
        with open(run, 'wb') as out:
            subprocess.run([GENERATE, '--heap', '20000'], stdout=out, check=True)
        cls.svg = os.path.join(cls.folder.name, cls.NAME)
        subprocess.run([PYMEMREPORT, 'flame', run, '-o', cls.svg], check=True)
        cls.browser = Browser(os.path.join(cls.folder.name, 'profile'))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.open_file(self.svg)

    def frames(self):
        return self.browser.value(FRAMES)

    def click_frame(self, frame):
        self.browser.click(*frame['box'])

    def test_a_click_zooms_and_show_all_leads_back(self):
        before = self.frames()
        root = before[0]
        self.assertEqual(root['width'], WHOLE)
        chosen = next(f for f in before if f['depth'] == 2 and 60 < f['width'] < WHOLE / 2)
        self.click_frame(chosen)
        after = self.frames()
        at = before.index(chosen)
        self.assertEqual(after[at]['width'], WHOLE)
        # The whole, without the folders that tell no files apart.
        self.assertRegex(chosen['name'], r' \(/.*:\d+\)$')
        self.assertEqual(after[at]['text'], re.sub(r'\(/.*/', '(', chosen['name']))
        grown = 0
        for old, new in zip(before, after):
            if new['shown'] and new['depth'] > 2 and old['width'] > 1:
                self.assertAlmostEqual(new['width'] / old['width'], WHOLE / chosen['width'],
                                       delta=0.05 * WHOLE / chosen['width'])
                grown += 1
        self.assertGreater(grown, 0)
        self.assertTrue(any(not f['shown'] for f in after))
        x, y = self.browser.value(
            '(r => [r.x + r.width / 2, r.y + r.height / 2])'
            '(document.querySelector("#reset").getBoundingClientRect())')
        self.browser.click(x, y)
        self.assertEqual([f['width'] for f in self.frames()], [f['width'] for f in before])

    def test_typing_searches_and_sums_what_matches(self):
        x, y = self.browser.value(
            '(r => [r.x + 20, r.y + r.height / 2])'
            '(document.querySelector("#search").getBoundingClientRect())')
        self.browser.click(x, y)
        self.browser.call('Input.insertText', text='STEP_1 (')
        frames = self.frames()
        hits = [f for f in frames if f['hit']]
        self.assertTrue(hits)
        self.assertEqual({f['name'].startswith('step_1 (') for f in hits}, {True})
        self.assertEqual(sum(f['name'].startswith('step_1 (') for f in frames), len(hits))
        matched = self.browser.value('document.querySelector("#matched").textContent')
        self.assertRegex(matched, r'^matched: [0-9.]+ (bytes|KiB|MiB), [0-9.]+ %$')
        share = float(matched.split(', ')[1].split()[0])
        self.assertLessEqual(share, 100 * sum(f['bytes'] for f in hits) / frames[0]['bytes'] + 0.1)
        self.assertGreaterEqual(share, 100 * max(f['bytes'] for f in hits) / frames[0]['bytes'] - 0.1)
        self.browser.value('document.querySelector("#search").value = "";'
                           'document.querySelector("#search").dispatchEvent(new Event("input"))')
        self.assertFalse(any(f['hit'] for f in self.frames()))

    def test_a_picture(self):
        keep = os.environ.get('PYMEMRUN_KEEP_PICTURES')
        if not keep:
            self.skipTest('set PYMEMRUN_KEEP_PICTURES to a folder to look at it')
        self.browser.keep_picture(os.path.join(keep, 'flame.png'))


class FlameAsAPage(FlameInABrowser):
    NAME = 'flame.html'


if __name__ == '__main__':
    if not CHROMIUM:
        print('no chromium: skipped')
        sys.exit(77)
    unittest.main()
