"""The tables of docs/cli.md are as docs/make_cli makes them from each tool's help, and no
option is written of anywhere in the documentation that no tool has.
"""
import os
import re
import subprocess
import sys
import unittest

import markdown_text

sys.path.insert(0, os.path.join(markdown_text.SOURCE_DIR, 'docs'))
sys.dont_write_bytecode = True

from manual import help_pages  # noqa: E402

MAKE_CLI = os.path.join(markdown_text.SOURCE_DIR, 'docs', 'make_cli')
# Tool as headed in docs/cli.md: the variable that holds its path.
TOOLS = {'pymemrun': 'PYMEMRUN_BIN', 'pymemcat': 'PYMEMCAT_BIN', 'pymemreport': 'PYMEMREPORT_BIN',
         'pymemobj': 'PYMEMOBJ_BIN'}
# Long options in the documentation that belong to other programs.
FOREIGN = {
    '--full', '--asan',                                   # scripts/
    '--install', '--build', '--preset', '--prefix', '--target',  # cmake, ctest
    '--dynamic-list', '--whole-archive',                  # the linker
    '--python_out', '--decode',                           # protoc
    '--trace-python-allocators', '--aggregate',           # memray
    '--countname',                                        # flamegraph.pl
    '--state-detect', '--no-gil-detect', '--import', '--running', '--no-running', '--sleeping',
    '--no-sleeping', '--only-lock', '--as-async', '--all-tracepoints', '--state', '--input-perf',
    '--no-strip-take-gil', '--keep-cpython-evals', '--input-viztracer', '--allow-mismatch',
    '--pedantic', '--combine',                            # per4m
    '--process_rebase', '--peak_delta_time', '--peak_delta_value', '--time_from', '--time_to',
    '--no_process', '--cap', '--sample', '--mode',                                 # ThreadGraph, heapprof
}
# Of the magic %%pymemrun, whose help IPython shows.
MAGIC = {'--no-svg', '--gil', '--states', '--tasks'}
OPTION = re.compile(r'(?<![\w-])--[a-z][a-z0-9_-]*')


def help_of(tool, *words):
    done = subprocess.run([os.environ[TOOLS[tool]], *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, (tool, words, done)
    return done.stdout


def commands_of(tool):
    return help_pages.command_names(os.environ[TOOLS[tool]])


def options_in_help(tool):
    """Those that it takes. The texts name options of pymemrun, too."""
    commands = [[command] for command in commands_of(tool)]
    rows = [row.name for words in commands or [[]]
            for row in help_pages.rows(help_of(tool, *words, '--help-all'))]
    return set(OPTION.findall(' '.join(rows))) | {'--version'}


def kernel_options():
    """Those of `pymemrun kernel`, whose program needs no tool."""
    program = os.path.join(markdown_text.SOURCE_DIR, 'launcher', 'package', 'pymemrun',
                           'jupyter', 'kernel_spec.py')
    return set(OPTION.findall(''.join(
        subprocess.run([sys.executable, program, 'pymemrun', command, '--help'],
                       stdout=subprocess.PIPE, text=True, check=True).stdout
        for command in ('install', 'remove'))))


class Documentation(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.help = {tool: options_in_help(tool) for tool in TOOLS}
        cls.page = markdown_text.read(os.path.join('docs', 'cli.md'))

    def test_the_tables_are_what_help_says(self):
        done = subprocess.run([sys.executable, MAKE_CLI, 'build', '--check'],
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual((0, ''), (done.returncode, done.stderr),
                         'docs/make_cli build/release writes them')

    def test_the_page_has_a_table_of_each_kind_that_a_tool_has(self):
        for tool in TOOLS:
            marks = ['options', *(['commands', 'names'] if commands_of(tool) else [])]
            for what in marks:
                self.assertIn('<!-- docs/make_cli: %s of %s\n' % (what, tool), self.page)

    def test_no_text_names_an_option_that_no_tool_has(self):
        known = FOREIGN.union(MAGIC, kernel_options(), *self.help.values())
        for page in markdown_text.pages():
            if page.split(os.sep)[0] in ('README.md', 'docs'):
                named = set(OPTION.findall(markdown_text.read(page)))
                self.assertEqual([], sorted(named - known), page)

    def test_the_page_has_the_options_of_kernels(self):
        section = self.page.partition('### Kernels of Jupyter\n')[2].partition('\n### ')[0]
        named = set(OPTION.findall(section))
        self.assertEqual([], sorted(kernel_options() - {'--help', '--full'} - named))

    def test_each_tool_tells_its_version(self):
        for tool in TOOLS:
            out = subprocess.run([os.environ[TOOLS[tool]], '--version'],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertRegex(out, r'^%s \d+\.\d+' % tool)

    def test_what_cannot_be_printed_is_a_failure(self):
        for tool, variable in TOOLS.items():
            commands = [[command, '--help'] for command in commands_of(tool)]
            for words in (['--help'], ['--help-all'], ['--version'], *commands):
                with open('/dev/full', 'w') as full:
                    done = subprocess.run([os.environ[variable], *words], stdout=full,
                                          stderr=subprocess.PIPE, text=True)
                self.assertEqual(1, done.returncode, (tool, words))
                self.assertRegex(done.stderr, r'\A%s: standard output: .*No space left on '
                                              r'device\n\Z' % tool)


class Links(unittest.TestCase):
    def test_they_lead_somewhere(self):
        for page in markdown_text.pages():
            for target in markdown_text.links(markdown_text.read(page)):
                if re.match(r'[a-z]+:', target):
                    continue
                path, _, anchor = target.partition('#')
                found = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                self.assertTrue(os.path.exists(os.path.join(markdown_text.SOURCE_DIR, found)),
                                '%s: %s' % (page, target))
                if anchor:
                    self.assertIn(anchor, markdown_text.anchors(markdown_text.read(found)),
                                  '%s: %s' % (page, target))

class Pictures(unittest.TestCase):
    def test_they_are_small_and_for_light_and_dark_pages(self):
        folder = os.path.join(markdown_text.SOURCE_DIR, 'docs', 'pictures')
        names = [name for name in sorted(os.listdir(folder)) if name.endswith('.svg')]
        self.assertEqual(['flame.svg', 'parts.svg', 'timeline.svg'], names)
        for name in names:
            with open(os.path.join(folder, name), encoding='utf-8') as file:
                text = file.read()
            self.assertLess(len(text), 150_000, name)
            self.assertIn('prefers-color-scheme:dark', text, name)
            # Neither a script nor a path of the machine that made it.
            self.assertNotRegex(text, r'<script|>[^<]*/(tmp|usr|home|root)/', name)

    def test_the_one_that_is_drawn_is_as_its_script_draws_it(self):
        folder = os.path.join(markdown_text.SOURCE_DIR, 'docs', 'pictures')
        code = 'import parts_picture; parts_picture.draw().save("/dev/stdout")'
        drawn = subprocess.run([sys.executable, '-B', '-c', code], check=True, text=True,
                               stdout=subprocess.PIPE,
                               env={**os.environ, 'PYTHONPATH': folder}).stdout
        self.assertEqual(markdown_text.read('docs/pictures/parts.svg'), drawn)


if __name__ == '__main__':
    unittest.main()
