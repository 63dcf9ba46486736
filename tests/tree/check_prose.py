"""The documentation is easy to read: short sentences, a short README.

usage: check_prose.py [PAGE...]   lists the long sentences of these pages
"""
import os
import sys
import unittest

import markdown_text

MOST_WORDS = 25
README_WORDS = 1350
# Measurements are tables and the notes of whoever made them.
EXEMPT = (os.path.join('bench', 'RESULTS.md'),)


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


class Prose(unittest.TestCase):
    maxDiff = None

    def test_no_sentence_is_long(self):
        for page in markdown_text.pages():
            if page not in EXEMPT:
                with self.subTest(page):
                    self.assertEqual([], long_sentences(page))

    def test_the_readme_is_short(self):
        self.assertLessEqual(len(markdown_text.read('README.md').split()), README_WORDS)


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
    if len(sys.argv) > 1 and sys.argv[1].endswith('.md'):
        sys.exit('\n'.join(s for page in sys.argv[1:] for s in long_sentences(page)) or 0)
    unittest.main()
