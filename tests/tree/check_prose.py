"""The documentation is easy to read: short sentences, plain words, a short README.
Comments and docstrings use plain words.

usage: check_prose.py [FILE...]   lists the long sentences of these pages, and
                                  what is hard to read in them and in these sources
"""
import ast
import collections
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
_IN_CPP = re.compile(r'"((?:\\.|[^"\\])*)"|//(.*)')
# Words that made readers of English pause: refused in Markdown, counted in sources.
PAUSES = {
    r'nobody': '"no thread", "it is unknown"',
    r'meanwhile': '"during that time", "at that moment"',
    r'told of': '"recorded", "reported"',
    r'(?:the|its|their|each|\w+\'s) begin(?= *[^\w ]| (?:of|and|or|on|to the)\b)': '"the start"',
    r'each (?:some )?\d[\d,.]* (?:[mu]?s|min)': '"every 100 ms"',
    r'found no room': '"did not fit"',
    r'of (?:yours|ours)': '"your", "our"',
    r'so (?:much|many)(?! \w+ that)': 'the amount',
    r'lies?': '"is", "is in"',
    r'g[ai]v(?:es?|ing|en) back': '"released"',
    r'went back': '"was released"',
    r'time and again': '"repeatedly"',
    **{re.escape(phrase): advice for phrase, advice in INSTEAD.items()},
}
PAUSE = re.compile(r'\b(?:%s)\b' % '|'.join('(%s)' % words for words in PAUSES), re.I)
# Pages that programs write, the format's contract and the history.
COUNTED = ('CHANGELOG.md', os.path.join('docs', 'tables.md'), os.path.join('format', 'FORMAT.md'))
_MADE = re.compile(r'<!-- docs/make_cli:.*?<!-- end -->', re.S)


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


def pauses(text):
    """[(words, advice)] of what makes readers pause in a sentence."""
    advice = list(PAUSES.values())
    found = [(words.group(), advice[words.lastindex - 1]) for words in PAUSE.finditer(text)]
    return found + [('Of', 'the subject first')] * text.startswith('Of ')


def page_pauses(page):
    text = _MADE.sub(lambda made: '\n' * made.group().count('\n'), markdown_text.read(page))
    return ['%s:%d: "%s": write %s' % (page, block.line, words, advice)
            for block in markdown_text.blocks(text) if block.kind not in ('code', 'comment')
            for sentence in markdown_text.sentences(block.text)
            for words, advice in pauses(sentence)]


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
        return [(number, found.group(2).strip())
                for number, line in enumerate(text.split('\n'), 1)
                for found in _IN_CPP.finditer(line) if found.group(2) is not None]
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


def source_pauses(path, text):
    """The same in the comments and, in C++, in the words for users."""
    lines = comments(path, text)
    if not path.endswith('.py'):
        lines += [(number, found.group(1)) for number, line in enumerate(text.split('\n'), 1)
                  for found in _IN_CPP.finditer(line) if found.group(1) is not None]
    return ['%s:%d: "%s": write %s' % (path, number, words, advice)
            for number, line in sorted(lines) for words, advice in pauses(line)]


def complaints(path):
    if path.endswith('.md'):
        return long_sentences(path) + page_pauses(path)
    text = markdown_text.read(path)
    return riddles(path, text) + source_pauses(path, text)


class Prose(unittest.TestCase):
    maxDiff = None

    def test_no_sentence_is_long(self):
        for page in markdown_text.pages():
            if page not in EXEMPT:
                with self.subTest(page):
                    self.assertEqual([], long_sentences(page))

    def test_pages_use_plain_words(self):
        for page in markdown_text.pages():
            if page not in COUNTED:
                with self.subTest(page):
                    self.assertEqual([], page_pauses(page))

    def test_the_readme_is_asked_about(self):
        words = len(markdown_text.read('README.md').split())
        if words > README_WORDS:
            print('README.md: %d words: what of it do newcomers not need?' % words)

    def test_what_is_left_in_sources_is_counted(self):
        found = [words for path in sources() if not path.startswith('tests')
                 for words in source_pauses(path, markdown_text.read(path))]
        counts = collections.Counter(words.split('"')[1].lower() for words in found)
        print('Words in comments and messages that make readers pause: %d.' % len(found),
              ', '.join('%d "%s"' % (count, words) for words, count in counts.most_common(20)))

    def test_comments_use_plain_words(self):
        paths = sources()
        self.assertIn(os.path.join('format', 'trace.proto'), paths)
        self.assertEqual([], [found for path in paths
                              for found in riddles(path, markdown_text.read(path))])


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


class Pauses(unittest.TestCase):
    def words(self, text):
        return [words for words, _ in pauses(text)]

    def test_words_are_found(self):
        self.assertEqual(['nobody', 'meanwhile', 'lies'],
                         self.words('What nobody sees meanwhile lies there.'))
        self.assertEqual(['the begin', 'each 100 ms'],
                         self.words('From the begin on it reads each 100 ms.'))
        self.assertEqual(['gave back', 'Of'], self.words('Of these it gave back two.'))

    def test_good_uses_are_left(self):
        self.assertEqual([], self.words('So many rows that the begin column begins each of 3 runs.'))

    def test_words_in_messages_count(self):
        self.assertEqual(['x.cc:1: "Nobody": write "no thread", "it is unknown"'],
                         source_pauses('x.cc', 'Print("Nobody waits.");'))


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
