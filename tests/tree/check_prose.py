"""The documentation is easy to read: short sentences, a short README. Comments
and docstrings use plain words.

usage: check_prose.py [FILE...]   lists the long sentences of these pages, and
                                  what is hard to read in these sources
"""
import ast
import io
import os
import re
import sys
import tokenize
import unittest

import markdown_text

MOST_WORDS = 25
README_WORDS = 1350
# Measurements are tables and the notes of whoever made them.
EXEMPT = (os.path.join('bench', 'RESULTS.md'),)

SOURCES = ('.h', '.cc', '.c', '.proto', '.py')
# Phrases that make a comment a riddle: what to write instead.
INSTEAD = {
    'is none': 'what it means: "0 means that no row came before"',
    'but for': '"except", or "without"',
    'that one': 'the noun again',
    'of which': 'a new sentence',
}
PHRASE = re.compile('|'.join(r'\b(?i:%s)%s\b' % (p[0], p[1:]) for p in INSTEAD))
_IN_CPP = re.compile(r'"(?:\\.|[^"\\])*"|//(.*)')


def long_sentences(page):
    found = []
    for block in markdown_text.blocks(markdown_text.read(page)):
        if block.kind in ('code', 'comment'):
            continue
        for sentence in markdown_text.sentences(block.text):
            count = len(markdown_text.words(sentence))
            if count > MOST_WORDS:
                found.append('%s:%d: %d words: %s' % (page, block.line, count, sentence))
    return found


def sources():
    """Paths of our sources, relative to the source tree."""
    found = []
    for where, folders, names in os.walk(markdown_text.SOURCE_DIR):
        folders[:] = [f for f in folders
                      if f not in (*markdown_text.MADE, 'third_party') and f[0] != '.']
        found += [os.path.relpath(os.path.join(where, name), markdown_text.SOURCE_DIR)
                  for name in names if name.endswith(SOURCES)]
    return sorted(found)


def comments(path, text):
    """[(line number, words)] of the comments and docstrings."""
    if not path.endswith('.py'):
        return [(number, found.group(1).strip())
                for number, line in enumerate(text.split('\n'), 1)
                for found in _IN_CPP.finditer(line) if found.group(1) is not None]
    found = [(token.start[0], token.string.lstrip('# '))
             for token in tokenize.generate_tokens(io.StringIO(text).readline)
             if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and (
                ast.get_docstring(node) is not None):
            words = node.body[0].value
            found += [(number, line.strip())
                      for number, line in enumerate(words.value.split('\n'), words.lineno)]
    return sorted(found)


def riddles(path, text):
    """The hard phrases in the comments, also where a line ends within one."""
    found, lines = [], comments(path, text)
    for (number, words), (next_number, next_words) in zip(lines, lines[1:] + [(0, '')]):
        joined = words + ' ' + next_words if next_number == number + 1 else words
        found += ['%s:%d: "%s": write %s' % (path, number, phrase.group(),
                                             INSTEAD[phrase.group().lower()])
                  for phrase in PHRASE.finditer(joined) if phrase.start() < len(words)]
    return found


def complaints(path):
    if path.endswith('.md'):
        return long_sentences(path)
    return riddles(path, markdown_text.read(path))


class Prose(unittest.TestCase):
    maxDiff = None

    def test_no_sentence_is_long(self):
        for page in markdown_text.pages():
            if page not in EXEMPT:
                with self.subTest(page):
                    self.assertEqual([], long_sentences(page))

    def test_the_readme_is_short(self):
        self.assertLessEqual(len(markdown_text.read('README.md').split()), README_WORDS)


    def test_comments_use_plain_words(self):
        paths = sources()
        self.assertIn(os.path.join('format', 'trace.proto'), paths)
        self.assertEqual([], [found for path in paths for found in complaints(path)])


class Comments(unittest.TestCase):
    """The finder itself, likewise."""

    def lines(self, path, text):
        return [int(found.split(':')[1]) for found in riddles(path, text)]

    def test_phrases_in_comments_are_found(self):
        self.assertEqual(['x.h:2: "But for": write "except", or "without"'],
                         riddles('x.h', 'int x;  // a row\n// But for y.\n'))
        self.assertEqual([1, 3], self.lines('x.cc', '// 0: there is none.\n\nf();  // of which\n'))
        self.assertEqual([2], self.lines('x.proto', 'a = 1;\n// Takes that\n// one.\n'))
        self.assertEqual([1, 3], self.lines('x.py', 'x = 1  # that one\ndef f():\n'
                                                    '    """A row, of\n    which."""\n'))

    def test_code_is_no_comment(self):
        self.assertEqual([], riddles('x.cc', 'f("//of which");\n// of\nint x;\n// which\n'))
        self.assertEqual([], riddles('x.py', 'f("# but for")\n# x is None\n'))


class Sentences(unittest.TestCase):
    """The splitter itself: a rule that sees no sentence would hold for all."""

    def split(self, text):
        return [s for b in markdown_text.blocks(text) if b.kind not in ('code', 'comment')
                for s in markdown_text.sentences(b.text)]

    def test_a_paragraph_is_split_at_full_stops(self):
        self.assertEqual(['One of 3.11 is here.', 'Two, e.g. This one, goes on.', 'Three'],
                         self.split('One of 3.11 is\nhere. Two, e.g. This one, goes on.\nThree'))

    def test_items_cells_and_headings_stand_for_themselves(self):
        self.assertEqual(['Title', 'a b', 'first item goes on', 'second', 'cell one', 'cell two'],
                         self.split('# Title\na b\n- first item\n  goes on\n- second\n\n'
                                    '| head | head |\n| --- | --- |\n| cell one | cell two |\n'))

    def test_code_and_comments_are_no_prose(self):
        self.assertEqual(['text', 'more'],
                         self.split('text\n\n    code. Of four\n\n<!-- a\nnote -->\n'
                                    '```\nfenced\n```\nmore\n'))

    def test_a_sentence_may_begin_with_code(self):
        self.assertEqual(['It ends.', 'Code begins.'], self.split('It ends. `pymemcat x.y` begins.'))

    def test_a_link_counts_as_its_text(self):
        self.assertEqual(['See the guide.'], self.split('See [the guide](docs/guide.md#a-b).'))

    def test_too_long_is_found(self):
        text = ' '.join(['word'] * (MOST_WORDS + 1)) + '. Short.'
        self.assertEqual(MOST_WORDS + 1, len(markdown_text.words(self.split(text)[0])))


if __name__ == '__main__':
    if len(sys.argv) > 1 and sys.argv[1].endswith(('.md', *SOURCES)):
        sys.exit('\n'.join(c for path in sys.argv[1:] for c in complaints(path)) or 0)
    unittest.main()
