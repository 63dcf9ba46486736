"""The options in each tool's help are those in docs/cli.md, and none is written
of anywhere in the documentation that no tool has.

The options of a tool stand in docs/cli.md under a heading "### Options of `tool`"
in tables whose rows begin with the option: | `-o, --output PATH` | meaning |.
"""
import os
import re
import subprocess
import sys
import unittest

import markdown_text

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
    """The commands that the tool's --help lists."""
    listed = help_of(tool, '--help').partition('\nCommands:\n')[2]
    others = re.search(r'^Others: (.*?)\.$', listed, re.M | re.S)
    return re.findall(r'^  ([a-z]+)  ', listed, re.M) + (
        re.split(r',\s+', others.group(1)) if others else [])


def options_in_help(tool):
    text = help_of(tool, '--help-all')
    for command in commands_of(tool):
        text += help_of(tool, command, '--help-all')
    return set(OPTION.findall(text))


def kernel_options():
    """Those of `pymemrun kernel`, whose program needs no tool."""
    program = os.path.join(markdown_text.SOURCE_DIR, 'launcher', 'package', 'pymemrun',
                           'jupyter', 'kernel_spec.py')
    return set(OPTION.findall(''.join(
        subprocess.run([sys.executable, program, 'pymemrun', command, '--help'],
                       stdout=subprocess.PIPE, text=True, check=True).stdout
        for command in ('install', 'remove'))))


def options_in_page(text, tool):
    """The long options that the tables of the tool's section define."""
    section = re.search(r'^### Options of `%s`\n(.*?)(?=^##|\Z)' % tool, text, re.M | re.S)
    assert section, 'docs/cli.md has no section "### Options of `%s`"' % tool
    options = set()
    for first_cell in re.findall(r'^\|([^|\\]*(?:\\.[^|\\]*)*)\|', section.group(1), re.M):
        options.update(OPTION.findall(first_cell))
    return options


class Documentation(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.help = {tool: options_in_help(tool) for tool in TOOLS}
        cls.page = markdown_text.read(os.path.join('docs', 'cli.md'))

    def test_the_tables_are_what_help_says(self):
        for tool in TOOLS:
            with self.subTest(tool):
                self.assertEqual(sorted(self.help[tool]),
                                 sorted(options_in_page(self.page, tool)))

    def test_the_page_names_every_command(self):
        commands = commands_of('pymemreport')
        for known in 'summary', 'processes', 'export':
            self.assertIn(known, commands)
        for command in commands:
            self.assertRegex(self.page, r'(?m)^\| `%s ' % command)

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
