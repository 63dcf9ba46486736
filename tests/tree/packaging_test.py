"""The package that cpack makes holds the tools, runs from where it is unpacked,
and says what it needs.

--install also installs and removes it (as root, when it is not there already).
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

import markdown_text

# An installed pymemrun refuses those that are for tests.
for variable in [name for name in os.environ
                 if name == 'PYMEMRUN_COLLECTOR' or name.startswith('PYMEMRUN_TEST_')]:
    del os.environ[variable]
BUILD_DIR = os.environ.get('PYMEMRUN_BUILD_DIR', '.')
INSTALL = '--install' in sys.argv
FILES = (
    'usr/bin/pymemrun',
    'usr/bin/pymemcat',
    'usr/bin/pymemreport',
    'usr/bin/pymemobj',
    'usr/libexec/pymemrun/pymemrun-collector',
    *('usr/share/pymemrun/%s.proto' % name
      for name in ('trace', 'calls', 'heap', 'objects', 'pages')),
    'usr/share/pymemrun/FORMAT.md',
    'usr/share/doc/pymemrun/README.md',
    'usr/share/doc/pymemrun/CHANGELOG.md',
    'usr/share/doc/pymemrun/copyright',
    'usr/share/doc/pymemrun/docs/cli.md',
    'usr/share/doc/pymemrun/docs/design.md',
    'usr/share/doc/pymemrun/docs/design/rings.md',
    'usr/share/doc/pymemrun/docs/pictures/timeline.svg',
    *(name % tool for tool in ('pymemrun', 'pymemcat', 'pymemreport', 'pymemobj') for name in (
        'usr/share/man/man1/%s.1', 'usr/share/bash-completion/completions/%s',
        'usr/share/zsh/vendor-completions/_%s', 'usr/share/fish/vendor_completions.d/%s.fish')),
    'usr/lib/pymemrun/pymemrun-preload.so',
    'usr/lib/pymemrun/pymemrun-tracer-3.11.so',
    'usr/lib/python3/dist-packages/pymemrun/__init__.py',
    'usr/lib/python3/dist-packages/pymemrun/__main__.py',
    *('usr/lib/python3/dist-packages/pymemrun/jupyter/%s.py' % name
      for name in ('__init__', 'answer', 'cell_names', 'child_cell', 'kernel_spec', 'magic',
                   'tools', 'traced_cell')),
    'usr/lib/python3/dist-packages/pymemrun_reader/__init__.py',
    'usr/lib/python3/dist-packages/pymemrun_reader/_reader.pyi',
    'usr/lib/python3/dist-packages/pymemrun_reader/py.typed',
    'usr/lib/python3/dist-packages/pymemrun_reader/_reader.cpython-311-x86_64-linux-gnu.so',
)


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          **options).stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run('cpack', '-G', 'DEB', '--config', os.path.join(BUILD_DIR, 'CPackConfig.cmake'),
            '-B', os.path.abspath('cpack'))
        cls.package, = glob.glob('cpack/*.deb')
        run('dpkg-deb', '-x', cls.package, 'unpacked')
        cls.root = os.path.abspath('unpacked')

    def field(self, name):
        return run('dpkg-deb', '-f', self.package, name).strip()

    def check_tools(self, folder):
        """Traces a program with the tools in `folder`, reads the run file."""
        if os.path.exists('run.pb'):
            os.remove('run.pb')
        traced = run(folder + '/pymemrun', '--min-drss', '0', '-c', 'print(1)',
                     stderr=subprocess.DEVNULL)
        self.assertEqual('1\n', traced)
        rows = run(folder + '/pymemcat', '--text', '--no-header', 'run.pb').splitlines()
        self.assertEqual(4, len(rows), rows)  # CALL, C_CALL, C_RETURN, RETURN
        self.assertIn('1', run(folder + '/pymemreport', 'summary', 'run.pb'))
        read = 'import pymemrun_reader as r; print(len(list(r.open("run.pb").events("calls"))))'
        modules = folder + '/../lib/python3/dist-packages'
        self.assertEqual('4\n', run('/usr/bin/python3', '-c', read,
                                    env={**os.environ, 'PYTHONPATH': modules}))

    def test_its_name_is_debians(self):
        arch = run('dpkg', '--print-architecture').strip()
        self.assertRegex(os.path.basename(self.package), r'^pymemrun_[0-9.]+_%s\.deb$' % arch)

    def test_it_holds_the_tools_and_the_schema(self):
        for name in FILES:
            self.assertTrue(os.path.exists(os.path.join(self.root, name)), name)

    def test_links_in_its_documents_lead_to_files_in_it(self):
        links = 0
        for path in glob.glob(self.root + '/**/*.md', recursive=True):
            with open(path, encoding='utf-8') as file:
                for target in markdown_text.links(file.read()):
                    target = target.partition('#')[0]
                    if target and not re.match(r'[a-z]+:', target):
                        links += 1
                        found = os.path.join(os.path.dirname(path), target)
                        self.assertTrue(os.path.exists(found), '%s: %s' % (path, target))
        self.assertGreater(links, 40)

    def test_it_holds_nothing_else_that_runs(self):
        programs = sorted(
            os.path.relpath(os.path.join(where, name), self.root)
            for where, _, names in os.walk(self.root) for name in names
            if os.access(os.path.join(where, name), os.X_OK))
        self.assertEqual(sorted(FILES[:5]), programs)

    def test_it_depends_on_the_standard_library_and_on_libc(self):
        depends = self.field('Depends')
        for package in ('libpython3.11-stdlib', 'python3.11-minimal', 'libc6'):
            self.assertIn(package, depends)
        # The interpreter itself is inside: a shared one would be slower.
        self.assertNotRegex(depends, r'libpython3\.11(,| |$)')

    def test_it_runs_from_where_it_is_unpacked(self):
        self.check_tools(self.root + '/usr/bin')

    def test_variables_for_tests_are_refused(self):
        tool = self.root + '/usr/bin/pymemrun'
        ran = os.path.abspath('ran')
        with open('collector', 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\ntouch ' + ran + '\n')
        os.chmod('collector', 0o755)
        for name, value in (('PYMEMRUN_COLLECTOR', os.path.abspath('collector')),
                            ('PYMEMRUN_TEST_SYS_EXECUTABLE', 'launcher'),
                            ('PYMEMRUN_TEST_ANYTHING', '1')):
            found = subprocess.run([tool, '-o', 'refused.pb', '-c', 'print(1)'],
                                   env={**os.environ, name: value}, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((2, ''), (found.returncode, found.stdout), name)
            self.assertRegex(found.stderr, r'^pymemrun: %s is .*\n$' % name)
        self.assertFalse(os.path.exists(ran))
        self.assertFalse(os.path.exists('refused.pb'))

    @unittest.skipUnless(INSTALL, 'changes the machine: only with --install')
    def test_it_installs_and_leaves_nothing_behind(self):
        self.assertIsNone(shutil.which('pymemrun', path='/usr/bin'), 'installed already')
        run('dpkg', '-i', self.package)
        try:
            self.check_tools('/usr/bin')
        finally:
            run('dpkg', '--purge', 'pymemrun')
        for name in FILES:
            self.assertFalse(os.path.exists('/' + name), name)


if __name__ == '__main__':
    unittest.main(argv=[a for a in sys.argv if a != '--install'])
