"""The commands that the documentation shows work.

Each line of a code block that begins with one of our tools is run, in the page's
order, in one folder per page, which holds the programs that the pages name. A block
after the comment `<!-- not run: reason -->` is passed over.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import markdown_text

PAGES = ('README.md', os.path.join('docs', 'cli.md'), os.path.join('docs', 'guide.md'),
         os.path.join('docs', 'from_per4m.md'), os.path.join('docs', 'from_other_tools.md'))
TOOLS = ('PYMEMRUN_BIN', 'PYMEMCAT_BIN', 'PYMEMREPORT_BIN', 'PYMEMOBJ_BIN')
COMMAND = re.compile(r'(?:\$ )?((?:pymemrun|pymemcat|pymemreport|pymemobj) (?!= ).*)')
NOT_RUN = '<!-- not run: '

PROGRAM = '''\
"""Makes lists for a quarter of a second, and keeps every fourth of them."""
import time

kept = []


def work(number):
    made = [str(n) for n in range(2000)]
    if number % 4 == 0:
        kept.append(made)


end, number = time.monotonic() + 0.25, 0
while time.monotonic() < end:
    work(number)
    number += 1
'''


def commands(page):
    """(line of the page, command) of all that is to be run."""
    blocks = markdown_text.blocks(markdown_text.read(page))
    for before, block in zip([None, *blocks], blocks):
        if block.kind != 'code' or (before and before.kind == 'comment' and
                                    before.text.startswith(NOT_RUN)):
            continue
        lines = iter(block.text.split('\n'))
        for line in lines:
            found = COMMAND.match(line)
            if found:
                command = found.group(1)
                while command.count('"') % 2 == 1:  # goes on behind the line
                    command += '\n' + next(lines)
                yield block.line, command


def prepare(folder):
    """The programs and data that the pages name."""
    for name in ('script.py', 'app.py'):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(PROGRAM)
    with open(os.path.join(folder, 'data.json'), 'w', encoding='utf-8') as f:
        json.dump({'a': 1}, f)
    example = os.path.join(markdown_text.SOURCE_DIR, 'examples', 'well_logs')
    shutil.copy(os.path.join(example, 'summarise.py'), folder)
    subprocess.run([sys.executable, os.path.join(example, 'generate.py'),
                    os.path.join(folder, 'well_logs'), '1'], check=True,
                   stdout=subprocess.DEVNULL)


def environment():
    folders = [os.path.dirname(os.path.abspath(os.environ[tool])) for tool in TOOLS]
    return {**os.environ, 'PATH': ':'.join([*folders, os.environ['PATH']])}


class Commands(unittest.TestCase):
    def check(self, page):
        count = 0
        with tempfile.TemporaryDirectory(dir='.') as folder:
            prepare(folder)
            for line, command in commands(page):
                count += 1
                done = subprocess.run(['bash', '-c', command], cwd=folder, env=environment(),
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
                self.assertEqual(0, done.returncode,
                                 '%s:%d: %s\n%s' % (page, line, command,
                                                    done.stdout[-2000:].decode()))
        self.assertGreater(count, 0)

    def test_the_readme(self):
        self.check(PAGES[0])

    def test_the_reference(self):
        self.check(PAGES[1])

    def test_the_guide(self):
        with tempfile.TemporaryDirectory(dir='.') as folder:
            tried = subprocess.run(['pymemrun', '--quiet', '--trace', 'pages', '-c', 'pass'],
                                   cwd=folder, env=environment(), stderr=subprocess.DEVNULL)
        if tried.returncode == 2:
            self.skipTest('the system lets no one count page faults')
        self.check(PAGES[2])

    def test_the_page_for_those_who_know_per4m(self):
        self.check(PAGES[3])

    def test_a_synopsis_of_each_tool_at_most_is_not_run(self):
        for page in PAGES:
            self.assertLessEqual(markdown_text.read(page).count(NOT_RUN), len(TOOLS), page)


class Scanning(unittest.TestCase):
    def test_the_pages_show_commands_of_each_tool(self):
        shown = ' '.join(command for page in PAGES for _, command in commands(page))
        for tool in ('pymemrun ', 'pymemcat ', 'pymemreport ', 'pymemobj '):
            self.assertIn(tool, shown)


if __name__ == '__main__':
    unittest.main()
