"""The options in each tool's --help are those in README.md, and none is written
of anywhere in the documentation that no tool has.

The options of a tool stand in README.md under a heading "### Options of `tool`"
in tables whose rows begin with the option: | `-o, --output PATH` | meaning |.
"""
import glob
import os
import re
import subprocess
import unittest

SOURCE_DIR = os.environ.get('PYMEMRUN_SOURCE_DIR',
                            os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
# Tool as headed in README.md: (variable that holds its path, subcommands).
TOOLS = {
    'pymemrun': ('PYMEMRUN_BIN', ()),
    'pymemcat': ('PYMEMCAT_BIN', ()),
    'pymemreport': ('PYMEMREPORT_BIN', ('summary', 'top', 'resident', 'timeline', 'heap', 'history',
                                           'snapshot', 'stats', 'flame', 'export')),
}
# Long options in the documentation that belong to other programs.
FOREIGN = {
    '--full', '--asan',                                   # scripts/
    '--install', '--build', '--preset', '--prefix', '--target',  # cmake, ctest
    '--dynamic-list', '--whole-archive',                  # the linker
    '--python_out', '--decode',                           # protoc
}
OPTION = re.compile(r'(?<![\w-])--[a-z][a-z0-9_-]*')


def help_of(path, *subcommand):
    done = subprocess.run([path, *subcommand, '--help'], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, (path, subcommand, done)
    return done.stdout


def options_in_help(tool):
    variable, subcommands = TOOLS[tool]
    text = help_of(os.environ[variable])
    for subcommand in subcommands:
        text += help_of(os.environ[variable], subcommand)
    return set(OPTION.findall(text))


def options_in_readme(text, tool):
    """The long options that the tables of the tool's section define."""
    section = re.search(r'^### Options of `%s`\n(.*?)(?=^##|\Z)' % tool, text, re.M | re.S)
    assert section, 'README.md has no section "### Options of `%s`"' % tool
    options = set()
    for first_cell in re.findall(r'^\|([^|]*(?:\\\|[^|]*)*)\|', section.group(1), re.M):
        options.update(OPTION.findall(first_cell))
    return options


class Documentation(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.help = {tool: options_in_help(tool) for tool in TOOLS}
        with open(os.path.join(SOURCE_DIR, 'README.md'), encoding='utf-8') as f:
            cls.readme = f.read()

    def test_the_tables_are_what_help_says(self):
        for tool in TOOLS:
            with self.subTest(tool):
                self.assertEqual(sorted(self.help[tool]),
                                 sorted(options_in_readme(self.readme, tool)))

    def test_no_text_names_an_option_that_no_tool_has(self):
        known = FOREIGN.union(*self.help.values())
        for path in [os.path.join(SOURCE_DIR, 'README.md'),
                     *glob.glob(os.path.join(SOURCE_DIR, 'docs', '*.md'))]:
            with open(path, encoding='utf-8') as f:
                self.assertEqual([], sorted(set(OPTION.findall(f.read())) - known), path)

    def test_each_tool_tells_its_version(self):
        for tool in TOOLS:
            out = subprocess.run([os.environ[TOOLS[tool][0]], '--version'],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertRegex(out, r'^%s \d+\.\d+' % tool)


    def test_what_cannot_be_printed_is_a_failure(self):
        for tool, (variable, subcommands) in TOOLS.items():
            for words in (['--help'], ['--version'], *([c, '--help'] for c in subcommands)):
                with open('/dev/full', 'w') as full:
                    done = subprocess.run([os.environ[variable], *words], stdout=full,
                                          stderr=subprocess.PIPE, text=True)
                self.assertEqual(1, done.returncode, (tool, words))
                self.assertRegex(done.stderr, r'\A%s: standard output: .*No space left on '
                                              r'device\n\Z' % tool)


class Links(unittest.TestCase):
    def test_they_lead_somewhere(self):
        for path in glob.glob(os.path.join(SOURCE_DIR, '**', '*.md'), recursive=True):
            if os.path.relpath(path, SOURCE_DIR).split(os.sep)[0] in ('build', 'out'):
                continue
            with open(path, encoding='utf-8') as f:
                for target in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', f.read()):
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), target)),
                                    '%s: %s' % (path, target))


if __name__ == '__main__':
    unittest.main()
