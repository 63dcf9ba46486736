"""Manual pages and shell completions that docs/make_man makes: well-formed, and
with every option of each tool."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_docs
import markdown_text

MAKE_MAN = os.path.join(markdown_text.SOURCE_DIR, 'docs', 'make_man')
SHELLS = (('bash', 'bash/%s'), ('zsh', 'zsh/_%s'), ('fish', 'fish/%s.fish'))


def made(name):
    with open(os.path.join('made', name), encoding='utf-8') as file:
        return file.read()


def complaints(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    return done.stderr or ('' if done.returncode == 0 else 'exit status %d' % done.returncode)


def completed(tool, *words):
    """What bash offers for the last word of `tool words...`."""
    script = ('source made/bash/%s; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _%s; '
              'printf "%%s\\n" "${COMPREPLY[@]}"' % (tool, tool))
    return subprocess.run(['bash', '-c', script, 'bash', tool, *words], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()


class Manual(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        subprocess.run([sys.executable, MAKE_MAN, 'made', '1.2.3'], check=True)
        cls.help = {tool: check_docs.options_in_help(tool) for tool in check_docs.TOOLS}

    @unittest.skipUnless(shutil.which('groff'), 'no groff')
    def test_groff_says_nothing(self):
        for tool in check_docs.TOOLS:
            self.assertEqual('', complaints('groff', '-k', '-man', '-ww', '-Tutf8',
                                            'made/man/%s.1' % tool))

    @unittest.skipUnless(shutil.which('man'), 'no man')
    def test_man_says_nothing(self):
        for tool in check_docs.TOOLS:
            self.assertEqual('', complaints('man', '--warnings', '-l', 'made/man/%s.1' % tool))

    def test_each_option_is_in_the_page(self):
        for tool, options in self.help.items():
            terms = re.findall(r'^\.TP\n(\\fB\\-.*)$', made('man/%s.1' % tool), re.M)
            found = set(check_docs.OPTION.findall(' '.join(terms).replace('\\', '')
                                                  .replace('fB', ' ').replace('fP', ' ')))
            self.assertEqual(sorted(options), sorted(found), tool)

    def test_the_page_has_what_manual_pages_have(self):
        for tool in check_docs.TOOLS:
            page = made('man/%s.1' % tool)
            for title in ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXIT STATUS', 'SEE ALSO'):
                self.assertIn('\n.SH %s\n' % title, page, tool)
            self.assertIn('"pymemrun 1.2.3"', page)
            self.assertNotIn('](', page)

    def test_shells_can_read_their_completions(self):
        for shell, name in SHELLS:
            for tool in check_docs.TOOLS:
                if shutil.which(shell):
                    self.assertEqual('', complaints(shell, '-n', 'made/' + name % tool))

    def test_each_option_is_completed(self):
        for tool, options in self.help.items():
            for shell, name in SHELLS:
                text = made(name % tool)
                if shell == 'fish':
                    text = re.sub(r' -l ', ' --', text)
                found = set(check_docs.OPTION.findall(text))
                self.assertEqual([], sorted(options - found), (shell, tool))

    def test_bash_completes_options_values_commands_and_files(self):
        self.assertEqual(['--min-drss'], completed('pymemrun', '--min-d'))
        self.assertEqual(['sampled', 'stats'], completed('pymemrun', '--heap', 's'))
        self.assertEqual(['heap'], completed('pymemreport', 'hea'))
        self.assertEqual(['--leaks', '--limit'], sorted(completed('pymemreport', 'heap', '--l')))
        self.assertEqual([], completed('pymemreport', 'top', '--leak'))
        self.assertEqual(['made'], completed('pymemcat', 'mad'))


if __name__ == '__main__':
    unittest.main()
