"""Markdown as the tests of the documentation see it: prose, links, code blocks.

Knows what our pages use: ATX headings, paragraphs, lists, tables with one header
row, code blocks fenced or indented, HTML comments.
"""
import collections
import glob
import os
import re

SOURCE_DIR = os.environ.get('PYMEMRUN_SOURCE_DIR',
                            os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                         '..', '..'))
# Folders that hold what was built or made, not sources.
MADE = ('build', 'out')

# kind: 'heading', 'text' (a paragraph or a list item), 'cell', 'code' or 'comment'.
Block = collections.namedtuple('Block', 'kind line text')

_FENCE = re.compile(r'\s*(```|~~~)')
_ITEM = re.compile(r'(\s*)([-*+]|\d+[.)])\s+')
_DELIMITER_ROW = re.compile(r'\s*\|[\s:|-]+\|\s*$')
_CELL_BORDER = re.compile(r'(?<!\\)\|')


def pages():
    """Paths of all Markdown files, relative to the source tree."""
    found = glob.glob(os.path.join(SOURCE_DIR, '**', '*.md'), recursive=True)
    relative = sorted(os.path.relpath(path, SOURCE_DIR) for path in found)
    return [path for path in relative if path.split(os.sep)[0] not in MADE]


def read(page):
    with open(os.path.join(SOURCE_DIR, page), encoding='utf-8') as f:
        return f.read()


def blocks(text):
    """The page's blocks, in order."""
    lines = text.split('\n')
    found, pending, start = [], [], 0
    in_list = False

    def end_text():
        if pending:
            found.append(Block('text', start, ' '.join(pending)))
            pending.clear()

    at = 0
    while at < len(lines):
        line = lines[at]
        indent = len(line) - len(line.lstrip())
        item = _ITEM.match(line)
        if line.lstrip().startswith('<!--'):
            end_text()
            begin = at
            while '-->' not in lines[at]:
                at += 1
            found.append(Block('comment', begin + 1, '\n'.join(lines[begin:at + 1])))
        elif _FENCE.match(line):
            end_text()
            begin, fence = at, _FENCE.match(line).group(1)
            at += 1
            while at < len(lines) and not lines[at].lstrip().startswith(fence):
                at += 1
            found.append(Block('code', begin + 1, '\n'.join(lines[begin + 1:at])))
        elif not line.strip():
            end_text()
        elif not pending and not item and indent >= (6 if in_list else 4):
            begin = at
            while at < len(lines) and (not lines[at].strip() or
                                       len(lines[at]) - len(lines[at].lstrip()) >= indent):
                at += 1
            code = [l[indent:] for l in lines[begin:at]]
            found.append(Block('code', begin + 1, '\n'.join(code).rstrip()))
            continue
        elif line.startswith('#'):
            end_text()
            in_list = False
            found.append(Block('heading', at + 1, line.lstrip('#').strip()))
        elif line.lstrip().startswith('|'):
            end_text()
            is_header = at + 1 < len(lines) and _DELIMITER_ROW.match(lines[at + 1])
            if not is_header and not _DELIMITER_ROW.match(line):
                for cell in _CELL_BORDER.split(line.strip().strip('|')):
                    found.append(Block('cell', at + 1, cell.strip()))
        else:
            if item:
                end_text()
                in_list = True
                line = line[item.end():]
            elif not pending and indent == 0:
                in_list = False
            if not pending:
                start = at + 1
            pending.append(line.strip())
        at += 1
    end_text()
    return found


def plain(text):
    """The text without markup. A piece of code counts as one word."""
    text = re.sub(r'(`+).+?\1', 'Code', text)
    text = re.sub(r'<!--.*?-->', ' ', text)
    text = re.sub(r'!?\[([^]]*)\]\([^)]*\)', r'\1', text)
    text = re.sub(r'</?\w+[^>]*>', ' ', text)
    return text.replace('**', '').replace('*', '')


# A full stop after these ends no sentence.
_SHORT = re.compile(r'\b(?:e\.g|i\.e|etc|vs|cf|approx)\.$')


def sentences(text):
    """The sentences of a block's text, without markup."""
    found, begin = [], 0
    text = ' '.join(plain(text).split())
    for end in re.finditer(r'[.!?…][)"”’]*(?=\s+["“(\[]?[A-Z0-9…])', text):
        sentence = text[begin:end.end()]
        if not _SHORT.search(sentence):
            found.append(sentence.strip())
            begin = end.end()
    found.append(text[begin:].strip())
    return [sentence for sentence in found if sentence]


def words(sentence):
    return [word for word in sentence.split() if re.search(r'\w', word)]


def anchors(text):
    """The anchors of the page's headings, as GitHub makes them."""
    found = set()
    for block in blocks(text):
        if block.kind == 'heading':
            name = re.sub(r'!?\[([^]]*)\]\([^)]*\)', r'\1', block.text).lower()
            name = re.sub(r'[^\w\- ]', '', name).replace(' ', '-')
            anchor, number = name, 0
            while anchor in found:
                number += 1
                anchor = '%s-%d' % (name, number)
            found.add(anchor)
    return found


def links(text):
    """Targets of the page's links and pictures, outside of code."""
    for block in blocks(text):
        if block.kind not in ('code', 'comment'):
            prose = re.sub(r'(`+).+?\1', 'Code', block.text)
            yield from re.findall(r'\]\(([^)\s]+)\)', prose)
            yield from re.findall(r'(?:src|srcset|href)="([^"\s]+)"', prose)
